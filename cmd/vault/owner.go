package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"vault/approvals"
	"vault/approvals/keys"
	"vault/approvals/plain"
	"vault/cmd/vault/internal/tty"
)

// withDesk opens the desk for one command, with no socket, and closes it after it.
// Where there is no vault it makes nothing.
func (p *program) withDesk(ctx context.Context, do func(approvals.Owner) error) error {
	home, err := p.home()
	if err != nil {
		return err
	}
	if here, err := (launcher{folder: home}).Exists(); err == nil && !here {
		return fail("no_vault", nil)
	}
	return p.withAnyDesk(ctx, do)
}

// withAnyDesk is withDesk also where there is no vault yet.
func (p *program) withAnyDesk(ctx context.Context, do func(approvals.Owner) error) (err error) {
	o, err := p.openDesk(ctx, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.close()) }()
	return do(o.desk.Owner())
}

func (p *program) logCommand() *cobra.Command {
	var limit int
	c := &cobra.Command{
		Use:   "log",
		Short: "Print the newest entries of the log of a vault that is not open",
		Args:  none,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.withDesk(c.Context(), func(o approvals.Owner) error { return p.printLog(o, limit) })
		},
	}
	c.Flags().IntVar(&limit, "limit", 50, "`number` of entries, at most 500")
	var format, out string
	export := &cobra.Command{
		Use:   "export",
		Short: "Write the whole log",
		Args:  none,
		RunE: func(c *cobra.Command, _ []string) error {
			if format != "jsonl" && format != "csv" {
				return usageError("the format is jsonl or csv")
			}
			return p.withDesk(c.Context(), func(o approvals.Owner) error { return p.exportLog(c.Context(), o, format, out) })
		},
	}
	export.Flags().StringVar(&format, "format", "jsonl", "`form` of the export: jsonl or csv")
	export.Flags().StringVar(&out, "out", "", "new `file`; standard output where it is not given")
	c.AddCommand(export, &cobra.Command{
		Use:   "verify",
		Short: "Check every entry of the log, and name the first that is wrong",
		Args:  none,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.withDesk(c.Context(), func(o approvals.Owner) error { return p.verifyLog(c.Context(), o) })
		},
	}, p.receiptCommand())
	return c
}

func (p *program) printLog(o approvals.Owner, limit int) error {
	if limit < 1 || limit > 500 {
		return usageError("the limit is 1 to 500")
	}
	events, err := o.Events(approvals.EventFilter{Limit: limit})
	if err != nil {
		return err
	}
	for _, e := range events {
		if err := p.printf("%d %s %s\n", e.Seq, isoTime(e.At), plain.TerminalLine(e.Kind)); err != nil {
			return err
		}
		for _, f := range e.Fields {
			if err := p.printf("  %s: %s\n", plain.TerminalLine(f.Name), plain.TerminalLine(f.Value)); err != nil {
				return err
			}
		}
	}
	if len(events) == 0 {
		return p.printf("The log has no entries.\n")
	}
	return nil
}

func (p *program) verifyLog(ctx context.Context, o approvals.Owner) error {
	r, err := o.VerifyLog(ctx)
	if err != nil {
		return err
	}
	if r.Anchor == "none" || r.Anchor == "" {
		if err := p.printf("No keyring keeps the head here: a cut since your last receipt would not show.\n"); err != nil {
			return err
		}
	}
	if err := p.printf("Not yet covered by a signed head: %d\n", r.Uncovered); err != nil {
		return err
	}
	if !r.OK {
		if err := p.printf("Entry %d is wrong (%s). Export what is here before you do anything else.\n", r.FirstWrong, plain.TerminalLine(r.Code)); err != nil {
			return err
		}
		return verdict(statusNotDone)
	}
	return p.printf("%d entries, unbroken.\n", r.Entries)
}

// exportLog writes to a new file, or to standard output. What outside text may hold
// is escaped by the export's own form.
func (p *program) exportLog(ctx context.Context, o approvals.Owner, format, out string) error {
	if out == "" {
		w := p.rows()
		return errors.Join(o.ExportLog(ctx, w, format), w.Close())
	}
	f, err := os.OpenFile(out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return unwritten(out, err)
	}
	err = errors.Join(o.ExportLog(ctx, f, format), f.Close())
	if err != nil {
		_ = os.Remove(out) // half a log is none
	}
	return err
}

func (p *program) receiptCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "receipt NUMBER",
		Short: "Write the receipt of one entry, for somebody else to check with vault verify",
		Args:  exactly(1, "the number of the entry"),
		RunE: func(c *cobra.Command, args []string) error {
			seq, err := strconv.ParseUint(args[0], 10, 53)
			if err != nil || seq == 0 {
				return usageError("the entry's number is a whole number from 1")
			}
			return p.withDesk(c.Context(), func(o approvals.Owner) error {
				raw, err := o.Receipt(c.Context(), seq)
				if err != nil {
					return err
				}
				if out == "" {
					return p.printf("%s\n", asciiJSON(raw))
				}
				return writeNew(out, append(raw, '\n'))
			})
		},
	}
	c.Flags().StringVar(&out, "out", "", "new `file`; standard output where it is not given")
	return c
}

// onTerminal opens the desk, by with, where there is a person at the terminal.
func onTerminal(ctx context.Context, with func(context.Context, func(approvals.Owner) error) error, do func(approvals.Owner) error) error {
	dev, err := tty.Open()
	if err != nil {
		return err
	}
	if err := dev.Close(); err != nil {
		return err
	}
	return with(ctx, do)
}

func (p *program) backupCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "Write a backup of a vault that is not open, to a new file that age can open",
		Args:  exactly(1, "the new file's name"),
		RunE: func(c *cobra.Command, args []string) error {
			file, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			if _, err := os.Lstat(file); err == nil {
				return &failure{code: "file_exists", detail: args[0], status: statusUsage}
			}
			return onTerminal(c.Context(), p.withDesk, func(o approvals.Owner) error {
				if err := o.Unlock(c.Context(), keys.SurfaceTerminal); err != nil {
					return err
				}
				if err := o.Backup(c.Context(), file, keys.SurfaceTerminal); err != nil {
					return err
				}
				return p.printf("Written. It opens with the passphrase you gave, in age too.\n")
			})
		},
	}
}

// restoredCommand says to the vault what no file can: that older files were put back.
func (p *program) restoredCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "restored",
		Short: "Say that the files of this vault were put back from a copy: a new instance begins",
		Long: "Say that the files of this vault were put back from a copy. What was used since that copy was made is\n" +
			"not known, so a new instance begins: the same addresses, a new log, no grants. The old log is kept aside.",
		Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			return onTerminal(c.Context(), p.withDesk, func(o approvals.Owner) error {
				// A vault that has noticed by itself opens for this and for nothing else.
				shut := o.Unlock(c.Context(), keys.SurfaceTerminal)
				if shut != nil && o.Status().State != approvals.StateReadOnly {
					return shut
				}
				if err := o.NewInstance(c.Context()); err != nil {
					if shut != nil {
						return shut
					}
					return err
				}
				return p.printf("A new instance has begun. The addresses are the same as before. Earlier uses are not known here; old grants are not in force.\n")
			})
		},
	}
}

func (p *program) restoreCommand() *cobra.Command {
	protection := string(keys.ProtectKeyringAndPassphrase)
	var backup string
	c := &cobra.Command{
		Use:   "restore",
		Short: "Restore a vault from its recovery words or a backup file, as a new instance",
		Args:  none,
		RunE: func(c *cobra.Command, _ []string) error {
			choice := keys.Protection(protection)
			switch choice {
			case keys.ProtectKeyringAndPassphrase, keys.ProtectPassphrase, keys.ProtectKeyring:
			default:
				return usageError(fmt.Sprintf("the protection is %s, %s or %s", keys.ProtectKeyringAndPassphrase, keys.ProtectPassphrase, keys.ProtectKeyring))
			}
			file := ""
			if backup != "" {
				var err error
				if file, err = filepath.Abs(backup); err != nil {
					return err
				}
				if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
					return &failure{code: "backup_unreadable", detail: backup, status: statusUsage, err: err}
				}
			}
			return onTerminal(c.Context(), p.withAnyDesk, func(o approvals.Owner) error {
				var err error
				if file != "" {
					err = o.RestoreBackup(c.Context(), file, choice, keys.SurfaceTerminal)
				} else {
					err = o.Restore(c.Context(), choice, keys.SurfaceTerminal)
				}
				if err != nil {
					return err
				}
				return p.printf("Restored. The addresses are the same as before. Earlier uses are not known here; old grants are not in force.\n")
			})
		},
	}
	c.Flags().StringVar(&backup, "backup", "", "`file` that vault backup has written; recovery words are asked where it is not given")
	c.Flags().StringVar(&protection, "protection", protection, "what shall open it: keyring-and-passphrase, passphrase or keyring")
	return c
}
