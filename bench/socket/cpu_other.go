//go:build !unix

package socket

import "time"

// processorTime is not known here.
func processorTime() time.Duration { return 0 }
