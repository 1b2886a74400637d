package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/trestle-bridge/trestle/adapters/local"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
)

// A chatRoom is a place in a room: in this process, or over the socket.
type chatRoom interface {
	// Say returns once the line is durable.
	Say(ctx context.Context, text string) error
	// Hear returns the next thing seen in the room; io.EOF when the room is gone.
	Hear(ctx context.Context) (control.HeardLine, error)
}

// Hear returns the next thing seen in the room.
func (s *localRoom) Hear(ctx context.Context) (control.HeardLine, error) {
	shown, err := s.sub.Next(ctx)
	if err != nil {
		return control.HeardLine{}, err
	}
	return s.line(shown), nil
}

// line is what a terminal shows of something seen.
func (s *localRoom) line(shown local.RoomEvent) control.HeardLine {
	switch v := shown.(type) {
	case local.Posted:
		return control.HeardLine{Kind: "posted", Who: s.speaker(v.From), Text: v.Text}
	case local.Said:
		return control.HeardLine{Kind: "said", Who: v.From.Name, Text: v.Text}
	case local.Edited:
		return control.HeardLine{Kind: "edited", Who: s.own(), Text: v.Text}
	case local.Deleted:
		return control.HeardLine{Kind: "deleted", Who: s.own(), Text: ""}
	case local.Reacted:
		return control.HeardLine{Kind: "reacted", Who: s.own(), Text: v.Emoji}
	case local.Typing:
		if mark, ok := strings.CutPrefix(v.Thread, control.QuietMark); ok {
			return control.HeardLine{Kind: "quiet", Text: mark}
		}
		return control.HeardLine{Kind: "typing", Who: s.own()}
	case local.Dropped:
		return control.HeardLine{Kind: "skipped", Text: fmt.Sprintf("%d lines were not shown", v.N)}
	}
	panic("terminal: an unknown thing is shown")
}

// lineText returns the text of what was heard; empty shows nothing. Whatever could
// steer a terminal is shown as an escape.
func lineText(h control.HeardLine, names bool) string {
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

// hear writes what is heard in a room until ctx is done or the room is gone.
func hear(ctx context.Context, c chatRoom, out io.Writer, names bool) {
	for {
		h, err := c.Hear(ctx)
		if err != nil {
			return
		}
		if text := lineText(h, names); text != "" {
			fmt.Fprintln(out, text)
		}
	}
}

// talkLines has the person say every line of in, each once all is quiet after
// the one before, and prints what the agents answer. It ends at the end of in,
// when everything that was heard is printed.
func talkLines(ctx context.Context, c chatRoom, in io.Reader, out io.Writer, quiet func(context.Context) error) error {
	var printer sync.WaitGroup
	defer printer.Wait()
	hearing, stop := context.WithCancel(ctx)
	defer stop()
	printer.Go(func() { hear(hearing, c, out, false) })
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

// talkTerminal lets a person talk in a terminal with line editing until they
// leave with Ctrl-D, Ctrl-C or /quit.
func talkTerminal(ctx context.Context, c chatRoom, in *os.File, out io.Writer, greeting string, behind *traceView) error {
	state, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return err
	}
	t := newTerminal(in, out)
	defer leaveTerminal(t, in, state, out)
	fmt.Fprintf(t, "%s\n", greeting)
	var printer sync.WaitGroup
	defer printer.Wait()
	hearing, stop := context.WithCancel(ctx)
	defer stop()
	printer.Go(func() { hear(hearing, c, t, true) })
	if behind != nil {
		printer.Go(func() { behind.follow(hearing, t) })
	}
	return eachTyped(ctx, typedBy(t), func(text string) error {
		if err := c.Say(ctx, text); err != nil {
			fmt.Fprintf(t, "not said: %v\n", err)
		}
		return nil
	})
}

// eachTyped calls say with every line that next returns until the person leaves
// with /quit or at the end of the lines. A read from a terminal cannot be
// interrupted, so one may be left behind when ctx ends, which is when the
// program does.
func eachTyped(ctx context.Context, next func() (string, error), say func(text string) error) error {
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

// quiet waits until nothing is under way that the terminal could still be shown:
// no row waits, no cycle is open, nothing is to be sent to its rooms. It looks at
// the record, so that nothing can be missed between two parts.
func (s *Server) quiet(ctx context.Context) error {
	here, err := s.rooms.Connect(ctx)
	if err != nil {
		return err
	}
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for {
		n, err := s.store.Console().Tally(ctx, time.Now())
		if err != nil {
			return err
		}
		unsent, err := s.store.Console().Unsent(ctx, here.Key())
		if err != nil {
			return err
		}
		if n.Inbox == 0 && n.Open == 0 && unsent == 0 && s.shell.Idle() {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-look.C:
		}
	}
}
