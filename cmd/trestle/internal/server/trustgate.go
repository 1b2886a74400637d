package server

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/internal/config"
)

// errGate is why nothing beyond the core was started.
var errGate = errors.New("the trust gate was not passed")

// checkTrust checks everything that the network must not be used without (PRD-5.3-3):
// that the record can be read and written, and that an agent can run. Accounts
// and models whose credentials are missing or have not the shape of any were set
// aside as misconfigured when the configuration was read; the gate lets the
// others through (ECOSYSTEM 1, rule 2).
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

// clearFault forgets that an entry did not run.
func (core *Core) clearFault(entry string) {
	core.Opening.Lock()
	defer core.Opening.Unlock()
	core.faults = slices.DeleteFunc(core.faults, func(m config.EntryProblem) bool { return m.Entry == entry })
}

// addFault notes that an entry turned out not to run.
func (core *Core) addFault(entry string, err error) {
	core.Opening.Lock()
	defer core.Opening.Unlock()
	f := config.Error{What: err.Error()}
	if said, ok := errors.AsType[*apperr.Error](err); ok {
		f.What, f.Remedy = said.What, said.Remedy
	}
	core.faults = append(core.faults, config.EntryProblem{Entry: entry, Err: f})
}
