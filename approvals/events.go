package approvals

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"vault/approvals/journal"
	"vault/approvals/plain"
	"vault/approvals/receipt"
	"vault/approvals/store"
	"vault/derive/confirm"
	"vault/derive/jcs"
)

const (
	eventsMax  = 500
	eventsPage = 500
)

// events reads the log for people, newest first.
func (d *Desk) events(f EventFilter) ([]Event, error) {
	if d.db() == nil {
		return nil, nil
	}
	limit := f.Limit
	if limit <= 0 || limit > eventsMax {
		limit = eventsMax
	}
	d.mu.Lock()
	names := map[string]string{}
	for id, c := range d.led.clients {
		names[id] = c.permit.Name
	}
	covered := d.led.covered
	d.mu.Unlock()
	text := strings.ToLower(f.Text)
	var out []Event
	for before := f.Before; len(out) < limit; {
		page := limit
		if text != "" {
			page = eventsPage
		}
		es, err := d.db().EntriesBefore(before, f.Kind, f.Client, page)
		if err != nil {
			return nil, fmt.Errorf("read log: %w", err)
		}
		for i := range es {
			e := event(&es[i], names)
			e.Covered = es[i].Seq <= covered
			if text == "" || e.holds(text) {
				if out = append(out, e); len(out) == limit {
					break
				}
			}
		}
		if len(es) < page {
			break
		}
		before = es[len(es)-1].Seq
	}
	return out, nil
}

// event is an entry as it stands in the store; whether the log is right is for VerifyLog.
func event(row *store.Entry, names map[string]string) Event {
	e := Event{Seq: row.Seq, At: row.At, Kind: row.Kind, Client: row.Client, Agent: names[row.Client], What: row.Kind, Hash: row.Hash}
	v, err := jcs.Parse(row.Raw, jcs.Binding)
	if err != nil {
		e.What = "unreadable"
		return e
	}
	for m := range v.Get("body").Members() {
		text := m.Value.Text()
		if m.Value.Kind() != jcs.String {
			text = string(m.Value.Canonical())
		}
		e.Fields = append(e.Fields, EventField{m.Name, text})
	}
	if o := v.Get("body").Get("outcome").Text(); row.Kind == string(journal.KindRequestAnswered) && o != "" {
		e.What = o
	}
	return e
}

func (e *Event) holds(text string) bool {
	if strings.Contains(strings.ToLower(e.Kind+" "+e.Agent+" "+e.What), text) {
		return true
	}
	return slices.ContainsFunc(e.Fields, func(f EventField) bool { return strings.Contains(strings.ToLower(f.Value), text) })
}

// pages calls f with every entry of the log, in order, without holding the store in between.
func (d *Desk) pages(ctx context.Context, f func(*store.Entry) error) error {
	if d.db() == nil {
		return refuse(CodeNoVault)
	}
	for from := uint64(1); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		es, err := d.db().Entries(from, eventsPage)
		if err != nil {
			return fmt.Errorf("read log: %w", err)
		}
		for i := range es {
			if err := f(&es[i]); err != nil {
				return err
			}
		}
		if len(es) < eventsPage {
			return nil
		}
		from = es[len(es)-1].Seq + 1
	}
}

// verifyLog checks the whole log: entries, what stands beside them, every head,
// and the anchor that the key process named.
func (d *Desk) verifyLog(ctx context.Context) (LogReport, error) {
	d.mu.Lock()
	pub, last := d.public, d.led.state.Seq()
	vault, logKey := d.led.state.Vault(), d.led.state.LogKey()
	d.mu.Unlock()
	if d.db() == nil {
		return LogReport{}, refuse(CodeNoVault)
	}
	if err := d.db().Check(ctx); errors.Is(err, store.ErrDamaged) {
		return LogReport{Entries: last, Code: "damaged", Anchor: "none"}, nil
	} else if err != nil {
		return LogReport{}, err
	}
	var heads [][]byte
	var beside uint64 // the first entry beside which something else stands
	var besideCode string
	var failed error
	pins := journal.Pins{}
	if pub.Anchor.Seq > 0 {
		pins.Places = []journal.Place{{Seq: pub.Anchor.Seq, Hash: pub.Anchor.Hash}}
	}
	if pub.Vault != "" {
		pins.Vault, pins.LogKey = pub.Vault, pub.LogKey
	}
	if err := d.pages(ctx, func(row *store.Entry) error {
		if row.Seq <= last && row.Head != nil {
			heads = append(heads, row.Head)
		}
		return nil
	}); err != nil {
		return LogReport{}, err
	}
	pins.Heads = heads
	kept, err := d.db().EvidenceSeqs()
	if err != nil {
		return LogReport{}, err
	}
	report := journal.Verify(func(yield func([]byte) bool) {
		failed = d.pages(ctx, func(row *store.Entry) error {
			if row.Seq > last {
				return io.EOF // made while we read
			}
			if beside == 0 {
				c, err := d.besides(row, kept[row.Seq], vault, logKey)
				if err != nil {
					return err
				}
				if c != "" {
					beside, besideCode = row.Seq, c
				}
			}
			if !yield(row.Raw) {
				return io.EOF
			}
			return nil
		})
		if failed == io.EOF {
			failed = nil
		}
	}, pins)
	if failed != nil {
		return LogReport{}, failed
	}
	out := LogReport{
		Entries: report.Entries, OK: report.OK, FirstWrong: report.FirstWrong, Code: report.Code, Uncovered: report.Uncovered, Anchor: "none",
	}
	if out.OK && beside > 0 {
		out.OK, out.FirstWrong, out.Code = false, beside, besideCode
	}
	switch pub.AnchorKept {
	case "sealed+keyring":
		out.Anchor = "keyring"
	case "sealed":
		out.Anchor = "sealed"
	}
	d.mu.Lock()
	d.checkedAt, d.checked = d.clock.Now(), out.Entries
	d.mu.Unlock()
	d.changed()
	return out, nil
}

// besides says what is wrong with what stands beside an entry of a vault's log, or "": a code of a [LogReport]. there says
// whether evidence does.
func (d *Desk) besides(row *store.Entry, there bool, vault, logKey string) (string, error) {
	e, err := journal.Parse(row.Raw)
	if err != nil {
		return reportColumns, nil
	}
	if c := rowBesides(row, e); c != "" {
		return c, nil
	}
	if e.Record() == "" {
		if there {
			return reportEvidence, nil // no passkey confirmed this
		}
		return "", nil
	}
	raw, err := d.db().Evidence(row.Seq)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return reportNoEvidence, nil
	case err != nil:
		return "", err
	}
	evidence, err := confirm.ParseEvidence(raw)
	if err != nil || !evidence.Verify(confirm.EvidencePins{LogKey: logKey, Vault: vault}).Valid {
		return reportEvidence, nil
	}
	for _, c := range receipt.EvidenceOf(e, evidence, vault, logKey) {
		if !c.OK {
			return reportEvidence, nil
		}
	}
	return "", nil
}

// Codes of a [LogReport] beside those of package journal.
const (
	reportColumns    = "columns"
	reportNoEvidence = "evidence_missing" // a passkey confirmed the entry, and its record is not beside it
	reportEvidence   = "evidence_edited"  // what stands beside it is not the evidence of this entry
)

// rowBesides is besides for what stands in the entry's own row.
func rowBesides(row *store.Entry, e journal.Entry) string {
	switch {
	case rowDiffers(row, e) != "":
		return reportColumns
	case row.Head == nil && !e.Unkeyed():
		return journal.ReportHeadMissing
	case row.Head != nil && !bytes.Contains(row.Head, []byte(`"hash":"`+row.Hash+`"`)):
		return journal.ReportBadHead
	}
	return ""
}

// exportLog writes every entry: as one JSON object a line with entry and head, which
// can be verified elsewhere, or as a table for people.
func (d *Desk) exportLog(ctx context.Context, w io.Writer, format string) error {
	out := bufio.NewWriter(w)
	var line func(*store.Entry) error
	switch format {
	case "jsonl":
		line = func(row *store.Entry) error {
			head := row.Head
			if head == nil {
				head = []byte("null")
			}
			if _, err := fmt.Fprintf(out, "{\"entry\":%s,\"head\":%s", row.Raw, head); err != nil {
				return err
			}
			// Names in an entry have their quotation marks escaped.
			if bytes.Contains(row.Raw, []byte(`"confirmation":"0x`)) {
				evidence, err := d.db().Evidence(row.Seq)
				if err != nil {
					return fmt.Errorf("read evidence of entry %d: %w", row.Seq, err)
				}
				if _, err := fmt.Fprintf(out, ",\"evidence\":%s", evidence); err != nil {
					return err
				}
			}
			_, err := out.WriteString("}\n")
			return err
		}
	case "csv":
		d.mu.Lock()
		names := map[string]string{}
		for id, c := range d.led.clients {
			names[id] = c.permit.Name
		}
		d.mu.Unlock()
		if _, err := out.WriteString(plain.CSV("seq", "at", "kind", "agent", "client", "what", "hash", "body")); err != nil {
			return err
		}
		line = func(row *store.Entry) error {
			e := event(row, names)
			fields := make([]string, len(e.Fields))
			for i, f := range e.Fields {
				fields[i] = f.Name + "=" + f.Value
			}
			_, err := out.WriteString(plain.CSV(number(e.Seq), time.UnixMilli(e.At).UTC().Format("2006-01-02T15:04:05.000Z"),
				e.Kind, e.Agent, e.Client, e.What, e.Hash, strings.Join(fields, " ")))
			return err
		}
	default:
		return refuseWith(CodeMalformed, "the formats are jsonl and csv")
	}
	if err := d.pages(ctx, line); err != nil {
		return fmt.Errorf("export log: %w", err)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("export log: %w", err)
	}
	return nil
}
