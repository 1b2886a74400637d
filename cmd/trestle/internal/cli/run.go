package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/buildinfo"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/server"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/settingsdesk"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/terminal"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/systemd"
)

// runCommand answers `trestle run`.
type runCommand struct{ installation }

func newRunCommand(env *Environment) *cobra.Command {
	cmd := runCommand{installation{env}}
	var play, check bool
	var modelURL string
	c := &cobra.Command{
		Use: "run", Short: "serve what is configured; with nothing configured, talk in this terminal", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case play && check:
				return &apperr.Error{What: "--demo and --check are two ways to start", Where: "run", Remedy: "choose one of them", Code: apperr.Usage}
			case check:
				return cmd.checkStart(c.Context())
			case play:
				return demoCommand(cmd).demo(c.Context(), modelURL)
			case modelURL != "":
				return &apperr.Error{What: "--model belongs to --demo", Where: "run --model", Remedy: "set model.base_url in trestle.yaml, or OPENAI_BASE_URL", Code: apperr.Usage}
			}
			return cmd.serve(c.Context())
		},
	}
	c.Flags().BoolVar(&play, "demo", false, "play a small life on fake platforms of this machine; needs no token and keeps nothing")
	c.Flags().BoolVar(&check, "check", false, "start everything on a copy of the record, receive and send nothing, say what failed, and exit")
	c.Flags().StringVar(&cmd.roles, "roles", "", "what this process does, of several that share a database: some of adapters,minds,console (default all)")
	c.Flags().StringVar(&modelURL, "model", "", "with --demo: a real model endpoint in place of the scripted one")
	return c
}

func (cmd runCommand) serve(ctx context.Context) error {
	conf, err := cmd.load()
	if err != nil {
		return err
	}
	ctx, stop := stoppable(ctx)
	defer stop()
	input := cmd.input()
	alone := len(conf.Adapters) == 0 && input != inputNone && len(conf.Roles) == 0
	level, lines := slog.LevelInfo, cmd.hidden().Writer(cmd.Err)
	if alone && input == inputTerminal && !cmd.verbose { // the log would write into the conversation
		level, lines = slog.LevelError, io.Discard
	}
	if cmd.quiet {
		lines = io.Discard
	}
	s := newServer(conf, cmd.logger(level), lines, true)
	s.Manager = systemd.New(cmd.Lookup, os.Getpid())
	reload, forget := reloadAsked(input)
	defer forget()
	s.Editor = settingsdesk.New(cmd.source(), cmd.loadFrom, s.Config)
	s.Reloader = server.NewReloader(s.AccountManager, cmd.source(), cmd.loadFrom, reload)
	switch {
	case len(conf.Adapters) == 0 && !alone && len(conf.Roles) == 0:
		return s.Run(ctx, func(ctx context.Context) error { return cmd.guide(ctx, s) })
	case !alone:
		return s.Run(ctx, func(ctx context.Context) error { return cmd.announce(ctx, s) })
	}
	if room, err := s.FindRoom(""); err == nil {
		fmt.Fprint(cmd.Err, s.WakeHint(room))
	}
	return s.Run(ctx, func(ctx context.Context) error { return cmd.sit(ctx, s, terminal.ChatOptions{}) })
}

// sit connects stdin and stdout with a room of the process.
func (cmd runCommand) sit(ctx context.Context, s *server.Server, talk terminal.ChatOptions) (err error) {
	select {
	case <-s.Ready:
	case <-ctx.Done():
		return nil
	}
	place, err := s.EnterRoom(ctx, talk.Room)
	if ctx.Err() != nil && err != nil {
		return nil // stopped before anybody sat down
	}
	if err != nil {
		return err
	}
	place.Who = server.TerminalPerson(talk.As)
	defer func() { err = errors.Join(err, server.WithGrace(ctx, place.Leave)) }()
	behind, err := terminal.NewTraceView(ctx, s.Store.Console(), place.Account, place.Room.Key, talk.Show)
	if ctx.Err() != nil && err != nil {
		return nil // stopped before anybody spoke
	}
	if err != nil {
		return err
	}
	return cmd.talk(ctx, place, s.WaitQuiet, cmd.greeting(s, place), behind)
}

func (cmd runCommand) greeting(s *server.Server, place *server.LocalRoom) string {
	return fmt.Sprintf("trestle %s · %s · with %s · /quit or Ctrl-D leaves", buildinfo.Current().Version, place.Room.Name, cmp.Or(strings.Join(place.Agents(), ", "), "nobody")) + missingParts(s)
}

// missingParts says in lines what a person at the terminal would look for and what is not used.
func missingParts(s *server.Server) (text string) {
	switch {
	case s.ModelFailed() != "":
		text = "\nThe model is misconfigured (" + s.ModelFailed() + "); the built-in offline model answers."
	case s.Config().Model.Offline:
		text = "\nNo model endpoint is configured: the built-in offline model answers. Set OPENAI_BASE_URL, OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY for a real one, or start Ollama."
	}
	if unused := unusedTokens(s.Config()); unused != "" {
		text += "\n" + unused
	}
	return text
}

// talk connects stdin and stdout with a room. How the answers came about is
// shown in a terminal under them, and else on stderr: stdout is the answer.
func (cmd runCommand) talk(ctx context.Context, c terminal.JoinedRoom, quiet func(context.Context) error, greeting string, behind *terminal.TraceView) error {
	if cmd.input() == inputTerminal {
		return terminal.TalkTerminal(ctx, c, cmd.In.(*os.File), cmd.Out, terminal.ScreenOptions{Greeting: greeting, Styled: cmd.coloured(), Behind: behind})
	}
	return terminal.TalkLines(ctx, c, cmd.In, cmd.Out, func(ctx context.Context, message string) error {
		if err := quiet(ctx); err != nil {
			return err
		}
		reason, err := c.Reason(ctx, message)
		if err != nil {
			return err
		}
		if reason != "" {
			fmt.Fprintln(cmd.Err, textout.EscapeControls(reason))
		}
		lines, err := behind.News(ctx)
		for _, l := range lines {
			fmt.Fprintln(cmd.Err, l)
		}
		return err
	})
}

// chatCommand answers `trestle chat`.
type chatCommand struct{ installation }

func newChatCommand(env *Environment) *cobra.Command {
	cmd := chatCommand{installation{env}}
	var talk terminal.ChatOptions
	c := &cobra.Command{
		Use: "chat [SPACE | AGENT]", Short: "talk to an agent in this terminal", Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				talk.Room = args[0]
			}
			if err := talk.Check(); err != nil {
				return err
			}
			return cmd.chat(c.Context(), talk)
		},
	}
	c.Flags().StringVar(&talk.As, "as", "", "speak under this name, as somebody else than the operator")
	c.Flags().StringSliceVar(&talk.Show, "show", nil, "show under each answer what the frame was made of (hud), what was decided (steps)")
	return c
}

// chat talks through the process that serves the data folder; where there is
// none it runs one for itself that leaves the platforms alone.
func (cmd chatCommand) chat(ctx context.Context, talk terminal.ChatOptions) error {
	conf, err := cmd.load()
	if err != nil {
		return err
	}
	ctx, stop := stoppable(ctx)
	defer stop()
	s := newServer(conf, cmd.logger(slog.LevelWarn), io.Discard, false)
	room, unknown := s.FindRoom(talk.Room)
	if unknown == nil {
		fmt.Fprint(cmd.Err, s.WakeHint(room))
	}
	if c, running := control.DialSocket(ctx, s.Socket()); running { // which may know other rooms
		return cmd.chatOver(ctx, c, conf, talk, cmp.Or(talk.Room, room.Key))
	}
	if unknown != nil {
		return unknown
	}
	return s.Run(ctx, func(ctx context.Context) error { return runCommand(cmd).sit(ctx, s, talk) })
}

// chatOver talks over the socket of a running process, in the room of that key.
func (cmd chatCommand) chatOver(ctx context.Context, c *control.Client, conf *config.Config, talk terminal.ChatOptions, room string) (err error) {
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
		if behind, err = terminal.NewTraceView(ctx, record, server.LocalAccount, room, talk.Show); err != nil {
			return err
		}
	}
	return runCommand(cmd).talk(ctx, far, far.WaitQuiet, "talking through the running process · /quit or Ctrl-D leaves", behind)
}

// checkStart is `run --check`: it starts everything on a copy of the record,
// migrations included, says who each account is, and ends. Nothing is received,
// nothing is sent, and the record is left as it is, so that a new program can
// be tried beside the old one before the switch.
func (cmd runCommand) checkStart(ctx context.Context) (err error) {
	conf, err := cmd.load()
	if err != nil {
		return err
	}
	ctx, stop := stoppable(ctx)
	defer stop()
	dir, err := os.MkdirTemp("", "trestle-check-")
	if err != nil {
		return &apperr.Error{What: "there is no room for a copy of the record: " + err.Error(), Where: os.TempDir(), Remedy: "free some space, or point TMPDIR elsewhere", Code: apperr.Failed}
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	data := storeopen.LocationName(conf)
	if err := layOut(ctx, conf, dir); err != nil {
		return &apperr.Error{What: err.Error(), Where: data, Remedy: "see that it can be read and that there is room for a copy", Code: apperr.Failed}
	}
	conf.Data, conf.Database = dir, ""
	lines := io.Discard
	if cmd.output == "text" {
		lines = cmd.hidden().Writer(cmd.Err)
	}
	s := newServer(conf, cmd.logger(slog.LevelWarn), lines, true)
	if err := s.TryStart(ctx, data); err != nil {
		return err
	}
	r := s.Boot.Report()
	if err := cmd.answer(r, func(w io.Writer) { fmt.Fprintln(w, verdict(r)) }); err != nil {
		return err
	}
	if len(r.Failed) > 0 {
		return &reportedError{apperr.Failed}
	}
	return nil
}

func verdict(r console.Boot) string {
	if len(r.Failed) == 0 {
		return "everything starts; nothing was received, sent or changed"
	}
	return fmt.Sprintf("%d of %d stages failed; nothing was received, sent or changed", len(r.Failed), len(r.Stages))
}

// layOut puts a copy of the record into a folder to start on. A record in a
// database is not copied: it is seen that this program can read it, or will make
// it, and the start uses an empty one.
func layOut(ctx context.Context, conf *config.Config, dir string) error {
	switch {
	case storeopen.IsMissing(conf):
		return nil
	case conf.Database == "":
		return sqlite.Copy(ctx, conf.Data, filepath.Join(dir, sqlite.FileName))
	}
	there, err := storeopen.OpenReadOnly(ctx, conf)
	if errors.Is(err, engine.ErrOlder) {
		return nil
	}
	if err != nil {
		return err
	}
	return there.Close()
}
