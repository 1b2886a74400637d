package jobs

import (
	"errors"
	"time"
)

// JobState is the state of a job.
type JobState string

// The states of a job.
const (
	Ready     JobState = "ready"   // waits for a runner
	Running   JobState = "running" // leased to one
	Paused    JobState = "paused"
	Done      JobState = "done"
	Failed    JobState = "failed"
	Cancelled JobState = "cancelled"
)

// Over reports whether nothing more happens unless an operator resumes it.
func (s JobState) Over() bool { return s == Done || s == Failed || s == Cancelled }

// A Job is one piece of long work. It is a value as it was read.
type Job struct {
	ID      int64    `json:"id"`
	Kind    string   `json:"kind"`    // which work: import, backfill, …
	Subject string   `json:"subject"` // what it is about, for people
	Args    []byte   `json:"-"`       // what its kind needs to know; its own form
	State   JobState `json:"state"`
	// Want is what an operator asked a running job to become: Paused or Cancelled.
	Want JobState `json:"want,omitempty"`

	JobProgress
	Rate  float64 `json:"rate"` // units a second, lately; 0 when nothing is known
	Error string  `json:"error,omitempty"`

	Holder  string    `json:"holder,omitempty"`
	Epoch   int64     `json:"-"` // counts its claims; an earlier one may write nothing any more
	Expires time.Time `json:"-"` // of the lease
	Created time.Time `json:"created"`
	Started time.Time `json:"started,omitzero"`
	Updated time.Time `json:"updated"`
	Ended   time.Time `json:"ended,omitzero"`
}

// JobProgress is how far a job is, as its work says.
type JobProgress struct {
	Done  int64  `json:"done"`
	Total int64  `json:"total"` // 0 when not known
	Unit  string `json:"unit"`  // what is counted, in the plural: messages
	// Cursor is where to go on after a crash, in the kind's own form.
	Cursor []byte `json:"-"`
	// Note is what happens right now, for people; with Until, what is waited for.
	Note  string    `json:"note,omitempty"`
	Until time.Time `json:"until,omitzero"`
}

// ETA returns how long the rest will take at the present rate; false when that
// is not known.
func (j Job) ETA() (time.Duration, bool) {
	if j.Rate <= 0 || j.Total <= j.Done || j.State != Running {
		return 0, false
	}
	return time.Duration(float64(j.Total-j.Done) / j.Rate * float64(time.Second)), true
}

// Percent returns how much is done of a known total; false when none is known.
func (j Job) Percent() (int, bool) {
	if j.Total <= 0 {
		return 0, false
	}
	return int(min(j.Done, j.Total) * 100 / j.Total), true
}

// What a work meets and must stop for. [Task.Save] returns one of them.
var (
	// ErrPaused means that an operator asked the job to pause.
	ErrPaused = errors.New("the job is paused")
	// ErrCancelled means that an operator cancelled the job.
	ErrCancelled = errors.New("the job is cancelled")
	// ErrLost means that another process has taken the job over.
	ErrLost = errors.New("the job is another's now")
)

// What a store answers to impossible wishes.
var (
	// ErrUnknown means that there is no job of that number.
	ErrUnknown = errors.New("there is no such job")
	// ErrOver means that a job that has ended cannot become what is asked.
	ErrOver = errors.New("the job is over")
)
