package keys

import "context"

// SoWAct holds the documents behind an act about Agent SoW, as received. The Permits of such an act are:
//
//	sow.pinned        the new pin, without a MAC
//	sow.preauthorised the new pre-authorisation, without a MAC; the client's row and the provider's pin, with their MACs
//	sow.signed        the pin of the other seat's agent, with its MAC, but for an offer that is published, and for a request to
//	                  form, whose client's key is taken from its signature; the client's row where one asked; the pre-authorisation
type SoWAct struct {
	// Document is what is signed, or what the act is about. Its signature records are those that are there before.
	Document []byte
	// Offer is the offer that the document completes, with the provider's signature, where the entry names one.
	Offer []byte
	// InForce is the version in force with both signatures, where the entry names one.
	InForce []byte
	// Act is the act without sig (kind sow.act_signed).
	Act []byte
	// Intent is the agent's signature over the document's intent, base64url or base64, where one is needed.
	Intent string
}

// Seater is the part of [Handler] about the owner's seats.
type Seater interface {
	// SeatKey gives the public key of a seat, nkey text; index is from 0 to 15. Nothing is signed.
	SeatKey(ctx context.Context, index int64) (string, error)
}
