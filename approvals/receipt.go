package approvals

import (
	"errors"
	"fmt"

	"vault/approvals/receipt"
	"vault/approvals/store"
	"vault/derive/jcs"
)

// receipt makes the receipt of an entry, as canonical JSON.
func (d *Desk) receipt(seq uint64) ([]byte, error) {
	if seq == 0 || d.db() == nil {
		return nil, refuse(CodeUnknownRequest)
	}
	var out receipt.Parts
	for from := seq; out.Head == nil; {
		es, err := d.db().Entries(from, 64)
		if err != nil {
			return nil, fmt.Errorf("read log: %w", err)
		}
		if len(es) == 0 || es[0].Seq != from {
			if from == seq {
				return nil, refuse(CodeUnknownRequest)
			}
			return nil, refuse("not_covered")
		}
		for _, e := range es {
			out.Entries = append(out.Entries, e.Raw)
			from = e.Seq + 1
			if e.Head != nil {
				out.Head = e.Head
				break
			}
		}
	}
	rows, err := d.db().RequestsOf(seq)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
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
		out.Signature, out.Record = v.Get("signature").Text(), v.Get("record").Canonical()
		out.Attestation = v.Get("attestation").Canonical()
		if out.Payload, err = jcs.Canonical(rows[0].Payload, jcs.AgentEnvelope); err != nil {
			return nil, refuse(CodeRowEdited)
		}
	}
	return receipt.Encode(out)
}
