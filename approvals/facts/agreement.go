package facts

import (
	"vault/approvals/journal"
	"vault/approvals/sow"
)

// Authority is what a move of the owner's on an Agent SoW document needs (6.1), at least what floor says ("" for nothing); move is one
// of package journal's, inForce the version in force or nil. What a document states about formation binds the client's seat: publishing
// an offer is always a person's, because formations follow from it without anybody being asked, and completing one is what the
// publication allowed.
func Authority(move string, d, inForce *sow.Document, floor sow.Authority) sow.Authority {
	need := sow.ByAgent
	switch move {
	case journal.MovePublish:
		need = sow.ByPerson
	case journal.MoveComplete:
	default:
		return sow.Needed(d, inForce, floor)
	}
	if floor != "" {
		need = sow.Stricter(need, floor)
	}
	return need
}

// EngagementID names the engagement that a document is of: its identifier with the two agents' keys in its signed bytes ("e_" and 32
// hex digits).
func EngagementID(d *sow.Document) string {
	provider, _ := d.Party(sow.Provider)
	client, _ := d.Party(sow.Client)
	return journal.EngagementID(d.ID(), provider.Agent, client.Agent)
}
