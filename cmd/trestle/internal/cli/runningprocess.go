package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/server"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
)

// server returns the configuration and the process that serves its data folder, nil where none
// does. A process that runs while the file is invalid still answers; the configuration is nil
// then.
func (in installation) server(ctx context.Context) (*config.Config, *control.Client, error) {
	conf, err := in.load()
	if err != nil {
		c, running := in.stillServed(ctx, err)
		if !running {
			return nil, nil, err
		}
		return nil, c, nil
	}
	if c, running := control.DialSocket(ctx, control.SocketPath(conf)); running {
		return conf, c, nil
	}
	return conf, nil, storeopen.CheckAccess(conf)
}

// running returns the process that serves the data folder.
func (in installation) running(ctx context.Context) (*control.Client, error) {
	conf, c, err := in.server(ctx)
	if err == nil && c == nil {
		err = &apperr.Error{What: "no process serves this data folder", Where: conf.Data, Remedy: "start it with trestle run", Code: apperr.TryAgain}
	}
	return c, err
}

// get reads the answer of a path of the process that serves the data folder into a.
func (in installation) get(ctx context.Context, path string, a any) error {
	c, err := in.running(ctx)
	if err != nil {
		return err
	}
	return c.Get(ctx, path, a)
}

// post sends q to a path of the process that serves the data folder, and reads the answer into
// a.
func (in installation) post(ctx context.Context, path string, q, a any) error {
	c, err := in.running(ctx)
	if err != nil {
		return err
	}
	return c.Post(ctx, path, q, a)
}

// stillServed returns the process that still uses an earlier configuration although the file is
// invalid for the reason err, and prints that once.
func (in installation) stillServed(ctx context.Context, err error) (*control.Client, bool) {
	invalid, ok := errors.AsType[*config.InvalidError](err)
	if !ok {
		return nil, false
	}
	conf, _ := in.load()
	if conf == nil {
		return nil, false
	}
	c, running := control.DialSocket(ctx, control.SocketPath(conf))
	if running && !in.warned {
		in.warned = true
		w := in.hidden().Writer(in.Err)
		config.WriteFaults(w, invalid.Text, invalid.Errors)
		fmt.Fprint(w, "The process that runs goes on with what it read before, and answers:\n\n")
	}
	return c, running
}

// despite asks the running process for path if err is an invalid configuration; it returns any
// other err.
func (in installation) despite(ctx context.Context, path string, a any, err error) error {
	c, running := in.stillServed(ctx, err)
	if !running {
		return err
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, control.BaseURL+path, nil)
	if err != nil {
		return err
	}
	resp, err := c.Client.Do(q)
	if err != nil {
		return &apperr.Error{What: "the running process does not answer: " + err.Error(), Where: c.Socket, Remedy: "see its log", Code: apperr.TryAgain}
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("read the answer of the running process: %w", err)
	}
	return control.DecodeAnswer(path, resp.StatusCode, body, a)
}

// A mutation is a change of the store: requested from the process that serves the data folder
// or, if there is none, done here under its lock.
type mutation struct {
	path   string // on the socket
	ask    any
	answer any
	alone  func(ctx context.Context, s *sqlstore.Store) error
}

// takeRecord opens the store for this process alone and migrates it, with progress on stderr.
func (in installation) takeRecord(ctx context.Context, conf *config.Config) (*sqlstore.Store, error) {
	m := in.migrating()
	store, err := storeopen.OpenStore(ctx, conf, storeopen.OpenOptions{Logger: in.logger(slog.LevelWarn), Exclusive: true, OnMigration: m.Show})
	if err != nil {
		return nil, storeopen.OpenError(err, storeopen.LocationName(conf))
	}
	if err := m.AddJob(ctx, store, in.logger(slog.LevelWarn)); err != nil {
		return nil, errors.Join(err, store.Close(ctx))
	}
	return store, nil
}

// change applies a mutation.
func (in installation) change(ctx context.Context, c mutation) (err error) {
	conf, running, err := in.server(ctx)
	if err != nil {
		return err
	}
	if running != nil {
		return running.Post(ctx, c.path, c.ask, c.answer)
	}
	if storeopen.IsMissing(conf) {
		return storeopen.MissingError(conf)
	}
	store, err := in.takeRecord(ctx, conf)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.WithGrace(ctx, store.Close)) }()
	return c.alone(ctx, store)
}
