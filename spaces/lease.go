package spaces

import (
	"errors"
	"time"
)

// ErrLeaseLost is returned when a write carries an epoch that is no longer the
// lease's. Nothing of the write happened; the holder stops itself.
var ErrLeaseLost = errors.New("lease lost")

// ErrStale is returned when somebody said, edited or deleted something in the
// thread since the agent looked. Nothing of the write happened.
var ErrStale = errors.New("stale speech")

// ErrAgentRun is returned when an agent's message would stand behind as many
// others by agents as its effect allows. Nothing of the write happened.
var ErrAgentRun = errors.New("too many agent messages in a row")

// A Lease is the right to run one mind over one space. Every write of the
// holder carries the epoch and is refused once the epoch has moved on (I8).
type Lease struct {
	Mind    Mind
	Space   SpaceID
	Holder  string // process id, unique for ever
	Epoch   int64  // only grows
	Expires time.Time
}
