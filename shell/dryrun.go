package shell

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// A DryRun is a past wake lived once more. Nothing of it has happened.
type DryRun struct {
	Turns   []spaces.TranscriptTurn // as the agent had them before it, in order
	Steps   []spaces.Step
	Inner   []spaces.EventBody  // what it would have written into the inner log
	Effects []spaces.RoomEffect // what it would have done to rooms
	Timers  []spaces.WakeTimer  // what it would have set
	Cuts    []spaces.ContextCompacted
	Close   spaces.CycleClose // how it ended
	Usage   spaces.TokenUsage
}

// Rehearse lives a past wake once more, as the agent and the settings of o would:
// the same shell and the same view over o.Record, which shows the past, and no
// way out. What the steps decide is kept in the result alone: o.Inbox, o.Journal
// and o.Halter are not asked for anything. The agent's clock begins when the wake
// did, in the zone of o.Now. A wake that could not be lived to its end has the stop reason that says so.
func Rehearse(ctx context.Context, o Options, w spaces.Wake) DryRun {
	began, zone := time.Now(), time.Local
	if o.Now != nil {
		zone = o.Now().Location()
	}
	o.Now = func() time.Time { return w.Cycle.Started.In(zone).Add(time.Since(began)) }
	t := &dryRunStore{base: w.Cycle.Base, head: w.Head}
	o.Inbox, o.Journal, o.Halter, o.Digests, o.Presence, o.Drafts = nil, t, nil, nil, nil, nil
	s, p := New(o), wakeKey{w.Cycle.Mind, w.Cycle.Space}
	s.running[p] = &activeCycle{}
	_ = s.run(ctx, p, &w) // the tape has the stop reason
	return t.made
}

// A dryRunStore is the journal of a rehearsal. It keeps what it is given and reaches no
// record and no outbox.
type dryRunStore struct {
	base, head int64

	mu   sync.Mutex // guards made
	made DryRun
}

var _ CycleStore = (*dryRunStore)(nil)

// Commit implements [CycleStore]. Nobody else speaks in a rehearsal: it is never
// stale.
func (t *dryRunStore) Commit(_ context.Context, c spaces.StepCommit) (spaces.CommitResult, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := &t.made
	m.Turns, m.Inner = append(m.Turns, c.Turns...), append(m.Inner, c.Inner...)
	m.Steps, m.Effects = append(m.Steps, c.Step), append(m.Effects, c.Effect...)
	m.Timers, m.Usage = append(m.Timers, c.Timers...), m.Usage.Add(c.Step.Usage)
	done := spaces.CommitResult{Head: t.head}
	if c.Close != nil {
		m.Close, done.N = *c.Close, t.base+1
	}
	return done, nil
}

// Cut implements [CycleStore]. The keyframe is the rehearsal's own.
func (t *dryRunStore) Cut(_ context.Context, _ string, _ spaces.Keyframe, c spaces.ContextCompacted) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.made.Cuts = append(t.made.Cuts, c)
	return nil
}

// Redact implements [CycleStore]: the record has redacted itself.
func (t *dryRunStore) Redact(context.Context, spaces.Mind, ...RedactionRequest) error {
	return nil
}

// Announce implements [CycleStore]: nothing is posted.
func (t *dryRunStore) Announce(context.Context, spaces.RoomNotice) error { return nil }

// ShownTo implements [CycleStore].
func (t *dryRunStore) ShownTo(context.Context, spaces.Mind, spaces.EventID) ([]spaces.Mind, error) {
	return nil, nil
}

// Said returns the messages of the rehearsal, in order.
func (r *DryRun) Said() []string {
	var said []string
	for _, e := range r.Effects {
		if e.Kind == spaces.ActSend {
			said = append(said, e.Text)
		}
	}
	return slices.Clip(said)
}
