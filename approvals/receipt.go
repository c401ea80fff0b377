package approvals

import (
	"errors"
	"fmt"

	"vault/approvals/receipt"
	"vault/approvals/store"
	"vault/derive/jcs"
)

// receiptPage is how many entries are read at a time on the way to the next signed head.
const receiptPage = 64

// receipt makes the receipt of an entry (package receipt), as canonical JSON.
func (d *Desk) receipt(seq uint64) ([]byte, error) {
	if seq == 0 || d.db() == nil {
		return nil, refuse(CodeUnknownRequest)
	}
	var p receipt.Parts
	for from := seq; p.Head == nil; {
		es, err := d.db().Entries(from, receiptPage)
		if err != nil {
			return nil, fmt.Errorf("read log: %w", err)
		}
		switch {
		case (len(es) == 0 || es[0].Seq != from) && from == seq:
			return nil, refuse(CodeUnknownRequest)
		case len(es) == 0 || es[0].Seq != from, len(p.Entries) >= receipt.MaxEntries:
			return nil, refuse(CodeNotCovered)
		}
		for _, e := range es {
			p.Entries = append(p.Entries, e.Raw)
			from = e.Seq + 1
			if e.Head != nil {
				p.Head = e.Head
				break
			}
		}
	}
	evidence, err := d.db().Evidence(seq)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, fmt.Errorf("read evidence: %w", err)
	}
	p.Evidence = evidence
	if row, err := d.db().MomentOf(seq); err == nil && row.State == store.MomentResolved {
		if _, err := d.checkMoment(row); err != nil {
			return nil, err
		}
		p.Moment, p.Resolution, p.Behind = row.Envelope, row.Resolution, row.Behind
		return receipt.Encode(p)
	} else if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, fmt.Errorf("read moment: %w", err)
	}
	rows, err := d.db().RequestsOf(seq)
	if err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	if len(rows) > 0 && rows[0].State == requestDone {
		if _, ok := d.checkRow(rows[0]); !ok {
			return nil, refuse(CodeRowEdited)
		}
		v, err := jcs.Parse(rows[0].Answer, jcs.Binding)
		if err != nil {
			return nil, refuse(CodeRowEdited)
		}
		p.Signature, p.Record = v.Get("signature").Text(), v.Get("record").Canonical()
		p.Attestation = v.Get("attestation").Canonical()
		if p.Payload, err = jcs.Canonical(rows[0].Payload, jcs.AgentEnvelope); err != nil {
			return nil, refuse(CodeRowEdited)
		}
	}
	return receipt.Encode(p)
}
