package spaces

import (
	"errors"
	"time"
)

// ErrHalted is returned when a write belongs to a run that a person has stopped.
// Nothing of the write happened; only the closing of the run is still taken.
var ErrHalted = errors.New("stopped by a person")

// A StopRequest is a person's word that runs are to end. From the moment it is stored
// nothing that those runs decide is taken any more, whatever process they are in.
type StopRequest struct {
	Run    CycleID // this run; empty: every run of Space
	Space  SpaceID // whose runs end, and all that waits there for an agent; ignored with Run
	Agent  AgentID // of Space, this one's alone; empty: every agent's
	Unsent bool    // also what those agents decided to say and nobody has sent
	// Say is told in the rooms of the runs that end, once a run; empty: nothing.
	Say string
	At  time.Time
}

// StopResult is what a halt met.
type StopResult struct {
	Runs    []StoppedRun // that were under way
	Waiting int          // messages that had not woken anybody yet and now will not
	Waits   int          // answers that nobody waits for any more
	Unsent  int          // actions that are not sent any more
}

// A StoppedRun is one run that was under way.
type StoppedRun struct {
	Run   CycleID
	Mind  Mind
	Space SpaceID // empty for a wake without one
}

// A MuteRequest is a person's word that agents are to follow a room in silence, or no more.
type MuteRequest struct {
	Space  SpaceID
	Agent  AgentID // empty: every agent of the room
	Lifted bool    // they may speak again
}
