//go:build !unix

package bot

// syncFolder has nothing to do here.
func syncFolder(string) error { return nil }
