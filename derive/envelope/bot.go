package envelope

import (
	"errors"

	"vault/derive/jcs"
	"vault/derive/tag"
)

// BotChallenge is what a bot signs to prove its address on a connection to a
// vault: the Keccak-256 of the bot authentication prefix and Canonical. It names
// vault and client, so that a proof for one is none for another.
type BotChallenge struct {
	Client string `json:"client"` // "c_" and 16 hex digits
	Nonce  string `json:"nonce"`  // the vault's, 0x and 64 hex digits
	Vault  string `json:"vault"`  // 32 hex digits
}

// ParseBotChallenge reads a challenge strictly: exactly its members.
func ParseBotChallenge(raw []byte) (BotChallenge, error) {
	v, err := jcs.Parse(raw, jcs.AgentEnvelope)
	if err != nil {
		return BotChallenge{}, errors.New("parse bot challenge: not strict JSON")
	}
	c := BotChallenge{v.Get("client").Text(), v.Get("nonce").Text(), v.Get("vault").Text()}
	if members(v, []string{"client", "nonce", "vault"}, nil) != nil || c.Client == "" || len(c.Client) > 64 || len(c.Vault) != 32 || !isHex(c.Nonce, 64, false) {
		return BotChallenge{}, errors.New("parse bot challenge: members are not those of a challenge")
	}
	return c, nil
}

// Canonical returns the canonical form.
func (c BotChallenge) Canonical() []byte { return mustMarshal(c) }

// Digest returns what the bot signs.
func (c BotChallenge) Digest() [32]byte { return Digest(tag.BotAuth, c.Canonical()) }

// Verify checks that the signature, 0x and 130 hex digits, is by the address, 0x
// and 40 lower case hex digits.
func (c BotChallenge) Verify(address, signature string) error {
	sig, err := ParseSignature(signature)
	if err != nil {
		return errors.New("verify bot proof: the signature is malformed")
	}
	got, err := sig.Recover(c.Digest())
	if err != nil || !IsAddress(address) || got != address {
		return errors.New("verify bot proof: the signature is not by this address")
	}
	return nil
}
