package sqlstore_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

const aDay = 24 * time.Hour

// A diary is a record in which one mind answers now and then.
type diary struct {
	t    *testing.T
	s    *sqlstore.Store
	room spaces.SpaceID
	n    int
	runs []spaces.CycleID
}

func newDiary(t *testing.T, s *sqlstore.Store) *diary {
	t.Helper()
	return &diary{t: t, s: s, room: opened(t, s, "family", "100")}
}

// opened is a room of ada's with one chat.
func opened(t *testing.T, s *sqlstore.Store, key, chat string) spaces.SpaceID {
	t.Helper()
	p, err := s.Border().Open(t.Context(), spaces.OpenRequest{
		Key: key, Name: key, Circle: "home", Agents: []spaces.AgentID{"ada"}, At: start,
		Chats: []spaces.ChatMapping{{Account: "telegram:1", Chat: chat, Live: true}},
	})
	testutil.OK(t, err)
	return p.Space
}

var mind = spaces.Mind{Agent: "ada", Circle: "home"}

// answer lives a run of one step on a day, whose frame began with a keyframe; a
// negative one is of a run that was stopped before it was shown anything.
func (d *diary) answer(day int, keyframe int64, whole bool) {
	d.t.Helper()
	d.n++
	at, id := start.Add(time.Duration(day)*aDay), strconv.Itoa(d.n)
	_, err := d.s.Border().Record(d.t.Context(), spaces.IngestBatch{Account: "telegram:1", At: at, Items: []spaces.IngestItem{{
		Event: spaces.Event{Space: d.room, Object: spaces.ChatObject, At: at, Source: id, Body: spaces.MessagePosted{Text: "Hello " + id}},
		From:  spaces.PlatformIdentity{Platform: "telegram", User: "zoe", Kind: spaces.Human, Name: "Zoe"},
		Ref:   spaces.MessageRef{Account: "telegram:1", Chat: "100", Message: id},
	}}})
	testutil.OK(d.t, err)
	wake, err := d.s.Shell().Claim(d.t.Context(), spaces.WakeClaim{Mind: mind, Space: d.room, Holder: "one", TTL: time.Minute, At: at, Judge: func(j spaces.GateInput) []spaces.GateDecision {
		return []spaces.GateDecision{{Seq: j.Rows[0].Seq, Wake: true, Reason: "direct"}}
	}})
	if err != nil || wake == nil {
		d.t.Fatal(wake, err)
	}
	d.runs = append(d.runs, wake.Cycle.ID)
	shown := &spaces.FrameSources{System: "You are Ada.", Keyframe: keyframe, Tail: "the tail of " + id, Refs: []spaces.EventID{"e" + spaces.EventID(id)}}
	if keyframe < 0 {
		shown = nil
	}
	c := spaces.StepCommit{Lease: wake.Lease, At: at, Upto: wake.Rows[0].Seq, Step: spaces.Step{
		Cycle: wake.Cycle.ID, Phase: spaces.Engagement, State: spaces.StepDone, Request: "r", At: at,
		Usage: spaces.TokenUsage{Prompt: 100, Output: 20, Calls: 1},
		Shown: shown,
	}}
	if whole {
		c.Close = &spaces.CycleClose{Stop: spaces.StopCompleted, Rest: "Rested."}
	}
	if _, err := d.s.Shell().Commit(d.t.Context(), c); err != nil {
		d.t.Fatal(err)
	}
}

func (d *diary) cut(day int) {
	d.t.Helper()
	k := spaces.Keyframe{Mind: mind, Text: "what was by day " + strconv.Itoa(day), Refs: []spaces.EventID{"e1"}, Tokens: 9, At: start.Add(time.Duration(day) * aDay)}
	testutil.OK(d.t, d.s.Shell().Cut(d.t.Context(), "one", k, spaces.ContextCompacted{}))
}

// shed lets go of what is older than a fortnight on a day, two runs at a time.
func (d *diary) shed(day int) (times int) {
	d.t.Helper()
	for more := true; more; times++ {
		var err error
		if more, err = d.s.Shell().ShedFrames(d.t.Context(), start.Add(time.Duration(day-14)*aDay), 2); err != nil {
			d.t.Fatal(err)
		}
	}
	return times
}

// kept returns a line for each run: the tail and the keyframe its page can show.
func (d *diary) kept() []string {
	d.t.Helper()
	var out []string
	for i, id := range d.runs {
		f, err := d.s.Console().Frame(d.t.Context(), id, 0)
		testutil.OK(d.t, err)
		var line strings.Builder
		fmt.Fprintf(&line, "run %d, %d tokens: ", i+1, f.Step.Usage.Prompt)
		if f.Step.Expired {
			line.WriteString("expired")
		}
		for _, m := range f.Messages {
			if m.Part == "tail" || m.Part == "keyframe" {
				line.WriteString(m.Text + "; ")
			}
		}
		out = append(out, line.String())
	}
	return out
}

// ECOSYSTEM 6: full requests are kept for a time, their sizes for ever.
func TestOldFramesAreLetGoAndTheirSizesStay(t *testing.T) {
	onEachEngine(t, func(t *testing.T, s *sqlstore.Store) {
		t.Helper()
		d := newDiary(t, s)
		d.answer(0, 0, true)
		d.cut(1)
		d.answer(2, 1, true)
		for range 3 { // begun at one instant: a slice ends among them
			d.answer(3, 1, true)
		}
		d.cut(4)
		d.answer(5, 2, true)
		d.answer(20, 2, true)
		whole := d.kept()
		if n := d.shed(14); n != 1 {
			t.Errorf("on day 14 it took %d slices", n)
		}
		testutil.Same(t, "on day 14", whole, d.kept())
		if n := d.shed(18); n != 3 {
			t.Errorf("on day 18 it took %d slices, want 3", n)
		}
		want := slices.Clone(whole)
		for n := range 5 {
			want[n] = fmt.Sprintf("run %d, 100 tokens: expired", n+1)
		}
		testutil.Same(t, "on day 18", want, d.kept())
		d.shed(30)
		want[5] = "run 6, 100 tokens: expired"
		testutil.Same(t, "on day 30", want, d.kept())
		if k, err := s.Shell().Keyframe(t.Context(), mind); err != nil || k.Text != "what was by day 4" {
			t.Errorf("the keyframe in use is %+v, %v", k, err)
		}
		if n, err := s.Count(t.Context(), `select count(*) from keyframes where length(body) > 0`); err != nil || n != 1 {
			t.Errorf("%d keyframes hold words, want the one in use (%v)", n, err)
		}
		for _, table := range []string{"keyframes", "steps"} { // SECURITY S14: what came of it may have to go
			if n, err := s.Count(t.Context(), `select count(*) from `+table+` where refs = '[]'`); err != nil || n != 0 {
				t.Errorf("%d rows of %s do not name what they showed (%v)", n, table, err)
			}
		}
	})
}

// A run that is under way may need all of it.
func TestFramesOfAnOpenRunStay(t *testing.T) {
	onEachEngine(t, func(t *testing.T, s *sqlstore.Store) {
		t.Helper()
		d := newDiary(t, s)
		d.answer(0, 0, true)
		d.answer(1, 0, false)
		d.room = opened(t, s, "team", "200")
		d.answer(2, 0, true)
		whole := d.kept()
		d.shed(14) // what began at that very instant stays
		testutil.Same(t, "on day 14", whole, d.kept())
		d.shed(100)
		testutil.Same(t, "kept", []string{"run 1, 100 tokens: expired", whole[1], whole[2]}, d.kept())
	})
}

// A run that began earlier may have been shown a newer keyframe; one that was shown
// nothing is passed over.
func TestKeyframesGoWithTheNewestThatWasShown(t *testing.T) {
	onEachEngine(t, func(t *testing.T, s *sqlstore.Store) {
		t.Helper()
		d := newDiary(t, s)
		d.cut(0)
		d.cut(1)
		d.answer(2, 2, true)
		d.answer(3, 1, true)
		d.answer(4, -1, true)
		d.shed(100)
		if n, err := s.Count(t.Context(), `select count(*) from keyframes where length(body) > 0`); err != nil || n != 1 {
			t.Errorf("%d keyframes hold words, want the newest (%v)", n, err)
		}
	})
}

// DESIGN 2: deleted words leave what frames were made of, also where a later run showed
// them and repeated nothing.
func TestDeletedWordsLeaveWhatFramesWereMadeOf(t *testing.T) {
	onEachEngine(t, func(t *testing.T, s *sqlstore.Store) {
		t.Helper()
		d := newDiary(t, s)
		d.answer(0, 0, true)
		d.answer(1, 0, true)
		e := shell.RedactionRequest{Event: "e1", Shown: hud.NewRedaction("the tail of 1"), Repeated: hud.NewRedaction("the tail of 2")}
		testutil.OK(t, s.Shell().Redact(t.Context(), mind, e))
		want := []string{"run 1, 100 tokens: [deleted]; ", "run 2, 100 tokens: [deleted]; "}
		testutil.Same(t, "kept", want, d.kept())
	})
}
