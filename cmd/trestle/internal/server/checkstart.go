package server

import (
	"context"
	"errors"
	"net"
	"path/filepath"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
)

// TryStart runs the stages of a start and then stops everything.
func (s *Server) TryStart(ctx context.Context, data string) (err error) {
	if err := s.Boot.Stage("config_load", s.logFaults); err != nil {
		return err
	}
	if err := s.openStore(ctx); err != nil {
		return storeopen.OpenError(err, data)
	}
	defer func() { err = errors.Join(err, WithGrace(ctx, s.Store.Close), s.closeNotifier()) }()
	if err := s.startCore(ctx); err != nil {
		return err
	}
	trusted := s.Boot.Stage("trust_gate", func() error { return s.checkTrust(ctx) }) == nil
	if trusted {
		s.Boot.Trust()
	}
	s.shell = s.newShell()
	s.openAccounts(trusted)
	_ = s.Boot.Stage("model", s.checkModel) // the report has the error
	_ = s.Boot.Stage("listen", func() error { return s.tryListen(ctx, filepath.Join(data, control.SocketName)) })
	s.tryAccounts(ctx)
	s.Boot.Ready()
	return nil
}

// checkModel returns why the configured endpoint cannot be called, or nil.
func (as *agentSet) checkModel() error {
	switch {
	case as.ModelFailed() != "":
		return errors.New(as.ModelFailed())
	case as.Config().Model.Offline:
		return errSkipped
	}
	return nil
}

// tryListen opens the address and closes it. It skips an address that the process of this data
// folder uses.
func (s *Server) tryListen(ctx context.Context, socket string) error {
	if _, running := control.DialSocket(ctx, socket); running || s.Config().Listen == "" {
		return errSkipped
	}
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", s.Config().Listen)
	if err != nil {
		return err
	}
	return ln.Close()
}

// tryAccounts connects each account once, in the order of the configuration, so that the report
// has that order.
func (s *Server) tryAccounts(ctx context.Context) {
	for _, l := range s.conns.all() {
		_ = s.Boot.Stage("adapter_"+l.name, func() error { // the report has the error
			ctx, cancel := context.WithTimeout(ctx, firstJoin)
			defer cancel()
			_, err := l.adapter.Connect(ctx)
			return err
		})
	}
}
