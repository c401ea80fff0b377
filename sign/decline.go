package sign

import (
	"fmt"

	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/moment"
	"vault/derive/envelope"
)

// A decline gives nobody anything, so it needs no passkey. Where one is asked for it all the same, because any
// program could have pressed the key, what the person sees and what the record says is computed from the bytes
// that were asked about, as for every other confirmation.

// guardAnswered is the guard of a request's end.
func (s *Signer) guardAnswered(b journal.RequestAnswered, a keys.Act) error {
	if b.Confirmation == "" {
		return nil
	}
	if err := s.always("passkey"); err != nil {
		return err
	}
	if journal.AskDigest(b.Method, a.Session, a.Envelope, a.Payload) != b.Digest {
		return refuse("wrong_digest", "the entry names another request than the one whose bytes were given")
	}
	_, err := s.saysDeclined(b, a)
	return err
}

// methodPair is the method of a request to pair, whose documents are digits and claimed name.
const methodPair = "pair"

// saysDeclined are the lines about a request that is declined. Its digest is that of the bytes.
func (s *Signer) saysDeclined(b journal.RequestAnswered, a keys.Act) ([]string, error) {
	if b.Method == methodPair {
		if b.Client != "" || a.Session != b.Request {
			return nil, refuse(codeMalformed, "this is not a request to pair")
		}
		return []string{
			"Decline to pair a program.", "It calls itself: " + quoted(string(a.Payload)), "Digits: " + quoted(string(a.Envelope)), "It is told that you said no.",
		}, nil
	}
	env, err := s.readEnvelope(a.Envelope)
	if err != nil {
		return nil, refuse(codeMalformed, "the envelope is not an action envelope")
	}
	payload, err := envelope.ParsePayload(a.Payload)
	if err != nil {
		return nil, refuse(codeMalformed, "the payload cannot be signed")
	}
	out := append([]string{"Decline to sign, for " + s.clientWords(b.Client) + ".", "It is told that you said no."}, envelopeSays(env, s.domainWords(env))...)
	return append(out, payloadSays(string(payload.Canonical()))...), nil
}

// guardDeclined is the guard of a moment that is declined.
func (s *Signer) guardDeclined(b journal.MomentDeclined, a keys.Act) error {
	if b.Confirmation == "" {
		return nil
	}
	if err := s.always("passkey"); err != nil {
		return err
	}
	sheet, r, err := laid(a, b.EnvelopeDigest, b.SheetDigest)
	if err != nil {
		return err
	}
	if r.Check(sheet.Envelope, false) != nil || r.Digest() != b.ResolutionDigest || r.Choice() != moment.ChoseDecline {
		return refuse(codeWrongResolution, "the resolution is another one than the entry names, or no decline of this envelope")
	}
	return nil
}

// saysMomentDeclined are the lines about a moment that is declined. The guard has passed.
func (s *Signer) saysMomentDeclined(b journal.MomentDeclined, a keys.Act) ([]string, error) {
	env, err := moment.Parse(a.Moment)
	if err != nil {
		return nil, err
	}
	c := env.Content()
	return []string{
		"Decline a decision that " + s.clientWords(b.Client) + " asked for.", "Question: " + quoted(c.Stem),
		fmt.Sprintf("None of its %d options is selected, and nothing is signed.", len(c.Options)), "Envelope: " + b.EnvelopeDigest,
	}, nil
}
