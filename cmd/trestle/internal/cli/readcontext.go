package cli

import (
	"context"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/server"
	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/readmodel"
)

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
func consult[T any](ctx context.Context, p *CLI, command string, q url.Values) (answer T, err error) {
	if p.remote != "" {
		err := p.askRemote(ctx, "/api/answers/"+url.PathEscape(command)+"?"+q.Encode(), &answer)
		return answer, nothing(err, "the other machine does not know this command", "--remote "+p.remote, "see that its trestle is as new as this one")
	}
	err = p.despite(ctx, "/api/answers/"+url.PathEscape(command)+"?"+q.Encode(), &answer, p.look(ctx, func(conf *config.Config, r readmodel.ReadModel) error {
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
	s.Answers = answerCommand
	return s
}
