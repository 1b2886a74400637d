// Package terminal lets a person talk with agents in a terminal, in this process or
// through the control socket of another.
package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
)

// A JoinedRoom is a place in a room: in this process, or over the socket.
type JoinedRoom interface {
	// Say returns once the line is durable.
	Say(ctx context.Context, text string) error
	// Hear returns the next thing seen in the room; io.EOF when the room is gone.
	Hear(ctx context.Context) (control.HeardLine, error)
}

// LineText returns the text of what was heard; empty shows nothing. Whatever could
// steer a terminal is shown as an escape.
func LineText(h control.HeardLine, names bool) string {
	text := textout.EscapeControls(h.Text)
	switch h.Kind {
	case "posted":
		if !names || h.Who == "" {
			return text
		}
		return h.Who + ": " + text
	case "edited":
		return h.Who + " (edited): " + text
	case "reacted":
		if h.Text == "" {
			return ""
		}
		return h.Who + " " + text
	case "skipped":
		return "[" + text + "]"
	}
	return ""
}

// printRoom writes what is heard in a room until ctx is done or the room is gone.
func printRoom(ctx context.Context, c JoinedRoom, out io.Writer, names bool) {
	for {
		h, err := c.Hear(ctx)
		if err != nil {
			return
		}
		if text := LineText(h, names); text != "" {
			fmt.Fprintln(out, text)
		}
	}
}

// TalkLines has the person say every line of in, each once all is quiet after
// the one before, and prints what the agents answer. It ends at the end of in,
// when everything that was heard is printed.
func TalkLines(ctx context.Context, c JoinedRoom, in io.Reader, out io.Writer, quiet func(context.Context) error) error {
	var printer sync.WaitGroup
	defer printer.Wait()
	hearing, stop := context.WithCancel(ctx)
	defer stop()
	printer.Go(func() { printRoom(hearing, c, out, false) })
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if text := strings.TrimSpace(lines.Text()); text != "" {
			if err := c.Say(ctx, text); err != nil {
				return err
			}
			if err := quiet(ctx); err != nil {
				return err
			}
		}
	}
	return lines.Err()
}

// TalkTerminal lets a person talk in a terminal with line editing until they
// leave with Ctrl-D, Ctrl-C or /quit.
func TalkTerminal(ctx context.Context, c JoinedRoom, in *os.File, out io.Writer, greeting string, behind *TraceView) error {
	state, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return err
	}
	t := OpenTerminal(in, out)
	defer CloseTerminal(t, in, state, out)
	fmt.Fprintf(t, "%s\n", greeting)
	var printer sync.WaitGroup
	defer printer.Wait()
	hearing, stop := context.WithCancel(ctx)
	defer stop()
	printer.Go(func() { printRoom(hearing, c, t, true) })
	if behind != nil {
		printer.Go(func() { behind.followRuns(hearing, t) })
	}
	return ForEachMessage(ctx, MessageReader(t), func(text string) error {
		if err := c.Say(ctx, text); err != nil {
			fmt.Fprintf(t, "not said: %v\n", err)
		}
		return nil
	})
}

// ForEachMessage calls say with every line that next returns until the person leaves
// with /quit or at the end of the lines. A read from a terminal cannot be
// interrupted, so one may be left behind when ctx ends, which is when the
// program does.
func ForEachMessage(ctx context.Context, next func() (string, error), say func(text string) error) error {
	type typed struct {
		text string
		err  error
	}
	lines := make(chan typed)
	go func() {
		for {
			text, err := next()
			select {
			case lines <- typed{text, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return nil
		case l := <-lines:
			text := strings.TrimSpace(l.text)
			switch {
			case errors.Is(l.err, io.EOF), text == "/quit":
				return nil
			case l.err != nil:
				return l.err
			case text == "":
				continue
			}
			if err := say(text); err != nil {
				return err
			}
		}
	}
}

// OpenTerminal returns a terminal with line editing as wide as in's window, which
// is asked to mark what is pasted.
func OpenTerminal(in *os.File, out io.Writer) *term.Terminal {
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

// CloseTerminal puts the terminal back as it was found, behind the prompt.
func CloseTerminal(t *term.Terminal, in *os.File, was *term.State, out io.Writer) {
	t.SetBracketedPasteMode(false)
	_ = term.Restore(int(in.Fd()), was) // the terminal may be gone
	fmt.Fprintln(out)
}

// mostTyped is how many characters of a line the line editing keeps: it drops what
// is typed behind them.
const mostTyped = 4096

// MessageReader returns a function that reads the messages typed in t: a line each,
// and the lines of a pasted text with the line they end in as one.
func MessageReader(t *term.Terminal) func() (string, error) {
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
