package envelope

import (
	"fmt"

	"vault/derive/jcs"
)

// rawJSON is canonical JSON put into a larger structure as it is.
type rawJSON string

// MarshalJSON returns the text itself.
func (r rawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }

// mustMarshal writes a structure made of parsed parts, integers in range and
// checked texts; those can always be written.
func mustMarshal(v any) []byte {
	b, err := jcs.Marshal(v, jcs.AgentEnvelope)
	if err != nil {
		panic(fmt.Sprintf("envelope: a checked structure cannot be written: %v", err))
	}
	return b
}
