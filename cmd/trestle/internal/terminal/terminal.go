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

	"golang.org/x/term"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
)

// A JoinedRoom is a place in a room: in this process, or over the socket.
type JoinedRoom interface {
	// Say returns the id of the line once it is durable.
	Say(ctx context.Context, text string) (message string, err error)
	// Reason waits, for a bounded time, until the agents have judged a message, and returns in one
	// sentence why it woke none; "" when it woke one, or when that is not known.
	Reason(ctx context.Context, message string) (string, error)
	// Hear returns the next thing seen in the room; io.EOF when the room is gone.
	Hear(ctx context.Context) (control.HeardLine, error)
}

// LineForm says how what was heard is shown.
type LineForm struct {
	Names  bool // with the names of the authors of messages
	Styled bool // with Markdown rendered for a terminal
}

// LineText returns the text of what was heard; empty shows nothing. Whatever could
// steer a terminal is shown as an escape.
func LineText(h control.HeardLine, form LineForm) string {
	who, text := textout.EscapeControls(h.Who), textout.EscapeControls(h.Text)
	switch h.Kind {
	case "posted":
		if !form.Names || who == "" {
			return form.message("", h.Text)
		}
		return form.message(who+":", h.Text)
	case "edited":
		return form.message(who+" (edited):", h.Text)
	case "reacted":
		if text == "" {
			return ""
		}
		return who + " " + text
	case "skipped":
		return "[" + text + "]"
	}
	return ""
}

// message returns a message behind who wrote it. What was rendered in several lines begins on a
// line of its own, so that its columns are aligned.
func (f LineForm) message(who, text string) string {
	shown, gap := textout.EscapeControls(text), " "
	if f.Styled {
		if shown = renderMarkdown(text); strings.Contains(shown, "\n") {
			gap = "\n"
		}
	}
	if who == "" {
		return shown
	}
	return who + gap + shown
}

// printRoom writes what is heard in a room until ctx is done or the room is gone.
func printRoom(ctx context.Context, c JoinedRoom, out io.Writer, form LineForm) {
	for {
		h, err := c.Hear(ctx)
		if err != nil {
			return
		}
		if text := LineText(h, form); text != "" {
			fmt.Fprintln(out, text)
		}
	}
}

// TalkLines has the person say every line of in, each once quiet has returned for
// the message before, and prints what the agents answer. It ends at the end of in,
// when everything that was heard is printed.
func TalkLines(ctx context.Context, c JoinedRoom, in io.Reader, out io.Writer, quiet func(ctx context.Context, message string) error) error {
	var printer sync.WaitGroup
	defer printer.Wait()
	hearing, stop := context.WithCancel(ctx)
	defer stop()
	printer.Go(func() { printRoom(hearing, c, out, LineForm{}) })
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if text := strings.TrimSpace(lines.Text()); text != "" {
			message, err := c.Say(ctx, text)
			if err != nil {
				return err
			}
			if err := quiet(ctx, message); err != nil {
				return err
			}
		}
	}
	return lines.Err()
}

// ScreenOptions say what a terminal shows beside what is said.
type ScreenOptions struct {
	Greeting string
	Styled   bool       // Markdown is rendered
	Behind   *TraceView // shown under the answers; nil shows nothing
}

// TalkTerminal lets a person talk in a terminal with line editing until they
// leave with Ctrl-D, Ctrl-C or /quit.
func TalkTerminal(ctx context.Context, c JoinedRoom, in *os.File, out io.Writer, screen ScreenOptions) error {
	state, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return err
	}
	t := OpenTerminal(in, out)
	defer CloseTerminal(t, in, state, out)
	fmt.Fprintf(t, "%s\n", screen.Greeting)
	var printer sync.WaitGroup
	defer printer.Wait()
	hearing, stop := context.WithCancel(ctx)
	defer stop()
	printer.Go(func() { printRoom(hearing, c, t, LineForm{Names: true, Styled: screen.Styled}) })
	if screen.Behind != nil {
		printer.Go(func() { screen.Behind.followRuns(hearing, t) })
	}
	return ForEachMessage(ctx, t.ReadMessage, func(text string) error {
		message, err := c.Say(ctx, text)
		if err != nil {
			fmt.Fprintf(t, "not said: %v\n", err)
			return nil
		}
		printer.Go(func() { printReason(hearing, c, message, t, screen.Styled) })
		return nil
	})
}

// printReason writes why a message woke no agent, grey if styled. What cannot be found out is
// not written.
func printReason(ctx context.Context, c JoinedRoom, message string, out io.Writer, styled bool) {
	reason, err := c.Reason(ctx, message)
	if err != nil || reason == "" {
		return
	}
	reason = textout.EscapeControls(reason)
	if styled {
		reason = "\x1b[90m" + reason + "\x1b[39m"
	}
	fmt.Fprintln(out, reason)
}

// ForEachMessage calls say with every message that next returns until the person leaves
// with /quit or at the end of the messages. A read from a terminal cannot be
// interrupted, so one may be left behind when ctx ends, which is when the
// program does.
func ForEachMessage(ctx context.Context, next func() (string, error), say func(text string) error) error {
	type typed struct {
		text string
		err  error
	}
	ctx, leave := context.WithCancel(ctx)
	defer leave()
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
