//go:build linux

// Command samples writes one record of each kind of act that a passkey confirms: with its
// context, its evidence, the receipt of the log entry that it stands behind, and the owner
// card by which they are checked. They are made by the real programs: a vault on a terminal
// of its own, its key process, and the page's own helper. A passkey in software
// (internal/softkey) answers the page. Those about agreements are not: they are made in this
// process, in another vault, through the desk's interface and the key process's code, and
// the passkey answers the ceremony without a page. The vaults are thrown away, and nothing
// in a sample binds anybody.
//
// It is linked into neither program of the product.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

func main() {
	bin := flag.String("bin", "bin/headless", "`folder` of the programs vault and vault-key")
	flag.Parse()
	dir := "build/samples"
	if flag.NArg() > 0 {
		dir = flag.Arg(0)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	made, err := run(ctx, *bin, dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, "samples:", err)
		os.Exit(1)
	}
	for _, s := range made {
		fmt.Printf("%-18s %s\n", s.Kind, s.Verdict)
	}
	at, err := filepath.Abs(dir)
	if err != nil {
		at = dir
	}
	fmt.Println("The samples are in", at)
}
