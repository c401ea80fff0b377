//go:build unix && !linux

package socket

func furtherHelper(string) (string, bool) { return "", false }
