package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"vault/approvals"
	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/cmd/vault/internal/elsewhere"
	"vault/cmd/vault/internal/tty"
	"vault/ipc/socket"
)

func (p *program) socketCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "socket",
		Short: "Sockets for further users of this computer, over which their programs can ask",
		Long: "A program under another account reaches the vault over a socket of its own, which you add with a passkey. It can ask\n" +
			"what agents can ask, and decides nothing. Removing it needs nothing and counts at once.",
		Args: none,
		RunE: func(*cobra.Command, []string) error { return usageError("say list, add or remove") },
	}
	c.AddCommand(p.socketList(), p.socketAdd(), p.socketRemove())
	return c
}

// orDesk asks the desk that is open; where none is, with opens one for it.
func (p *program) orDesk(ctx context.Context, q elsewhere.Question, with func() error) error {
	t, err := p.elsewhere(ctx, q)
	var f *failure
	switch {
	case errors.As(err, &f) && f.code == "not_running":
		return with()
	case err != nil:
		return err
	case t.Code != "done":
		return fail(t.Code, nil)
	}
	return nil
}

func (p *program) socketList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the sockets for further users",
		Args:  none,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.orDesk(c.Context(), elsewhere.Question{Do: "socket.list"}, func() error {
				return p.withDesk(c.Context(), func(o approvals.Owner) error { return p.printSockets(o) })
			})
		},
	}
}

func (p *program) printSockets(o approvals.Owner) error {
	return p.printf("%s", elsewhere.Sockets(o.Sockets(), time.Local))
}

func (p *program) socketAdd() *cobra.Command {
	var who, at string
	c := &cobra.Command{
		Use:   "add --for USER",
		Short: "Add a socket for one further user, confirmed with a passkey",
		Args:  none,
		RunE: func(c *cobra.Command, _ []string) error {
			if who == "" {
				return usageError("name the user with --for")
			}
			if at != "" && !journal.IsSocketPath(at) {
				return usageError("the path is absolute, without a dot or two slashes in a row")
			}
			if err := p.addSocket(c.Context(), who, at); err != nil {
				return err
			}
			return p.printf("Its programs find it with VAULT_SOCK set to that path and VAULT_SOCK_OWNER set to %d.\n", os.Geteuid())
		},
	}
	c.Flags().StringVar(&who, "for", "", "the `user`, by account or number")
	c.Flags().StringVar(&at, "at", "", "absolute `path` of the socket, in a folder of its own; in /tmp where it is not given")
	return c
}

func (p *program) addSocket(ctx context.Context, who, at string) error {
	return p.orDesk(ctx, elsewhere.Question{Do: "socket.add", User: who, Path: at}, func() error {
		dev, err := tty.Open()
		if err != nil {
			return err
		}
		defer dev.Close()
		return p.withDesk(ctx, func(o approvals.Owner) error {
			if err := o.Unlock(ctx, keys.SurfaceTerminal); err != nil {
				return err
			}
			code := ""
			err := p.terminal(dev, o).Confirmed(ctx, "Added. It is served as soon as the vault runs and was unlocked.", func(ctx context.Context) (approvals.Outcome, error) {
				out, err := o.AddSocket(ctx, approvals.FurtherUser{User: who, Path: at})
				code = out.Code
				return out, err
			})
			switch {
			case err != nil:
				return err
			case code != approvals.OutcomeDone:
				return fail(code, nil)
			}
			return p.printSockets(o)
		})
	})
}

func (p *program) socketRemove() *cobra.Command {
	var who string
	c := &cobra.Command{
		Use:   "remove --for USER",
		Short: "Remove the socket for a user, at once; needs no passkey and no unlocked vault",
		Args:  none,
		RunE: func(c *cobra.Command, _ []string) error {
			id, err := userNumber(who)
			if err != nil {
				return err
			}
			if err := p.orDesk(c.Context(), elsewhere.Question{Do: "socket.remove", UserID: id}, func() error {
				return p.withDesk(c.Context(), func(o approvals.Owner) error { return o.RemoveSocket(c.Context(), id) })
			}); err != nil {
				return err
			}
			return p.printf("Removed. User %d reaches this vault no more.\n", id)
		},
	}
	c.Flags().StringVar(&who, "for", "", "the `user`, by account or number")
	return c
}

// userNumber is the id of an account; a number is taken as it is, also where the account has gone.
func userNumber(who string) (int64, error) {
	if who == "" {
		return 0, usageError("name the user with --for")
	}
	id, err := socket.OwnerOf(who)
	if err != nil {
		return 0, fail("unknown_user", err)
	}
	return id, nil
}
