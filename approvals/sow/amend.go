package sow

import (
	"bytes"

	"vault/approvals/sow/span"
)

// CheckAmendment checks a proposed version against the version in force (5.8):
// one above it, same identifier, parties and start; otherOpen says that
// another proposal of the engagement is open. It does not validate the
// document itself.
func CheckAmendment(inForce, proposed *Document, otherOpen bool) Findings {
	c := &checker{}
	c.need(proposed.Version() == inForce.Version()+1, "amendment_version_not_next", "version")
	c.need(proposed.ID() == inForce.ID(), "amendment_id_changed", "id")
	same := func(name string) bool {
		return bytes.Equal(inForce.v.Get(name).Canonical(), proposed.v.Get(name).Canonical())
	}
	c.need(same("parties"), "amendment_parties_changed", "parties")
	c.need(same("starts_at"), "amendment_starts_at_changed", "starts_at")
	c.need(!otherOpen, "amendment_already_open", "")
	return c.found
}

// CheckVersion judges a document that arrives for an engagement of which other
// versions are held: version_downgrade below the highest countersigned version
// (section 10), version_conflict for other bytes under a version that is held.
func CheckVersion(d *Document, highest int64, held *Document) *Finding {
	if d.Version() < highest {
		return one("version_downgrade", "version")
	}
	if held != nil && held.ID() == d.ID() && held.Version() == d.Version() && held.Digest() != d.Digest() {
		return one("version_conflict", "version")
	}
	return nil
}

// CheckCountersign refuses, with amendment_bytes_differ, to countersign other
// bytes than were proposed (5.8).
func CheckCountersign(proposed, signing *Document) *Finding {
	if proposed.Digest() != signing.Digest() {
		return one("amendment_bytes_differ", "")
	}
	return nil
}

// ReviewEnds returns the instant at which an amendment proposed at an instant
// lapses under the version in force (5.8), milliseconds, and false if the
// window cannot be read.
func ReviewEnds(inForce *Document, proposedAt int64) (int64, bool) {
	days, ok := posint(inForce.v.Get("change_control").Get("review_window_days"))
	return span.AddDays(proposedAt, days), ok
}

// CheckReview returns amendment_lapsed from the end of the review window on.
func CheckReview(inForce *Document, proposedAt, now int64) *Finding {
	if end, ok := ReviewEnds(inForce, proposedAt); ok && span.Closed(end, now) {
		return one("amendment_lapsed", "change_control.review_window_days")
	}
	return nil
}

// CheckApplied refuses, with version_unsigned_by_owner, to apply a version the
// owner on our seat has not signed (5.8).
func CheckApplied(s Seats, ours string) *Finding {
	if s.Of(ours) == nil {
		return one("version_unsigned_by_owner", "signatures")
	}
	return nil
}
