package sow

import (
	"fmt"

	"vault/derive/jcs"
)

// Manifest is what an agent publishes of its offerings, as far as documents
// refer to it: {agent, offerings[{id, meters[], steps[]}]}.
type Manifest struct {
	Agent     string
	Offerings []Offering
}

// Offering is one published offering with the meters it bills and the steps it
// delivers in.
type Offering struct {
	ID            string
	Meters, Steps []string
}

// ParseManifest reads a manifest. Members it does not know are left alone.
func ParseManifest(raw []byte) (*Manifest, error) {
	v, err := jcs.Parse(raw, jcs.SoW)
	if err != nil {
		return nil, fmt.Errorf("parse agent manifest: %w", err)
	}
	if !nonEmpty(v.Get("agent")) || v.Get("offerings").Kind() != jcs.Array {
		return nil, fmt.Errorf("parse agent manifest: agent or offerings are missing")
	}
	m := &Manifest{Agent: v.Get("agent").Text()}
	seen := make(map[string]bool, v.Get("offerings").Len())
	for i, o := range v.Get("offerings").Items() {
		meters, okM := optionalTexts(o.Get("meters"))
		steps, okS := optionalTexts(o.Get("steps"))
		id := o.Get("id")
		if !nonEmpty(id) || !okM || !okS {
			return nil, fmt.Errorf("parse agent manifest: offering %d is not as it must be", i)
		}
		if seen[id.Text()] { // which of the two declares what is billed, nothing says
			return nil, fmt.Errorf("parse agent manifest: offering %d is there before", i)
		}
		seen[id.Text()] = true
		m.Offerings = append(m.Offerings, Offering{ID: id.Text(), Meters: meters, Steps: steps})
	}
	return m, nil
}

func optionalTexts(v jcs.Value) ([]string, bool) {
	if !v.Exists() {
		return nil, true
	}
	return texts(v)
}
