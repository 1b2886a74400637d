package adapters

import "context"

// A RunState is what a run of an agent does, as people are shown it.
type RunState string

// The states of a run.
const (
	RunProcessing RunState = "processing" // it works, and can be stopped
	RunSuspended  RunState = "suspended"  // it waits for a person, an approval or a tool
	RunActive     RunState = "active"     // it is done
)

// A RunStatus tells of a run that a message of a chat has begun.
type RunStatus struct {
	Chat    string
	Thread  string // of the message; empty outside threads
	Message string // platform id of the message
	Title   string // the beginning of its words, for a platform that gives runs a title; may be empty
	State   RunState
}

// A StopControl is how people of a chat can stop a run beside a command.
type StopControl string

// The ways to stop a run.
const (
	StopNative StopControl = "native" // the platform shows a Stop of its own while the run is processing
	StopLine   StopControl = "line"   // by a button below what grows or, where nothing does, below a line of its own
	StopGrown  StopControl = "grown"  // by a button below what grows alone
)

// A StatusShower has a sign which tells people that a run is under way.
type StatusShower interface {
	// ShowsStatus reports whether people of a chat see that a message of theirs is worked
	// on: by the state that [Stopper.ShowRun] shows at it, or by the sign of a
	// [TypingNotifier] in a chat with one person. It asks no platform.
	ShowsStatus(chat string) bool
}

// A Stopper shows what a run does, and how it can be stopped. A press of the platform's own
// Stop is delivered as a [ChoicePicked] with Stop set.
type Stopper interface {
	// ShowRun shows the state of a run and returns how people can stop it. A state that is
	// shown already is success. Calls may overlap.
	ShowRun(ctx context.Context, s RunStatus) (StopControl, error)
}
