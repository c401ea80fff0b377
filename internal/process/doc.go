// Package process tests the programs as they are shipped, as processes: a desk and
// its key process that a person opens on a terminal, many clients, and kills. It is
// tests only; nothing imports it.
package process
