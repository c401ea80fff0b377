package ceremony

import (
	"errors"
	"fmt"
	"os"

	"vault/cmd/internal/hygiene"
)

// Open starts the program `vault` at path (absolute) as ceremony helper, with its
// end of a new line as descriptor 3, and returns the other end. The helper ends with its line.
func Open(path string, stderr *os.File) (*Line, error) {
	here, there, err := hygiene.LinePair("ceremony")
	if err != nil {
		return nil, fmt.Errorf("open ceremony: %w", err)
	}
	defer there.Close()
	p, err := hygiene.Start(hygiene.Command{Path: path, Args: []string{"ceremony"}, Stderr: stderr, Files: []*os.File{there}})
	if err != nil {
		return nil, fmt.Errorf("open ceremony: %w", errors.Join(err, here.Close()))
	}
	go func() {
		// It ends by itself when its line does; how it ended changes nothing.
		_, _ = p.Wait()
	}()
	return NewLine(here), nil
}
