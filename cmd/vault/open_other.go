//go:build !unix

package main

// noWait is nothing here: opening a file does not wait.
const noWait = 0
