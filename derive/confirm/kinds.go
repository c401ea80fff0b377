package confirm

import "slices"

// Kind names the act that a context asks a person to confirm.
type Kind string

// The kinds of acts. The list is closed: a context of another kind is refused.
const (
	SoWCountersign   Kind = "sow.countersign"
	SoWAmend         Kind = "sow.amend"
	SoWTerminate     Kind = "sow.terminate"
	SoWDispute       Kind = "sow.dispute"
	SoWPreauthorise  Kind = "sow.preauthorise"
	MintDelegate     Kind = "mint.delegate"
	MintExport       Kind = "mint.export"
	MomentResolution Kind = "moment.resolution"
	ActionSign       Kind = "action.sign"
	RequestDecline   Kind = "request.decline"
	ClientPair       Kind = "client.pair"
	GrantMake        Kind = "grant.make"
	SocketAdd        Kind = "socket.add"
	InstanceReadmit  Kind = "instance.readmit"
	RecoveryShow     Kind = "recovery.show"
	ProtectionChange Kind = "protection.change"
	PasskeyTry       Kind = "passkey.try"
	PasskeyAdd       Kind = "passkey.add"
	PasskeyRemove    Kind = "passkey.remove"
	PolicyLoosen     Kind = "policy.loosen"
	CardExport       Kind = "card.export"
)

// KindRule is a row of the table of kinds. A member that a rule does not
// require must be absent.
type KindRule struct {
	Kind     Kind
	Document bool // document and role are required
	Binding  bool // authorization_binding is required
	// ByPolicy says that the act is confirmed by passkey only where the owner
	// wants it so: by a rule, or because it is asked for from another terminal.
	// All others always are; no policy loosens them.
	ByPolicy bool
	// Over says, in words, which bytes the digest is over.
	Over string
}

var kinds = []KindRule{
	{Kind: SoWCountersign, Document: true, Over: "the signed bytes of the document"},
	{Kind: SoWAmend, Document: true, Over: "the signed bytes of the new version"},
	{Kind: SoWTerminate, Document: true, Over: "the canonical act without sig"},
	{Kind: SoWDispute, Document: true, Over: "the canonical act without sig"},
	{Kind: SoWPreauthorise, Document: true, Over: "the canonical pre-authorisation, which names the document's digest"},
	{Kind: MintDelegate, Over: "the canonical delegate without issuerSignature"},
	{Kind: MintExport, Over: "the canonical act, which names domain and recipient"},
	{Kind: MomentResolution, Binding: true, ByPolicy: true, Over: "the canonical resolution that is returned"},
	{Kind: ActionSign, ByPolicy: true, Over: "the canonical act, which names the envelope and the payload's digest"},
	{Kind: RequestDecline, ByPolicy: true, Over: "the canonical act, which names the request and the digest of what was asked"},
	{Kind: ClientPair, Over: "the canonical permit of the client"},
	{Kind: GrantMake, Over: "the canonical permit of the grant"},
	{Kind: SocketAdd, Over: "the canonical act, which names the user"},
	{Kind: InstanceReadmit, Over: "the canonical act, which names what is admitted again"},
	{Kind: RecoveryShow, Over: "the canonical act"},
	{Kind: ProtectionChange, Over: "the canonical act, from and to"},
	{Kind: PasskeyTry, Over: "the canonical act, which names the pending key: its own first answer"},
	{Kind: PasskeyAdd, Over: "the canonical act, which names the new key"},
	{Kind: PasskeyRemove, Over: "the canonical act, which names the key"},
	{Kind: PolicyLoosen, Over: "the canonical change, rule, from and to"},
	{Kind: CardExport, Over: "the canonical card without sig"},
}

// Kinds returns the table of kinds.
func Kinds() []KindRule { return slices.Clone(kinds) }

// Rule returns the row of a kind, and false if there is no such kind.
func (k Kind) Rule() (KindRule, bool) {
	for _, r := range kinds {
		if r.Kind == k {
			return r, true
		}
	}
	return KindRule{}, false
}
