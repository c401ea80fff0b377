// Command vault is the desk: its window, its terminal form, and the commands
// around them. It holds no key; those are in the key process, vault-key, which it
// starts from beside itself.
//
// Exit statuses: 0 done, or verified against a pin; 1 not done, or not valid; 2 the
// command or its files were not understood; 3 (verify) self-consistent, and tied to
// nothing the verifier trusts.
//
// No command, flag or variable approves, unlocks or confirms in the owner's place.
package main
