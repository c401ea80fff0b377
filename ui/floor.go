package ui

import (
	"fyne.io/fyne/v2"

	"vault/approvals/permit"
	"vault/ui/look"
	"vault/ui/parts"
)

// floorRows are the owner's own floors for who may bind them under agreements, in the order of [permit.Floors].
var floorRows = []struct{ name, why string }{
	{"As each document says", "An agent of yours binds you alone only where you allowed it: in advance, or by an offer that you published."},
	{"Always you", "Nothing binds you without your passkey, also not what you allowed in advance, or an offer that you published."},
	{"Your agent, then you", "Your agent signs its part first, then you confirm with your passkey. Where it has not, you cannot sign either."},
}

// floorValue is the owner's floor in the table of what needs a person.
func floorValue(floor string) fyne.CanvasObject {
	icon, ink := "key", look.Ink
	if floor == "" {
		icon, ink = "person", look.Ink2
	}
	words := map[string]string{"": "as each document says", "person": "always you, by passkey", "agent_then_person": "your agent, then you"}[floor]
	return parts.Row(6, look.NewIcon(icon, 14, ink), look.Word(look.Small, ink, words))
}

// askFloor asks who may bind the owner under agreements.
func (p *settingsPage) askFloor(u *UI, q *question) {
	now := u.state.Policy
	q.above = look.Text(look.Body, look.Ink2, "Who has to act before you are bound by an agreement. The strictest counts: the document, the version in force, or this. A change of what was agreed needs your passkey whatever stands here.")
	for i, floor := range permit.Floors {
		next := now
		next.SoWFloor = floor
		blocked, how := "", " It counts at once."
		if now.Loosens(next) {
			how = " A passkey confirms it: the vault asks less of you afterwards."
		}
		switch {
		case floor == now.SoWFloor:
			blocked = "This is what counts now."
		case now.Loosens(next):
			blocked = u.mayConfirm()
		}
		said := &banner{parts.Calm, "check", "More is asked before you are bound", "It counts at once, for every agreement."}
		if now.Loosens(next) {
			said = &banner{parts.Calm, "check", "Less is asked before you are bound", "A passkey confirmed it. What a document asks for still counts."}
		}
		q.add(floorRows[i].name, floorRows[i].why+how, blocked, func() { p.asking = ""; u.setPolicy(next, said, nil) })
	}
	q.add("Leave it as it is", "Nothing is changed.", "", p.shut(u))
}
