package sow

import (
	"crypto/ed25519"
	"strconv"

	"vault/approvals/sow/money"
	"vault/approvals/sow/span"
	"vault/derive/envelope"
	"vault/derive/jcs"
	"vault/derive/tag"
)

// Authority is the kind of actor that may bind an act (6.1).
type Authority string

// The authorities, from the weakest to the strictest.
const (
	ByAgent           Authority = "agent"
	ByPerson          Authority = "person"
	ByAgentThenPerson Authority = "agent_then_person"
)

func (a Authority) rank() int {
	switch a {
	case ByAgent:
		return 1
	case ByAgentThenPerson:
		return 3
	}
	return 2 // what cannot be read is taken for person
}

// Stricter returns the stricter of two authorities; anything that is none
// counts as person.
func Stricter(a, b Authority) Authority {
	if b.rank() > a.rank() {
		a = b
	}
	if a.rank() == 2 {
		return ByPerson
	}
	return a
}

// FormationAuthority and AmendmentAuthority return what a document states for
// an act: agent and person where it states nothing, person where it cannot be
// read (6.1).
func (d *Document) FormationAuthority() Authority { return d.authority("formation", ByAgent) }

// AmendmentAuthority is described at FormationAuthority.
func (d *Document) AmendmentAuthority() Authority { return d.authority("amendment", ByPerson) }

func (d *Document) authority(act string, unstated Authority) Authority {
	cc := d.v.Get("change_control")
	a := cc.Get("approval")
	switch {
	case cc.Kind() != jcs.Object:
		return ByPerson
	case !a.Exists():
		return unstated
	case a.Kind() != jcs.Object:
		return ByPerson
	}
	w := a.Get(act)
	switch {
	case !w.Exists():
		return unstated
	case among(w, string(ByAgent), string(ByAgentThenPerson)):
		return Authority(w.Text())
	}
	return ByPerson
}

// Needed returns the authority a signature of ours under a document needs: for
// a version 1 the formation authority in its bytes, for every other at least
// person; always the strictest of that, the version in force (nil for none) and
// the owner's own floor.
func Needed(doc, inForce *Document, floor Authority) Authority {
	need := doc.FormationAuthority()
	if doc.Version() != 1 || inForce != nil {
		need = Stricter(ByPerson, doc.AmendmentAuthority())
	}
	if inForce != nil {
		need = Stricter(need, inForce.AmendmentAuthority())
	}
	if floor == "" {
		return need
	}
	return Stricter(need, floor)
}

// Given is what was given for an act: the instants, in milliseconds, of the
// agent's signature of intent and of the person's confirmation.
type Given struct {
	Agent, Person money.Opt
}

// CheckGiven judges what was given against the authority needed (6.1):
// approval_pending until the person has confirmed, approval_lapsed from the
// instant lapses on, approval_order where the person came first,
// approval_authority_unmet where the agent's part is missing.
func CheckGiven(need Authority, g Given, now, lapses int64) *Finding {
	const where = "change_control.approval"
	if need == ByAgent {
		if !g.Agent.Set && !g.Person.Set {
			return one("approval_authority_unmet", where)
		}
		return nil
	}
	switch {
	case !g.Person.Set && span.Closed(lapses, now), g.Person.Set && span.Closed(lapses, g.Person.N):
		return one("approval_lapsed", where)
	case need == ByAgentThenPerson && !g.Agent.Set && g.Person.Set:
		return one("approval_authority_unmet", where)
	case need == ByAgentThenPerson && g.Agent.Set && g.Person.Set && g.Agent.N > g.Person.N:
		return one("approval_order", where)
	case !g.Person.Set:
		return one("approval_pending", where)
	}
	return nil
}

// Intent returns the bytes a paired agent signs to say that it wants an act on
// this version of the document: the first half of agent_then_person (6.1). The
// act is formation or amendment.
func (d *Document) Intent(act string) []byte {
	o := object{}
	o.text("act", act)
	o.text("digest", d.Digest())
	o.text("id", d.ID())
	o.set("version", strconv.AppendInt(nil, d.Version(), 10))
	return tag.AgentIntent.Message(o.canonical())
}

// VerifyIntent reports that an agent's key, an nkey, signed the intent.
func (d *Document) VerifyIntent(act, key, sig string) bool {
	pub, err := envelope.ParseOwnerKey(key)
	if err != nil {
		return false
	}
	b, err := ParseSignature(sig)
	return err == nil && ed25519.Verify(pub, d.Intent(act), b)
}

// Approval is an approval record inside the document (6.1, 6.2): a claim that
// a person or agent approved, not proof of it.
type Approval struct {
	Act, Authority, Key, ApprovedAt, Mandate string
}

// Approvals returns the records in change_control.approvals.
func (d *Document) Approvals() (out []Approval) {
	for _, a := range d.v.Get("change_control").Get("approvals").Items() {
		out = append(out, approvalOf(a))
	}
	return out
}

func approvalOf(a jcs.Value) Approval {
	return Approval{a.Get("act").Text(), a.Get("authority").Text(), a.Get("key").Text(), a.Get("approved_at").Text(), a.Get("mandate").Text()}
}

// MandateVerified reports that an approval may be shown as mandate-verified:
// only where the checks of the mandate specification were really made and a
// mandate is cited (6.2).
func (a Approval) MandateVerified(checked bool) bool { return checked && a.Mandate != "" }
