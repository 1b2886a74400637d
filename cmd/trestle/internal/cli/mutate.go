package cli

import (
	"context"
	"errors"
	"log/slog"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/server"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
)

// A mutation is a command that changes the record: asked of the process that
// serves the data folder, or, where there is none, done here under its lock.
type mutation struct {
	path   string // on the socket
	ask    any
	answer any
	alone  func(ctx context.Context, s *sqlstore.Store) error
}

// takeRecord opens the record for this process alone, to look after it, and brings it up
// to date, with progress on stderr.
func (p *CLI) takeRecord(ctx context.Context, conf *config.Config) (*sqlstore.Store, error) {
	m := p.migrating()
	store, err := storeopen.OpenStore(ctx, conf, storeopen.OpenOptions{Logger: p.logger(slog.LevelWarn), Exclusive: true, OnMigration: m.Show})
	if err != nil {
		return nil, storeopen.OpenError(err, storeopen.LocationName(conf))
	}
	if err := m.AddJob(ctx, store, p.logger(slog.LevelWarn)); err != nil {
		return nil, errors.Join(err, store.Close(ctx))
	}
	return store, nil
}

// change carries a change out.
func (p *CLI) change(ctx context.Context, c mutation) (err error) {
	conf, running, err := p.server(ctx)
	if err != nil {
		return err
	}
	if running != nil {
		return running.Post(ctx, c.path, c.ask, c.answer)
	}
	if storeopen.IsMissing(conf) {
		return storeopen.MissingError(conf)
	}
	store, err := p.takeRecord(ctx, conf)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.WithGrace(ctx, store.Close)) }()
	return c.alone(ctx, store)
}
