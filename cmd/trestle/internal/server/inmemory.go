package server

import (
	"context"
	"errors"
	"net/http"

	"golang.org/x/sync/errgroup"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
)

// RunInMemory runs a process for tests without a control socket, console and trust gate; it
// uses nothing outside itself but its test seams. listen serves in g what platforms call. Real
// listeners would stop the clock of a synctest bubble.
func (s *Server) RunInMemory(ctx context.Context, listen func(ctx context.Context, g *errgroup.Group, h http.Handler) error) error {
	store, err := sqlite.Open(ctx, sqlite.Options{Dir: s.Config().Data, NewID: s.Mint, Logger: s.Log, Lives: true})
	if err != nil {
		return err
	}
	s.Store = store
	s.border = s.newBorder()
	s.mapping = activity.NewSpaceMapping(s.border, s.border)
	s.openFiles()
	if err := s.startCore(ctx); err != nil {
		return err
	}
	s.Boot.Trust()
	s.telemetry = s.newTelemetry(ctx)
	s.shell = s.newShell()
	s.openAccounts(true)
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.telemetry.Run(gctx) })
	if err := listen(gctx, g, &s.webhooks); err != nil {
		return err
	}
	s.startExtensions(gctx, g)
	return errors.Join(g.Wait(), store.Close(context.WithoutCancel(ctx)))
}
