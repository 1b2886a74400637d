package sqlstore

import "github.com/trestle-bridge/trestle/shell"

// An AgentStore is the record as the agents' shell sees it: what waits for a mind,
// the journal of its cycles, and what its frames are made from.
type AgentStore struct{ s *Store }

var (
	_ shell.WakeQueue  = AgentStore{}
	_ shell.CycleStore = AgentStore{}
	_ shell.LogReader  = AgentStore{}
	_ shell.RunStopper = AgentStore{}
)

// Shell returns the shell's view of the store.
func (s *Store) Shell() AgentStore { return AgentStore{s} }
