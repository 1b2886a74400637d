package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/readmodel"
)

// look opens the record for reading, beside a running process or without one,
// and hands it to see.
func (p *CLI) look(ctx context.Context, see func(c *config.Config, r readmodel.ReadModel) error) (err error) {
	conf, err := p.load()
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
func (p *CLI) migrating() *storeopen.MigrationProgress {
	m := &storeopen.MigrationProgress{Out: p.Err, Printer: p.progress()}
	if p.quiet || p.output != "text" {
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
