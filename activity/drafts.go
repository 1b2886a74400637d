package activity

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/failpoint"
	"github.com/trestle-bridge/trestle/spaces"
)

// draftEvery is how often a draft changes: slowly enough to be read.
const draftEvery = time.Second

// draftTracker holds what an egress shows of messages that are not decided yet. Each has
// a goroutine for as long as the step takes that says it.
type draftTracker struct {
	mu    sync.Mutex // guards what follows, and what is in the growing
	begin func(*liveDraft)
	all   map[spaces.DraftID]*liveDraft
	rows  bool // some may be stored
	busy  bool // those left are being deleted
}

// A liveDraft is one draft on show.
type liveDraft struct {
	next  spaces.MessageDraft
	done  bool          // over is closed
	over  chan struct{} // closed: nothing more is to be shown
	ended chan struct{} // closed: nothing more is on its way
}

// ShowsDrafts reports whether a chat can show drafts as the policy wants them. It does so
// for as long as anything is sent at all.
func (e *Egress) ShowsDrafts(chat string, p spaces.StreamingPolicy) bool {
	return (e.previewsDrafts(chat, p) || p.Posts() && e.editsDrafts()) && e.Paused() == ""
}

// previewsDrafts reports whether a chat shows drafts as what is no message.
func (e *Egress) previewsDrafts(chat string, p spaces.StreamingPolicy) bool {
	wanted := p == spaces.StreamDrafts || p == spaces.StreamAuto
	return wanted && e.draftShower != nil && e.draftShower.Whole(chat) && (p != spaces.StreamAuto || e.draftShower.Stoppable())
}

// ShowDraft has a draft shown in place of what was shown of it before, as far as the
// chat's budget has room beside sends. It never blocks, and after [Egress.Run] has
// returned it does nothing.
func (e *Egress) ShowDraft(d spaces.MessageDraft) {
	s := &e.drafts
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.all[d.ID]; g != nil {
		g.next = d
		return
	}
	if s.begin == nil {
		return
	}
	if s.all == nil {
		s.all = map[spaces.DraftID]*liveDraft{}
	}
	g := &liveDraft{next: d, over: make(chan struct{}), ended: make(chan struct{})}
	s.all[d.ID] = g
	s.begin(g)
}

// EndDraft ends the showing of a draft whose step is decided or given up. It never
// blocks: one more change may be on its way. What no message took over is deleted.
func (e *Egress) EndDraft(id spaces.DraftID) {
	e.drafts.close(id)
	e.Ring()
}

// close has a draft shown no further. It returns what is closed as soon as nothing
// of it is on its way; nil when nothing is.
func (s *draftTracker) close(id spaces.DraftID) (ended <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.all[id]
	if g == nil {
		return nil
	}
	if !g.done {
		g.done = true
		close(g.over)
	}
	return g.ended
}

// open says how drafts are shown, or with nil that none are any more.
func (s *draftTracker) open(begin func(*liveDraft)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin = begin
}

// ofRun reports whether a draft of a run is on show, other than one.
func (s *draftTracker) ofRun(run spaces.CycleID, other spaces.DraftID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, g := range s.all {
		if id != other && g.next.Cycle == run && !g.done {
			return true
		}
	}
	return false
}

// stopRun has no draft of a run shown further.
func (s *draftTracker) stopRun(run spaces.CycleID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.all {
		if g.next.Cycle == run && !g.done {
			g.done = true
			close(g.over)
		}
	}
}

// newest returns what is to be shown of a draft.
func (s *draftTracker) newest(g *liveDraft) spaces.MessageDraft {
	s.mu.Lock()
	defer s.mu.Unlock()
	return g.next
}

// expect notes that drafts are stored.
func (s *draftTracker) expect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows = true
}

// clean notes that none are, unless one is on show.
func (s *draftTracker) clean() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows = len(s.all) > 0
}

// untidy reports whether stored drafts may be left that are not being deleted yet; the
// caller does, until it says that it has tidied.
func (s *draftTracker) untidy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.rows || s.busy {
		return false
	}
	s.busy = true
	return true
}

func (s *draftTracker) tidied() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = false
}

// end forgets a draft of which nothing is on its way.
func (s *draftTracker) end(g *liveDraft) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, g.next.ID)
	close(g.ended)
}

// followDraft shows a draft until it is over, or until stop.
func (e *Egress) followDraft(stop, work context.Context, g *liveDraft) {
	defer e.drafts.end(g)
	tick := time.NewTimer(0)
	defer tick.Stop()
	shown, at, welcome := "", "", true
	for {
		select {
		case <-tick.C:
		case <-g.over:
			return
		case <-stop.Done():
			return
		}
		tick.Reset(draftEvery)
		if closed(g.over) {
			return
		}
		d := e.drafts.newest(g)
		if welcome && d.Text != shown && e.spare(work, d.Chat) {
			shown = d.Text
			at, welcome = e.showDraft(work, d, at)
		}
	}
}

// spare takes one call to a chat that gives way to all others: what cannot be made
// at once is left out.
func (e *Egress) spare(ctx context.Context, chat string) bool {
	now := time.Now()
	if !e.o.OwnsAccount() || e.outage.pausedUntil().After(now) || !e.limits.perChat.spare(chat, now) {
		return false
	}
	_, taken := e.limits.takeShared(ctx, chat, 0)
	return taken
}

// showDraft shows a draft as it is now. It returns its message, if that is a
// message, and whether it is worth going on.
func (e *Egress) showDraft(ctx context.Context, d spaces.MessageDraft, at string) (stands string, on bool) {
	ctx, cancel := context.WithTimeout(ctx, e.o.SendLimit)
	defer cancel()
	if !e.previewsDrafts(d.Chat, d.Show) {
		return e.postOrEditDraft(ctx, d, at)
	}
	err := e.draftShower.Preview(ctx, adapters.OutgoingMessage{
		Chat: d.Chat, Thread: string(d.Thread), Text: e.firstPart(d.Text), Key: draftKey(d.ID), Face: e.persona(spaces.Action{Agent: d.Agent}),
		Choices: e.stopButton(d),
	})
	if e.limits.noteLimit(ctx, d.Chat, err) {
		return "", true
	}
	if err != nil {
		e.logger.Debug("draft not shown", "chat", d.Chat, "err", err)
		return "", false
	}
	return "", failpoint.Point("preview.shown") == nil
}

// draftKey is the same for all that is shown of a draft, and no message's.
func draftKey(id spaces.DraftID) string {
	return uuid.NewSHA1(postNamespace, fmt.Appendf(nil, "draft %s", id)).String()
}
