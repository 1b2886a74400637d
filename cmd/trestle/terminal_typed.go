package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// newTerminal returns a terminal with line editing as wide as in's window, which
// is asked to mark what is pasted.
func newTerminal(in *os.File, out io.Writer) *term.Terminal {
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{in, out}, "you: ")
	if width, height, err := term.GetSize(int(in.Fd())); err == nil && width > 0 {
		_ = t.SetSize(width, height) // it stays as wide as it was
	}
	t.SetBracketedPasteMode(true)
	return t
}

// leaveTerminal puts the terminal back as it was found, behind the prompt.
func leaveTerminal(t *term.Terminal, in *os.File, was *term.State, out io.Writer) {
	t.SetBracketedPasteMode(false)
	_ = term.Restore(int(in.Fd()), was) // the terminal may be gone
	fmt.Fprintln(out)
}

// mostTyped is how many characters of a line the line editing keeps: it drops what
// is typed behind them.
const mostTyped = 4096

// typedBy returns what reads the messages that somebody types in t: a line each,
// and the lines of a pasted text with the line they end in as one.
func typedBy(t *term.Terminal) func() (string, error) {
	return func() (string, error) {
		var pasted []string
		for {
			line, err := t.ReadLine()
			if utf8.RuneCountInString(line) >= mostTyped {
				fmt.Fprintf(t, "[a line holds %d characters; what came behind them is not in it. For longer ones: trestle chat < FILE]\n", mostTyped)
			}
			pasted = append(pasted, line)
			if !errors.Is(err, term.ErrPasteIndicator) {
				return strings.Join(pasted, "\n"), err
			}
		}
	}
}
