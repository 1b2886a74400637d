package server

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/internal/config"
)

// errGate is the reason why only the core was started.
var errGate = errors.New("the trust gate was not passed")

// checkTrust checks what must hold before the network is used: that the store can be read and
// written, and that an agent can run. Accounts and models with missing or malformed credentials
// were marked as misconfigured when the configuration was read; the others may run.
func (s *Server) checkTrust(ctx context.Context) error {
	if _, _, err := s.Store.Shell().NextTimer(ctx); err != nil {
		return fmt.Errorf("%w: the record cannot be read: %w", errGate, err)
	}
	if err := s.Store.Problems().Keep(ctx, nil); err != nil {
		return fmt.Errorf("%w: the record cannot be written: %w", errGate, err)
	}
	c := s.Config()
	if !slices.ContainsFunc(c.Agents, func(a config.AgentEntry) bool { return !a.Misconfigured }) {
		return fmt.Errorf("%w: no agent can run as it is configured", errGate)
	}
	return nil
}

// clearFault removes the faults of an entry.
func (core *Core) clearFault(entry string) {
	core.Opening.Lock()
	defer core.Opening.Unlock()
	core.faults = slices.DeleteFunc(core.faults, func(m config.EntryProblem) bool { return m.Entry == entry })
}

// addFault stores that an entry does not run.
func (core *Core) addFault(entry string, err error) {
	core.Opening.Lock()
	defer core.Opening.Unlock()
	f := config.Error{What: err.Error()}
	if said, ok := errors.AsType[*apperr.Error](err); ok {
		f.What, f.Remedy = said.What, said.Remedy
	}
	core.faults = append(core.faults, config.EntryProblem{Entry: entry, Err: f})
}
