package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/server"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/readmodel"
)

// An installation is what the configuration names: a data folder or database, with or
// without a process that serves it, here or on the machine of --remote. Commands embed it.
type installation struct{ *Environment }

// look opens the record for reading, beside a running process or without one,
// and hands it to see.
func (in installation) look(ctx context.Context, see func(c *config.Config, r readmodel.ReadModel) error) (err error) {
	conf, err := in.load()
	if err != nil {
		return err
	}
	if err := storeopen.CheckAccess(conf); err != nil {
		return err
	}
	if storeopen.IsMissing(conf) {
		return storeopen.MissingError(conf)
	}
	store, err := storeopen.OpenReadOnly(ctx, conf)
	switch {
	case errors.Is(err, engine.ErrOlder):
		return &apperr.Error{What: err.Error(), Where: storeopen.LocationName(conf), Remedy: comeUpFirst(conf), Code: apperr.Failed}
	case errors.Is(err, engine.ErrNewer):
		return &apperr.Error{What: err.Error(), Where: storeopen.LocationName(conf), Remedy: storeopen.FixNewer, Code: apperr.Failed}
	}
	if err != nil {
		return storeopen.ReadError(err, conf)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return see(conf, store)
}

// comeUpFirst says how a record of an older schema becomes one that can be read.
func comeUpFirst(c *config.Config) string {
	if c.Database != "" {
		return "start trestle run once, with no older process beside it: it brings the record up to date. No copy of a database is made by itself: make one with pg_dump first"
	}
	return "start trestle run once: it brings the record up to date and sets a copy of it aside"
}

// sinceFlag reads how far back a list goes; nothing is for ever.
func sinceFlag(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	d, err := config.ParseDuration(text)
	if err != nil || d < 0 {
		return time.Time{}, &apperr.Error{What: fmt.Sprintf("%q is no length of time", text), Where: "--since", Remedy: "write 90s, 5m, 2h or 7d", Code: apperr.Usage}
	}
	return time.Now().Add(-d), nil
}

// migrating returns what shows a migration on stderr.
func (in installation) migrating() *storeopen.MigrationProgress {
	m := &storeopen.MigrationProgress{Out: in.Err, Printer: in.progress()}
	if in.quiet || in.output != "text" {
		m.Out = io.Discard
	}
	return m
}

// reloadAsked returns a channel of wishes to read the configuration again: SIGHUP,
// but where the program has a terminal, whose end the signal is.
func reloadAsked(i inputKind) (asked <-chan os.Signal, forget func()) {
	if i == inputTerminal {
		return nil, func() {}
	}
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}

// A readContext is what a reading command looks at: a configuration, the record,
// and the process that serves it.
type readContext struct {
	readmodel.ReadModel
	conf *config.Config
	// health returns the state of the process; nil where none runs.
	health func(context.Context) (*console.Health, error)
	// unkept lists the problems that the process holds since the record cannot
	// take them; none where nothing runs.
	unkept func(context.Context) ([]alerts.Alert, error)
}

// troubles returns the open problems and those that closed after since, whether
// the record could take them or not.
func (o readContext) troubles(ctx context.Context, since time.Time) ([]alerts.Alert, error) {
	rows, err := o.ReadModel.Problems().Problems(ctx, since)
	if err != nil {
		return nil, err
	}
	held, err := o.unkept(ctx)
	return alerts.Overlay(rows, held, since), err
}

// tellers are the reading commands whose answer is more than the API's own. Each
// is given its arguments and returns what it answers with -o json.
var tellers = map[string]func(context.Context, readContext, url.Values) (any, error){
	"status":        tellStatus,
	"adapters show": tellAdapter,
	"problems":      tellProblems,
	"jobs":          tellJobs,
	"hud":           tellHUD,
	"explain":       tellSaid,
	"events":        tellEvents,
	"config show":   tellConfig,
}

// consult returns what a reading command answers: made from the record here, or
// by the process of the machine that --remote names.
func consult[T any](ctx context.Context, in installation, command string, q url.Values) (answer T, err error) {
	if in.remote != "" {
		err := in.askRemote(ctx, "/api/answers/"+url.PathEscape(command)+"?"+q.Encode(), &answer)
		return answer, nothing(err, "the other machine does not know this command", "--remote "+in.remote, "see that its trestle is as new as this one")
	}
	err = in.despite(ctx, "/api/answers/"+url.PathEscape(command)+"?"+q.Encode(), &answer, in.look(ctx, func(conf *config.Config, r readmodel.ReadModel) error {
		o := readContext{ReadModel: r, conf: conf}
		o.health = func(ctx context.Context) (*console.Health, error) {
			return there[*console.Health](ctx, conf, "/health")
		}
		o.unkept = func(ctx context.Context) ([]alerts.Alert, error) {
			return there[[]alerts.Alert](ctx, conf, control.UnstoredProblemsPath)
		}
		told, err := tellers[command](ctx, o, q)
		answer, _ = told.(T)
		return err
	}))
	return answer, err
}

// there reads what the process that serves the data folder says at a path; nothing
// where none does.
func there[T any](ctx context.Context, conf *config.Config, path string) (a T, err error) {
	if c, running := control.DialSocket(ctx, control.SocketPath(conf)); running {
		err = c.Get(ctx, path, &a)
	}
	return a, err
}

// answerCommand is the [Server.Answers] of every process that a command starts.
func answerCommand(ctx context.Context, s *server.Server, command string, q url.Values) (any, error) {
	tell, ok := tellers[strings.TrimSpace(command)]
	if !ok {
		return nil, console.ErrUnknown
	}
	o := readContext{ReadModel: s.Store.Console(), conf: s.Config()}
	o.health = func(context.Context) (*console.Health, error) { return new(s.Health()), nil }
	o.unkept = func(context.Context) ([]alerts.Alert, error) {
		held, _ := s.Unstored.Held()
		return held, nil
	}
	return tell(ctx, o, q)
}

// newServer prepares a process that answers commands, too; nothing is opened.
func newServer(c *config.Config, log *slog.Logger, lines io.Writer, platforms bool) *server.Server {
	s := server.NewServer(c, log, lines, platforms)
	s.Answers, s.Rehearse = answerCommand, rehearseForConsole
	return s
}
