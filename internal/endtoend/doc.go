// Package endtoend is tests only: the real desk, the real signer and the real socket in
// one process, with agents of other languages outside of it. The secret window is
// played by the test; nothing imports this package.
package endtoend
