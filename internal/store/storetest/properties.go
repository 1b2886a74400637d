package storetest

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/spaces"
)

var propertyTests = map[string]func(*testing.T, func(*testing.T) Store){
	"AnyReplayOfAnyHistoryChangesNothing": replays,
	"AnyLifeLeavesASoundRecord":           lives,
}

// drawUpdate makes up something that happened in a room. What it is about may not
// have happened, or may happen later.
func (w *world) drawUpdate(r *rapid.T, room spaces.SpaceID) spaces.IngestItem {
	who := rapid.SampledFrom([]string{"zoe", "tom", "ann"}).Draw(r, "who")
	about := ref(strconv.Itoa(rapid.IntRange(1, 12).Draw(r, "about")))
	switch rapid.IntRange(0, 7).Draw(r, "what") {
	case 0:
		return w.fact(room, who, spaces.MessageEdited{Ref: about, Text: "other words"})
	case 1:
		return w.fact(room, who, spaces.MessageDeleted{Ref: about})
	case 2:
		return w.fact(room, who, spaces.ReactionAdded{Ref: about, Emoji: "👍"})
	case 3:
		it := w.fact(room, who, spaces.MemberJoined{})
		it.Who = []spaces.PlatformIdentity{person("ann"), person("tom")}
		return it
	case 4:
		it := w.fact(room, who, spaces.MemberLeft{})
		it.Who = []spaces.PlatformIdentity{person(who)}
		return it
	case 5:
		it := w.message(room, who, "lost")
		it.Event.Parents = []spaces.EventID{"nowhere"}
		return it
	default:
		it := w.message(room, who, "words")
		it.ReplyRef = about
		return it
	}
}

// I2, I11, I12, F23, F24: redeliveries in any grouping change nothing, and what
// is folded from the log is what the tables say.
func replays(t *testing.T, open func(*testing.T) Store) {
	rapid.Check(t, func(r *rapid.T) {
		w := newWorld(t, open(t))
		defer w.s.Close(t)
		room := w.family("ada", "bea")
		var history []spaces.IngestItem
		for range rapid.IntRange(1, 25).Draw(r, "length") {
			history = append(history, w.drawUpdate(r, room))
		}
		fresh := 0
		for rest := history; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(r, "batch")
			fresh += w.record(rest[:n]...).New
			rest = rest[n:]
		}
		before := w.log(room)
		again := rapid.Permutation(append(history, history...)).Draw(r, "again")
		if got := w.record(again...); got.New != 0 || len(got.Wakes) != 0 {
			r.Fatalf("a replay recorded %+v", got)
		}
		if diff := cmp.Diff(before, w.log(room)); diff != "" {
			r.Fatalf("a replay changed the log (-before +after):\n%s", diff)
		}
		if linked := 3; len(before) != fresh+linked {
			r.Fatalf("%d events, want the %d recorded and the %d of the opening", len(before), fresh, linked)
		}
		w.soundIn(r)
	})
}

func (w *world) soundIn(r *rapid.T) {
	found, err := w.s.Audit(w.t.Context(), w.now)
	if err != nil || len(found) != 0 {
		r.Fatalf("audit: %v %v", found, err)
	}
}

// A life is a record under everything that may happen to it.
type life struct {
	*world
	rooms   []spaces.SpaceID
	wakes   []*open
	epochs  map[spaces.SpaceID]int64
	eaten   map[spaces.EventID]spaces.CycleID // by closed cycles
	sending []spaces.Action
}

// An open is a wake that a process believes to hold, with its next step.
type open struct {
	wake *spaces.Wake
	step int
	lost bool // another process has the lease by now, or the cycle has ended
}

// I3, I4, I5, I8: whatever comes in whatever order, with crashes between, epochs
// only grow, no event is in the input of two finished cycles, a holder whose
// lease is gone writes nothing, and the audit finds nothing.
func lives(t *testing.T, open func(*testing.T) Store) {
	rapid.Check(t, func(r *rapid.T) {
		l := &life{world: newWorld(t, open(t)), epochs: map[spaces.SpaceID]int64{}, eaten: map[spaces.EventID]spaces.CycleID{}}
		defer func() { l.s.Close(t) }()
		team := opening("team", "ada")
		team.Chats[0].Chat = other
		l.rooms = []spaces.SpaceID{l.family("ada"), l.open(team)}
		r.Repeat(map[string]func(*rapid.T){
			"hear":  func(r *rapid.T) { l.record(l.drawUpdate(r, rapid.SampledFrom(l.rooms).Draw(r, "room"))) },
			"wake":  l.wake,
			"step":  l.stepOn,
			"send":  l.send,
			"time":  func(r *rapid.T) { l.now = l.now.Add(time.Duration(rapid.IntRange(1, 90).Draw(r, "s")) * time.Second) },
			"crash": l.crash,
			"deaf": func(r *rapid.T) {
				l.ok(l.s.Border.SetConnected(t.Context(), account, rapid.Bool().Draw(r, "hears"), l.now))
			},
			"": func(*rapid.T) {},
		})
		l.soundIn(r)
	})
}

// sharedLives is lives in two processes, neither of which ends: each thing is done
// by either, which must believe nothing that the other has changed.
func sharedLives(t *testing.T, open func(*testing.T) [2]Store) {
	rapid.Check(t, func(r *rapid.T) {
		both := open(t)
		l := &life{world: newWorld(t, both[0]), epochs: map[spaces.SpaceID]int64{}, eaten: map[spaces.EventID]spaces.CycleID{}}
		defer both[0].Close(t)
		defer both[1].Close(t)
		team := opening("team", "ada")
		team.Chats[0].Chat = other
		l.rooms = []spaces.SpaceID{l.family("ada"), l.open(team)}
		either := func(do func(*rapid.T)) func(*rapid.T) {
			return func(r *rapid.T) {
				l.s = both[rapid.IntRange(0, 1).Draw(r, "process")]
				do(r)
			}
		}
		r.Repeat(map[string]func(*rapid.T){
			"hear": either(func(r *rapid.T) { l.record(l.drawUpdate(r, rapid.SampledFrom(l.rooms).Draw(r, "room"))) }),
			"wake": either(l.wake),
			"step": either(l.stepOn),
			"send": either(l.send),
			"time": func(r *rapid.T) { l.now = l.now.Add(time.Duration(rapid.IntRange(1, 90).Draw(r, "s")) * time.Second) },
			"deaf": either(func(r *rapid.T) {
				l.ok(l.s.Border.SetConnected(t.Context(), account, rapid.Bool().Draw(r, "hears"), l.now))
			}),
			"leave": either(func(*rapid.T) { l.ok(l.s.Border.Live(t.Context(), account, other, l.n%2 == 0, "gone", l.now)) }),
			"":      func(*rapid.T) {},
		})
		l.soundIn(r)
	})
}

func (l *life) wake(r *rapid.T) {
	room := rapid.SampledFrom(l.rooms).Draw(r, "room")
	picky := rapid.Bool().Draw(r, "picky")
	due := slices.ContainsFunc(l.waiting(), func(x spaces.PendingWork) bool { return x.Space == room })
	wake := l.claimAs(holder, ada, room, func(j spaces.GateInput) []spaces.GateDecision {
		out := wakeAll(j)
		for i := range out {
			if _, said := j.Events[i].Body.(spaces.MessagePosted); picky && !said {
				out[i] = spaces.GateDecision{Seq: out[i].Seq, Reason: "observed"}
			}
		}
		return out
	})
	if due { // the process that ran a cycle there has lost it, be it taken over or given up
		for _, o := range l.wakes {
			o.lost = o.lost || o.wake.Cycle.Space == room
		}
	}
	if wake == nil {
		return
	}
	if wake.Lease.Epoch <= l.epochs[room] {
		r.Fatalf("epoch %d in %s after %d", wake.Lease.Epoch, room, l.epochs[room])
	}
	l.epochs[room] = wake.Lease.Epoch
	l.wakes = append(l.wakes, &open{wake: wake, step: len(wake.Steps)})
}

// stepOn commits something by anybody who ever had a wake.
func (l *life) stepOn(r *rapid.T) {
	if len(l.wakes) == 0 {
		return
	}
	o := rapid.SampledFrom(l.wakes).Draw(r, "who")
	c := l.step(o.wake, o.step)
	c.Inner = []spaces.EventBody{spaces.ThoughtRecorded{Cycle: o.wake.Cycle.ID, Text: "hm"}}
	c.Turns = []spaces.TranscriptTurn{{Role: spaces.RoleAssistant, Text: "hm", Tokens: 1}}
	if rapid.Bool().Draw(r, "speak") {
		c.Effect = []spaces.RoomEffect{l.reply(o.wake, "words")}
		c.Effect[0].Strict = rapid.Bool().Draw(r, "strict")
		c.Effect[0].Seen -= int64(rapid.IntRange(0, 2).Draw(r, "behind"))
	}
	if rapid.Bool().Draw(r, "join") {
		c.Judge = wakeAll
	}
	end := rapid.IntRange(0, 3).Draw(r, "end")
	switch end {
	case 0:
		c.Close = &spaces.CycleClose{Stop: spaces.StopCompleted, Rest: "Done."}
	case 1:
		c.Close = &spaces.CycleClose{Stop: spaces.StopModelError, Back: true, RetryAt: l.now.Add(time.Second)}
	default: // it goes on
	}
	done, err := l.s.Shell.Commit(l.t.Context(), c)
	if o.lost {
		l.is(err, spaces.ErrLeaseLost)
		return
	}
	if err != nil {
		l.is(err, spaces.ErrStale)
		return
	}
	o.step++
	o.wake.Rows = append(o.wake.Rows, done.Joined...)
	o.lost = c.Close != nil
	if end == 0 {
		l.eat(r, o.wake)
	}
}

// eat notes what a finished cycle was shown.
func (l *life) eat(r *rapid.T, w *spaces.Wake) {
	for _, row := range w.Rows {
		if by, twice := l.eaten[row.Event]; twice {
			r.Fatalf("%s was consumed by %s and %s", row.Event, by, w.Cycle.ID)
		}
		l.eaten[row.Event] = w.Cycle.ID
	}
}

// send claims what is due and settles what an earlier call claimed, somehow.
func (l *life) send(r *rapid.T) {
	for _, a := range l.sending {
		s := l.sent(a)
		switch rapid.IntRange(0, 4).Draw(r, "outcome") {
		case 0:
			s = activity.SendResult{Action: a.ID, State: spaces.ActionReady, NotBefore: l.now.Add(time.Second), Code: "limited"}
		case 1:
			s = activity.SendResult{Action: a.ID, State: spaces.ActionFailed, Code: "invalid", Reason: "No."}
		case 2:
			s = activity.SendResult{Action: a.ID, State: spaces.ActionUnknown, Code: "unknown", Reason: "Nobody knows."}
		default: // it was accepted
		}
		l.settle(s)
	}
	l.sending = l.due()
	lanes := map[string]bool{}
	for _, a := range l.sending {
		lane := a.Chat + "|" + string(a.Thread)
		if lanes[lane] {
			r.Fatalf("two actions of %s are under way", lane)
		}
		lanes[lane] = true
	}
}

// crash ends the process; the next one takes the record over.
func (l *life) crash(r *rapid.T) {
	l.s = l.s.Restart(l.t, rapid.Bool().Draw(r, "clean"))
	l.ok(l.s.Border.Recover(l.t.Context(), account, l.now, nil, time.Time{}))
	l.sending = nil
}
