package server

import (
	"context"
	"errors"
	"net"
	"path/filepath"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
)

// TryStart goes through the stages of a start and takes everything down again.
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

// checkModel tells whether the configured endpoint can be asked.
func (as *agentSet) checkModel() error {
	switch {
	case as.ModelFailed() != "":
		return errors.New(as.ModelFailed())
	case as.Config().Model.Offline:
		return errSkipped
	}
	return nil
}

// tryListen opens the address for a moment. A process that serves this data
// folder has it, and gives it to the next one.
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

// tryAccounts asks every platform who we are there, one after the other, so that
// the report is in the order of the configuration.
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
