package approvals

import (
	"crypto/sha256"
	"sync"

	"vault/derive/envelope"
)

// Limits of what is kept parsed.
const (
	maxParsed      = 1024
	maxParsedBytes = 4096 // longer envelopes are parsed each time
)

// parsed keeps action envelopes as they were parsed, by the digest of the bytes
// received: under a grant the same one comes again and again. The zero value is
// ready, and safe for concurrent use.
type parsed struct {
	mu   sync.Mutex
	kept map[[32]byte]*envelope.ActionEnvelope
}

// envelope is envelope.ParseActionEnvelope.
func (p *parsed) envelope(raw []byte) (*envelope.ActionEnvelope, error) {
	if len(raw) > maxParsedBytes {
		return envelope.ParseActionEnvelope(raw)
	}
	key := sha256.Sum256(raw)
	p.mu.Lock()
	e := p.kept[key]
	p.mu.Unlock()
	if e != nil {
		return e, nil
	}
	e, err := envelope.ParseActionEnvelope(raw)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.kept) >= maxParsed || p.kept == nil {
		p.kept = map[[32]byte]*envelope.ActionEnvelope{}
	}
	p.kept[key] = e
	return e, nil
}
