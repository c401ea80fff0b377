// Package terminal is the owner's surface on a terminal: it lists what waits,
// shows one sheet at a time as plain text, in reading order and with a label on
// each line, and takes the owner's decision. It is also the accessible surface.
//
// It holds no key and decides nothing by itself: everything goes through
// [approvals.Owner]. Declining takes a key. Approving takes four words from the
// digest that was shown and then the passphrase, which is typed into the secret
// window's terminal form and never passes through this package. Nothing is read
// from a pipe or a file.
package terminal
