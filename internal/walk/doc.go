// Package walk is tests only: the owner's walk with passkeys, on the real programs. The vault
// is on a terminal, its key process and its ceremony page are programs of their own, the
// browser is a real Chromium, and a program that is paired presents decisions. What presses keys and
// buttons is here and in the packages of test means alone; nothing imports this package.
package walk
