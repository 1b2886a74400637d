package main

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"

	"github.com/trestle-bridge/trestle/internal/store/record"
)

// A changing is a command that changes the record: asked of the process that
// serves the data folder, or, where there is none, done here under its lock.
type changing struct {
	path   string // on the socket
	ask    any
	answer any
	alone  func(ctx context.Context, s *record.Store) error
}

// change carries a change out.
func (p *program) change(ctx context.Context, c changing) (err error) {
	conf, err := p.load()
	if err != nil {
		return err
	}
	if running, ok := dial(ctx, filepath.Join(conf.Data, socketName)); ok {
		return running.post(ctx, c.path, c.ask, c.answer)
	}
	if noRecord(conf) {
		return &failure{what: "there is no record here yet", where: conf.Data, todo: "start with trestle run, or name another folder with --data", code: exitFailed}
	}
	store, err := openRecord(ctx, conf, opening{log: p.logger(slog.LevelWarn), alone: true})
	if err != nil {
		return storeFailure(err, placeOf(conf))
	}
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeGrace)
		defer cancel()
		err = errors.Join(err, store.Close(last))
	}()
	return c.alone(ctx, store)
}
