package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"vault/cmd/internal/hygiene"
	"vault/cmd/vault/internal/tty"
)

// version is set when the program is built.
var version = "0.0.0"

// program is what the commands need of the process they run in.
type program struct {
	out, errOut io.Writer
	columns     int // of the terminal that out is; 0 where it is none
	stdin       *os.File
	getenv      func(string) string
	now         func() time.Time
	demo        bool // a vault that is made now is marked as throw-away; it grants nothing
}

func main() { os.Exit(run()) }

func run() int {
	p := &program{out: os.Stdout, errOut: os.Stderr, columns: tty.Columns(os.Stdout), stdin: os.Stdin, getenv: os.Getenv, now: time.Now}
	// What an agent runs is not the vault's: it stays an ordinary process, so that the
	// vault can observe what it is.
	if len(os.Args) < 2 || os.Args[1] != "agent" && os.Args[1] != "bot" && os.Args[1] != "mcp" {
		if err := hygiene.Harden(os.Args); err != nil {
			return p.report(err)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	return p.execute(ctx, os.Args[1:])
}

// execute runs the command that args name and gives the exit status.
func (p *program) execute(ctx context.Context, args []string) int {
	root := p.root()
	root.SetArgs(args)
	root.SetOut(p.out)
	root.SetErr(p.errOut)
	return p.report(root.ExecuteContext(ctx))
}

// root is the list of all commands.
func (p *program) root() *cobra.Command {
	c := &cobra.Command{
		Use:   "vault",
		Short: "Keep your keys, and decide what your agents may bind you to",
		Long: "Without a command, vault opens its window.\n\n" +
			"Exit statuses: 0 done; 1 not done, or not valid; 2 not understood; 3 (verify, sow verify) self-consistent and not pinned.",
		Args:          none,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(c *cobra.Command, _ []string) error { return p.window(c.Context()) },
	}
	p.demoFlag(c)
	c.CompletionOptions.DisableDefaultCmd = true
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError(err.Error()) })
	c.AddCommand(
		p.serveCommand(),
		p.verifyCommand(),
		p.logCommand(),
		p.backupCommand(),
		p.restoreCommand(),
		p.restoredCommand(),
		p.lockCommand(),
		p.doctorCommand(),
		p.agentCommand(),
		p.botCommand(),
		p.mcpCommand(),
		p.momentCommand(),
		p.pendingCommand(),
		p.showCommand(),
		p.decideCommand(),
		p.cardCommand(),
		p.socketCommand(),
		p.sowCommand(),
		p.versionCommand(),
		p.secretCommand(),
		p.ceremonyCommand(),
	)
	return c
}

// demoFlag lets the owner mark the vault that they are about to make. The mark goes
// into its sealed header and stands on every window from then on.
func (p *program) demoFlag(c *cobra.Command) {
	c.Flags().BoolVar(&p.demo, "demo", false, "mark a new vault as a throw-away one; changes nothing else, and nothing in a vault that exists")
}

func none(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError("there is no command or argument " + args[0])
	}
	return nil
}

func exactly(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return usageError("give " + what)
		}
		return nil
	}
}

func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version and how this program was built",
		Args:  none,
		RunE: func(*cobra.Command, []string) error {
			return p.printf("vault %s, %s %s/%s, %s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH, form)
		},
	}
}

// home is the vault's folder: VAULT_HOME, else agent-vault in XDG_DATA_HOME, else in
// .local/share of the home folder. Naming another folder grants nothing.
func (p *program) home() (string, error) {
	if dir := p.getenv("VAULT_HOME"); dir != "" {
		if !filepath.IsAbs(dir) {
			return "", usageError("VAULT_HOME is not an absolute path")
		}
		return filepath.Clean(dir), nil
	}
	data := p.getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(data) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fail("no_home", err)
		}
		data = filepath.Join(home, ".local", "share")
		if runtime.GOOS == "windows" {
			if data, err = os.UserConfigDir(); err != nil {
				return "", fail("no_home", err)
			}
		}
	}
	return filepath.Join(data, "agent-vault"), nil
}
