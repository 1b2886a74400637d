package shell

import (
	"context"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/money"
	"github.com/trestle-bridge/trestle/spaces"
)

// WakeQueue hands out the right to run cycles.
type WakeQueue interface {
	// Waiting lists minds with something to do in a space: due ready rows, or an
	// open cycle whose lease has run out. Oldest first, of each mind some at least
	// and no more than about a quarter of the limit.
	Waiting(ctx context.Context, at time.Time, limit int) ([]spaces.PendingWork, error)
	// Claim takes the lease on (mind, space) with a new epoch, has the gate judge
	// every due row, stores the verdicts, and opens a cycle over those that wake,
	// in one transaction. If a cycle is open there already, it is handed out to be
	// resumed instead. A nil wake means that nothing wakes, or that another process
	// holds the lease.
	Claim(ctx context.Context, c spaces.WakeClaim) (*spaces.Wake, error)
	// Yield gives a claimed place back: its cycle stays open, to be taken up by
	// the next claim, and that is no crash of it. It fails with
	// [spaces.ErrLeaseLost] when the lease is another's by now.
	Yield(ctx context.Context, l spaces.MindLease) error
	// Due fires the timers that are due of agents that are here: each becomes a claimed
	// cycle without a space, once. Those of others stay due.
	Due(ctx context.Context, at time.Time, holder string, ttl time.Duration, limit int, here func(spaces.AgentID) bool) ([]spaces.Wake, error)
	// NextTimer returns when the earliest timer or delayed row becomes due.
	NextTimer(ctx context.Context) (time.Time, bool, error)
}

// CycleStore is the only writer of cycles.
type CycleStore interface {
	// Commit makes a step durable with everything it decided. It fails with
	// [spaces.ErrLeaseLost] or [spaces.ErrStale], and then nothing happened.
	Commit(ctx context.Context, c spaces.StepCommit) (spaces.CommitResult, error)
	// Cut stores a keyframe with its compacted event. It takes the whole mind's
	// lease: it fails with [spaces.ErrLeaseLost] when a cycle of the mind is open
	// in a process other than the holder.
	Cut(ctx context.Context, holder string, k spaces.Keyframe, c spaces.ContextCompacted) error
	// Redact takes remote events out of what the mind has stored: the cycles and
	// keyframes that were shown one, and those after the first of them, which may repeat
	// its words. What may repeat any of them is read once.
	Redact(ctx context.Context, m spaces.Mind, es ...RedactionRequest) error
	// ShownTo returns the other minds of the same agent that were shown a remote event.
	ShownTo(ctx context.Context, m spaces.Mind, e spaces.EventID) ([]spaces.Mind, error)
	// Announce posts a notice in the chats of a room, once for its key.
	Announce(ctx context.Context, n spaces.RoomNotice) error
}

// A RedactionRequest says what goes from what a mind has stored.
type RedactionRequest struct {
	Event    spaces.EventID
	Since    time.Time         // what was stored before is free of it already; zero: nothing is
	Shown    hud.TextRedaction // for what was shown the event
	Repeated hud.TextRedaction // for what may repeat it
}

// ToolRunStore stores calls of outside tools while they are under way.
type ToolRunStore interface {
	// StartRun moves a run that is ready to running, for ttl in the name of holder. One
	// whose process has ended, because that time is over or because the caller knows it
	// (orphan), is begun again where the tool may be called twice; else its outcome is
	// unknown. The run is returned as it is afterwards; the caller calls the tool only
	// when it is running and the caller's.
	StartRun(ctx context.Context, id, holder string, ttl time.Duration, orphan bool, at time.Time) (spaces.ToolRun, error)
	// RenewRun extends the time of a running run, and reports false when it is not the
	// holder's any more, or was cancelled.
	RenewRun(ctx context.Context, id, holder string, ttl time.Duration, at time.Time) (bool, error)
	// EndRun stores the end of a run. It reports false, and stores nothing, when the run
	// had ended, or is not the holder's. The end of a parked run wakes its mind.
	EndRun(ctx context.Context, e spaces.ToolRunEnd) (bool, error)
	// TellProgress changes the line by which people are told that they wait for the run, in
	// every chat that shows it.
	TellProgress(ctx context.Context, run spaces.ToolRun, text string, at time.Time) error
	// UnattendedRuns returns runs that no cycle looks after and that are to be begun, or
	// to be ended because their process or the time to decide about them has.
	UnattendedRuns(ctx context.Context, at time.Time, limit int) ([]spaces.ToolRun, error)
}

// ToolRunReader reads calls of outside tools.
type ToolRunReader interface {
	// RunsOfCycle returns the runs that a cycle asked for, in that order.
	RunsOfCycle(ctx context.Context, id spaces.CycleID) ([]spaces.ToolRun, error)
	// ToolRun returns a run; nil if there is none.
	ToolRun(ctx context.Context, id string) (*spaces.ToolRun, error)
	// ToolsAllowed returns the tools that people always allow the agent in a space.
	ToolsAllowed(ctx context.Context, agent spaces.AgentID, space spaces.SpaceID) ([]string, error)
	// CountRuns returns how many runs the agent has asked for since each of the instants.
	CountRuns(ctx context.Context, agent spaces.AgentID, day, minute time.Time) (today, lately int, err error)
}

// SummaryStore keeps what was made of old cycles while nothing else was to do.
type SummaryStore interface {
	// Digests returns those of the mind, in order of their first cycles.
	Digests(ctx context.Context, m spaces.Mind) ([]spaces.CycleSummary, error)
	// Digest counts what a digest took and stores it, in place of one that begins with
	// the same cycle; one without text is only counted. It fails with
	// [spaces.ErrStale] when a message it was made of has been taken back: then it is
	// counted and not stored.
	Digest(ctx context.Context, d spaces.CycleSummary) error
}

// EmbeddingStore keeps where the words of messages stand, as a model made it out.
type EmbeddingStore interface {
	// Meanings returns what the model made of a room's messages with after < seq ≤
	// upto, in order.
	Meanings(ctx context.Context, space spaces.SpaceID, model string, after, upto int64) ([]spaces.MessageEmbedding, error)
	// Mean counts what a call took and stores what came of it, in place of what was
	// known of the same messages. When words of the room have been changed or deleted
	// since m.Upto, nothing is stored and it fails with [spaces.ErrStale]. With the
	// event that changes them, what was known of words is gone.
	Mean(ctx context.Context, m spaces.EmbeddingResult) error
}

// RunStopper ends runs by a person's word.
type RunStopper interface {
	// Halt stores that runs are to end, stops the causal chains they answer to, and
	// cancels what has not been sent if that is asked for, all in one transaction.
	// From then on the commits of those runs fail with [spaces.ErrHalted], but for
	// the one that closes them as cancelled. What names no run meets none.
	Halt(ctx context.Context, h spaces.StopRequest) (spaces.StopResult, error)
}

// MemoryEditor takes back or corrects what a mind has of its own, by a person's word.
type MemoryEditor interface {
	// Forget takes back the memory, timer or plan that goes by the id, as the mind's
	// own act would, and reports whether the mind had it.
	Forget(ctx context.Context, m spaces.Mind, id string, at time.Time) (bool, error)
	// Correct puts a fact in place of that of the memory with the id, which keeps its
	// sources and readers, and reports whether the mind had it.
	Correct(ctx context.Context, m spaces.Mind, id, fact string, at time.Time) (bool, error)
	// Changes returns how often anybody did either, in whichever process. It only rises.
	Changes(ctx context.Context) (int64, error)
}

// A MissionReader reads missions.
type MissionReader interface {
	// MissionsIn returns the missions of a space that have not ended, and those that ended
	// since an instant, oldest first.
	MissionsIn(ctx context.Context, space spaces.SpaceID, since time.Time) ([]spaces.Mission, error)
	// MissionSpent returns what the committed steps of the mission's runs have used.
	MissionSpent(ctx context.Context, id spaces.MissionID) (money.UsedTokens, error)
}

// LogReader is what frames are made from. Reads see every commit that returned
// before they began.
type LogReader interface {
	MissionReader
	Space(ctx context.Context, id spaces.SpaceID) (spaces.Space, []spaces.SpaceMember, error)
	// Events returns the events of a branch after seq, ascending, at most limit.
	// On a fork, earlier ones come from the branch it left.
	Events(ctx context.Context, space spaces.SpaceID, branch spaces.BranchID, after int64, limit int) ([]spaces.Event, error)
	// Self returns those events of the mind's inner log that fold into its notes,
	// goals, memories and bookmarks, ascending.
	Self(ctx context.Context, m spaces.Mind) ([]spaces.Event, error)
	// Plans returns the timers and plans of the mind that have not fired, the next
	// first, at most limit. What their notes repeat of deleted words is taken out.
	Plans(ctx context.Context, m spaces.Mind, limit int) ([]spaces.WakeTimer, error)
	// Waits returns what the mind waits for, oldest first.
	Waits(ctx context.Context, m spaces.Mind) ([]spaces.PendingWait, error)
	// Uplinks returns the mind's uplinks, oldest first; closed ones stay in their place.
	Uplinks(ctx context.Context, m spaces.Mind) ([]spaces.Uplink, error)
	// Across returns the live uplinks of the agent's other minds to rooms that
	// a person is in, at most limit, the newest first.
	Across(ctx context.Context, m spaces.Mind, who spaces.EntityID, limit int) ([]spaces.Uplink, error)
	// Spans returns the newest spans of an uplink, newest first.
	Spans(ctx context.Context, m spaces.Mind, space spaces.SpaceID, limit int) ([]spaces.ConnectionSpan, error)
	// Keyframe returns the mind's newest keyframe, or nil.
	Keyframe(ctx context.Context, m spaces.Mind) (*spaces.Keyframe, error)
	// Cycles returns the closed cycles of the mind with N after n, ascending, with
	// their turns when turns is set.
	Cycles(ctx context.Context, m spaces.Mind, n int64, turns bool, limit int) ([]spaces.ClosedCycle, error)
	// Entities returns who the ids are; unknown ones are absent.
	Entities(ctx context.Context, ids []spaces.EntityID) (map[spaces.EntityID]spaces.Entity, error)
	// Spent returns the tokens used since the day began.
	Spent(ctx context.Context, day time.Time, agent spaces.AgentID, space spaces.SpaceID) (UsageToday, error)
	// SpentBySenders returns the most weighted tokens that the words of any one
	// person have cost since the day began, of those whose words the cycle was shown
	// or had the timer set that woke it.
	SpentBySenders(ctx context.Context, day time.Time, cycle spaces.CycleID) (money.UsedTokens, error)
	// AnswerForms returns in which form the agent's newest cycles with that model answered
	// people, the newest first, at most limit.
	AnswerForms(ctx context.Context, agent spaces.AgentID, model string, limit int) ([]spaces.AnswerForm, error)
	// Failures returns the actions of the mind's cycles that have failed since then,
	// for the next frame.
	Failures(ctx context.Context, m spaces.Mind, since time.Time) ([]spaces.SendFailed, error)
}

// UsageToday is what was used today.
type UsageToday struct {
	Agent, Space, All money.UsedTokens
}
