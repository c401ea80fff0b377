// Package tag is the one table of signing domains: the exact prefix that
// stands before the canonical form of every structure this program signs or
// verifies. A signature under one prefix can never pass under another.
//
// It is a package of its own, which imports nothing, so that every document
// package can use the table.
package tag

// Tag is a signing prefix, as the bytes that are hashed or signed.
type Tag string

// The prefixes of AgentEnvelope v1 (section 6). What is signed is the
// Keccak-256 of prefix and canonical JSON.
const (
	ActionPayload Tag = "\x19AgentEnvelope Signed Message:\n"
	MintDelegate  Tag = "\x19AgentEnvelope Mint Delegate:\n"
	MintRequest   Tag = "\x19AgentEnvelope Mint Request:\n"
	Attestation   Tag = "\x19AgentEnvelope Attestation:\n"
)

// The prefixes of Agent SoW (section 6) and its family. What is signed, with
// Ed25519, is prefix and canonical JSON.
const (
	SoW            Tag = "agent-sow-v1\n"
	ArbiterVerdict Tag = "agent-arbiter-verdict-v1\n"
	JobManifest    Tag = "agentmesh-job-manifest-v1\n"
)

// The prefixes of our own structures. Ed25519 over prefix and canonical JSON,
// except BotAuth, which a bot signs with its secp256k1 key over the Keccak-256.
const (
	AgentIntent         Tag = "sow-vault-agent-intent-v1\n"
	SoWDenial           Tag = "sow-vault-denial-v1\n"
	SoWWithdrawal       Tag = "sow-vault-withdrawal-v1\n"
	SoWTermination      Tag = "sow-vault-termination-v1\n"
	SoWFormationRefusal Tag = "sow-vault-formation_refusal-v1\n"
	SoWDispute          Tag = "sow-vault-dispute-v1\n"
	SoWReview           Tag = "sow-vault-review-v1\n"
	SoWProbe            Tag = "sow-vault-probe-v1\n"
	LogHead             Tag = "agent-vault-log-head-v1\n"
	Confirmation        Tag = "agent-vault-confirmation-v1\n"
	OwnerCard           Tag = "agent-vault-owner-card-v1\n"
	Receipt             Tag = "agent-vault-receipt-v1\n"
	BotAuth             Tag = "vault-bot-auth-v1\n"
)

// All returns every prefix of the table.
func All() []Tag {
	return []Tag{
		ActionPayload, MintDelegate, MintRequest, Attestation,
		SoW, ArbiterVerdict, JobManifest,
		AgentIntent, SoWDenial, SoWWithdrawal, SoWTermination, SoWFormationRefusal,
		SoWDispute, SoWReview, SoWProbe,
		LogHead, Confirmation, OwnerCard, Receipt, BotAuth,
	}
}

// Message returns the prefix followed by the canonical form.
func (t Tag) Message(canonical []byte) []byte {
	return append([]byte(t), canonical...)
}
