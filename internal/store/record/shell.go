package record

import "github.com/trestle-bridge/trestle/shell"

// A Shell is the record as the agents' shell sees it: what waits for a mind,
// the journal of its cycles, and what its frames are made from.
type Shell struct{ s *Store }

var (
	_ shell.Inbox   = Shell{}
	_ shell.Journal = Shell{}
	_ shell.Record  = Shell{}
	_ shell.Halter  = Shell{}
)

// Shell returns the shell's view of the store.
func (s *Store) Shell() Shell { return Shell{s} }
