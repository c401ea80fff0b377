// Package layout holds the repository to its import table: which folder may
// import which of ours, what a shipped program may contain, and which modules
// the key process is made of. It is tests only; nothing imports it.
package layout
