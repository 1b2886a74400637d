package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/buildinfo"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/terminal"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/systemd"
	"github.com/trestle-bridge/trestle/spaces"
)

func runCommand(p *CLI) *cobra.Command {
	var play, check bool
	var modelURL string
	c := &cobra.Command{
		Use: "run", Short: "serve what is configured; with nothing configured, talk in this terminal", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case play && check:
				return &apperr.Error{What: "--demo and --check are two ways to start", Where: "run", Remedy: "choose one of them", Code: apperr.Usage}
			case check:
				return p.checkStart(c.Context())
			case play:
				return p.demo(c.Context(), modelURL)
			case modelURL != "":
				return &apperr.Error{What: "--model belongs to --demo", Where: "run --model", Remedy: "set model.base_url in trestle.yaml, or OPENAI_BASE_URL", Code: apperr.Usage}
			}
			return p.serve(c.Context())
		},
	}
	c.Flags().BoolVar(&play, "demo", false, "play a small life on fake platforms of this machine; needs no token and keeps nothing")
	c.Flags().BoolVar(&check, "check", false, "start everything on a copy of the record, receive and send nothing, say what failed, and exit")
	c.Flags().StringVar(&p.roles, "roles", "", "what this process does, of several that share a database: some of adapters,minds,console (default all)")
	c.Flags().StringVar(&modelURL, "model", "", "with --demo: a real model endpoint in place of the scripted one")
	return c
}

func (p *CLI) serve(ctx context.Context) error {
	conf, err := p.load()
	if err != nil {
		return err
	}
	ctx, stop := stoppable(ctx)
	defer stop()
	input := p.input()
	alone := len(conf.Adapters) == 0 && input != inputNone && len(conf.Roles) == 0
	level, lines := slog.LevelInfo, p.hidden().Writer(p.errs)
	if alone && input == inputTerminal && !p.verbose { // the log would write into the conversation
		level, lines = slog.LevelError, io.Discard
	}
	if p.quiet {
		lines = io.Discard
	}
	s := newProcess(conf, p.logger(level), lines, true)
	s.manager = systemd.New(p.lookup, os.Getpid())
	reload, forget := reloadAsked(input)
	defer forget()
	s.reloader = newReloader(s.components, p.source(), p.loadFrom, reload)
	switch {
	case len(conf.Adapters) == 0 && !alone && len(conf.Roles) == 0:
		return s.run(ctx, func(ctx context.Context) error { return p.guide(ctx, s) })
	case !alone:
		return s.run(ctx, func(ctx context.Context) error { return p.announce(ctx, s) })
	}
	if room, err := s.findRoom(""); err == nil {
		fmt.Fprint(p.errs, s.howToWake(room))
	}
	return s.run(ctx, func(ctx context.Context) error { return p.sit(ctx, s, terminal.ChatOptions{}) })
}

// sit seats whoever is at stdin in a room and lets them talk.
func (p *CLI) sit(ctx context.Context, s *Server, talk terminal.ChatOptions) (err error) {
	select {
	case <-s.ready:
	case <-ctx.Done():
		return nil
	}
	place, err := s.enter(ctx, talk.Room)
	if ctx.Err() != nil && err != nil {
		return nil // stopped before anybody sat down
	}
	if err != nil {
		return err
	}
	place.who = personNamed(talk.As)
	defer func() { err = errors.Join(err, lastly(ctx, place.Leave)) }()
	behind, err := terminal.NewTraceView(ctx, s.store.Console(), place.account, place.room.Key, talk.Show)
	if ctx.Err() != nil && err != nil {
		return nil // stopped before anybody spoke
	}
	if err != nil {
		return err
	}
	return p.talk(ctx, place, s.quiet, p.greeting(s, place), behind)
}

func (p *CLI) greeting(s *Server, place *localRoom) string {
	text := fmt.Sprintf("trestle %s · %s · with %s · /quit or Ctrl-D leaves", buildinfo.Current().Version, place.room.Name, cmp.Or(strings.Join(place.agents(), ", "), "nobody"))
	switch {
	case s.modelFailed() != "":
		text += "\nThe model is misconfigured (" + s.modelFailed() + "); the built-in offline model answers."
	case s.config().Model.Offline:
		text += "\nNo model endpoint is configured: the built-in offline model answers. Set OPENAI_BASE_URL or OPENAI_API_KEY for a real one."
	}
	return text
}

// talk connects stdin and stdout with a chair. What stands behind the answers is
// shown in a terminal under them, and else on stderr: stdout is the answer.
func (p *CLI) talk(ctx context.Context, c terminal.Room, quiet func(context.Context) error, greeting string, behind *terminal.TraceView) error {
	if p.input() == inputTerminal {
		return terminal.TalkTerminal(ctx, c, p.in.(*os.File), p.out, greeting, behind)
	}
	return terminal.TalkLines(ctx, c, p.in, p.out, func(ctx context.Context) error {
		if err := quiet(ctx); err != nil {
			return err
		}
		lines, err := behind.News(ctx)
		for _, l := range lines {
			fmt.Fprintln(p.errs, l)
		}
		return err
	})
}

func chatCommand(p *CLI) *cobra.Command {
	var talk terminal.ChatOptions
	c := &cobra.Command{
		Use: "chat [SPACE]", Short: "talk to an agent in this terminal", Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				talk.Room = args[0]
			}
			if err := talk.Check(); err != nil {
				return err
			}
			return p.chat(c.Context(), talk)
		},
	}
	c.Flags().StringVar(&talk.As, "as", "", "speak under this name, as somebody else than the operator")
	c.Flags().StringSliceVar(&talk.Show, "show", nil, "show under each answer what the frame was made of (hud), what was decided (steps)")
	return c
}

// chat talks through the process that serves the data folder; where there is
// none it runs one for itself that leaves the platforms alone.
func (p *CLI) chat(ctx context.Context, talk terminal.ChatOptions) error {
	conf, err := p.load()
	if err != nil {
		return err
	}
	ctx, stop := stoppable(ctx)
	defer stop()
	s := newProcess(conf, p.logger(slog.LevelWarn), io.Discard, false)
	room, unknown := s.findRoom(talk.Room)
	if unknown == nil {
		fmt.Fprint(p.errs, s.howToWake(room))
	}
	if c, running := control.DialSocket(ctx, s.socket()); running { // which may know other rooms
		return p.chatOver(ctx, c, conf, talk, cmp.Or(talk.Room, room.Key))
	}
	if unknown != nil {
		return unknown
	}
	return s.run(ctx, func(ctx context.Context) error { return p.sit(ctx, s, talk) })
}

// howToWake says how the agents of a room are woken where plain words wake none of
// them; else nothing.
func (p *components) howToWake(room config.SpaceEntry) string {
	pair := len(room.Agents) == 1 && len(room.Chats) == 0
	direct := pair && room.Key == homeRoom
	var names []string
	for _, id := range room.Agents {
		a, ok := p.config().Agent(id)
		if !ok {
			continue
		}
		wake := p.config().SettingsFor(id, room.Key).Wake
		if wake == spaces.WakeAll || direct && wake != spaces.WakeNone || pair && wake == spaces.WakeAuto {
			return ""
		}
		names = append(names, "@"+a.Name)
	}
	if len(names) == 0 {
		return ""
	}
	return "in " + room.Key + " agents answer when they are named: " + strings.Join(names, ", ") + "\n"
}

// chatOver talks over the socket of a running process, in the room of that key.
func (p *CLI) chatOver(ctx context.Context, c *control.Client, conf *config.Config, talk terminal.ChatOptions, room string) (err error) {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	far := terminal.NewRemoteRoom(c, talk)
	var dropped error
	over := make(chan struct{})
	go func() {
		defer close(over)
		dropped = c.Stream(ctx, "/chat?space="+url.QueryEscape(talk.Room), func(body io.Reader) error { return far.ReadStream(ctx, body) })
	}()
	select {
	case <-over:
		return dropped
	case <-far.Opened:
	}
	defer func() {
		leave()
		<-over
	}()
	var behind *terminal.TraceView
	if len(talk.Show) > 0 {
		record, err := storeopen.OpenReadOnly(ctx, conf)
		if err != nil {
			return err
		}
		defer func() { _ = record.Close() }() // it was only read
		if behind, err = terminal.NewTraceView(ctx, record, localAccount, room, talk.Show); err != nil {
			return err
		}
	}
	return p.talk(ctx, far, far.WaitQuiet, "talking through the running process · /quit or Ctrl-D leaves", behind)
}
