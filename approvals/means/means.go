// Package means names, for the owner, the kinds of passkeys and what makes each of
// them work. What a browser really has only the page can ask; this does not look.
package means

// Mean is one kind of passkey.
type Mean struct {
	Kind  string // as a passkey view has it
	Name  string
	Works string // a sentence or two
}

// All are the kinds, those that programs reach least first.
var All = []Mean{
	{"security_key", "Security key", "Works where it has a PIN or reads a finger. What answers is a thing in your hand."},
	{"phone", "Phone or tablet", "Works where the browser shows a code to scan and Bluetooth is on."},
	{"this_device", "This device", "Works where this computer verifies you by itself, by finger, face or PIN."},
	{"program", "Password manager", "Some refuse pages of this computer. A program keeps such a passkey, and a program may answer it."},
}

// Name is what answered when a passkey of that kind was enrolled, as far as the browser told.
func Name(kind string) string {
	if kind == "program" {
		return "A program on this computer"
	}
	for _, m := range All {
		if m.Kind == kind {
			return m.Name
		}
	}
	return "Passkey of a kind that the browser did not tell"
}

// Copies says whether it may leave its keeper.
func Copies(eligible bool) string {
	if eligible {
		return "Whoever keeps it may copy it to other devices."
	}
	return "It cannot be copied to other devices."
}
