//go:build goexperiment.runtimesecret

package custody

import "runtime/secret"

// Erasing says whether this build erases the registers, stack and heap that a
// function given to [Do] used.
const Erasing = true

// Do runs f so that what it leaves on the stack is erased when it returns, and
// what it leaves on the heap when the garbage collector finds it dead.
// Goroutines that f starts are not covered.
func Do(f func()) { secret.Do(f) }
