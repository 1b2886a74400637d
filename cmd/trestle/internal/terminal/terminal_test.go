package terminal

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"golang.org/x/term"
)

// typedAs returns the messages that keys make in a terminal, and what it shows.
func typedAs(t *testing.T, keys string) (said []string, shown string) {
	t.Helper()
	var screen bytes.Buffer
	next := MessageReader(term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{strings.NewReader(keys), &screen}, ""))
	err := ForEachMessage(t.Context(), next, func(text string) error {
		said = append(said, text)
		return nil
	})
	if err != nil {
		t.Errorf("the conversation ends with %v", err)
	}
	return said, screen.String()
}

// A pasted text is one message: it is neither cut at its line ends nor does it end
// the conversation.
func TestPastedTextIsOneMessage(t *testing.T) {
	said, _ := typedAs(t, "hello\r\x1b[200~one\rtwo\x1b[201~ and three\r\x1b[200~whole\r\x1b[201~\rlast\r")
	if got, want := strings.Join(said, "|"), "hello|one\ntwo and three|whole|last"; got != want {
		t.Errorf("said %q, want %q", got, want)
	}
}

// A line that is longer than line editing keeps is told to be cut, not cut in silence.
func TestLongTypedLineIsToldToBeCut(t *testing.T) {
	said, shown := typedAs(t, strings.Repeat("x", mostTyped+9)+"\r"+strings.Repeat("y", mostTyped-1)+"\r")
	if len(said) != 2 || len(said[0]) != mostTyped || len(said[1]) != mostTyped-1 {
		t.Errorf("said %d messages", len(said))
	}
	if n := strings.Count(shown, "what came behind them is not in it"); n != 1 {
		t.Errorf("told %d times that a line is cut, want once", n)
	}
}
