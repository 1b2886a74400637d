package main

import "testing"

// Issue 2, memory when idle: the program's own text is let go of, and the program
// runs on.
func TestTheTextOfTheStartIsLetGo(t *testing.T) {
	const least = 4 << 20 // no build of this program has less text
	for range 2 {
		if got := dropText(); got < least {
			t.Errorf("%d bytes were let go of", got)
		}
	}
}
