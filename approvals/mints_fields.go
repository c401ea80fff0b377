package approvals

import "vault/derive/envelope"

// Fields gives the bounds the form that package bounds says in a sentence. Nonce and time of issue
// are not among them.
func (b DelegateBounds) Fields() envelope.DelegateFields {
	opt := func(p *int64) envelope.Opt {
		if p == nil {
			return envelope.Opt{}
		}
		return envelope.Some(*p)
	}
	return envelope.DelegateFields{
		DomainHash: b.Domain.Hash, AllowedOperations: b.Operations, AllowedResources: b.Resources, BotPolicy: b.BotPolicy, AllowedBotAddresses: b.Bots,
		IndexMin: b.IndexMin, IndexMax: b.IndexMax, MaxMints: b.MaxMints, MaxUsesPerAction: b.MaxUsesPerAction,
		Window: envelope.Window{NotBefore: opt(b.NotBefore), NotAfter: opt(b.NotAfter)}, AvatarAddress: b.AvatarAddress,
	}
}
