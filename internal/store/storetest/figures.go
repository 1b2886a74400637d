package storetest

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/spaces"
)

var figureTests = map[string]func(*testing.T, *world){
	"FiguresAreOfSpaceAgentAndPlatform":    figuresTold,
	"FiguresAreWhatTheLogsHoldOverCrashes": figuresCrashed,
	"FiguresAreCountedOnceByAll":           figuresTogether,
	"FiguresOfOldHoursAreDropped":          figuresDropped,
}

// counted counts all events, a few at a time.
func (w *world) counted(limit int) {
	w.t.Helper()
	for more := true; more; {
		var err error
		more, err = w.s.Figures.Count(w.t.Context(), limit)
		w.ok(err)
	}
}

// figures returns the points of a scope since the world began.
func (w *world) figures(span time.Duration, s console.FigureScope) []console.FigurePoint {
	w.t.Helper()
	points, err := w.s.Figures.Points(w.t.Context(), console.FigureQuery{FigureScope: s, Span: span, From: morning.Add(-24 * time.Hour), To: w.now.Add(24 * time.Hour)})
	w.ok(err)
	return points
}

// total returns the sum of the figures of a scope, and all answer times.
func (w *world) total(span time.Duration, s console.FigureScope) (c console.FigureCounts, times console.AnswerTimes) {
	w.t.Helper()
	times = console.AnswerTimes{}
	for _, p := range w.figures(span, s) {
		c.Add(p.FigureCounts)
		times.Add(p.Times)
	}
	return c, times
}

// chatter lives an hour of a room: two messages, an answer of ada in two messages that takes half a minute, and
// a run of bea that is refused something and fails. The second answer of ada is not delivered.
func (w *world) chatter(room spaces.SpaceID) {
	w.t.Helper()
	w.say(room, "zoe", "hello")
	wake := w.woken(ada, room)
	c := w.step(wake, 0)
	c.Effect = []spaces.RoomEffect{w.reply(wake, "good morning"), w.reply(wake, "both of you")}
	w.now = w.now.Add(20 * time.Second)
	w.commit(c)
	w.rest(wake, 1)
	w.now = w.now.Add(10 * time.Second)
	w.deliver()
	wake = w.woken(bea, room)
	c = w.step(wake, 0)
	c.Inner = []spaces.EventBody{spaces.CallDenied{Denial: spaces.Denial{Agent: bea.Agent, Act: "leave", Code: "tier_policy", Reason: "no", Space: room, Cycle: wake.Cycle.ID, At: w.now}}}
	c.Upto, c.Close = wake.Rows[len(wake.Rows)-1].Seq, &spaces.CycleClose{Stop: spaces.StopModelError}
	w.commit(c)
	w.say(room, "kai", "and you?")
	w.answer(ada, room, "fine")
	for _, a := range w.due() {
		w.settle(activity.SendResult{Action: a.ID, State: spaces.ActionFailed, Code: "invalid", Reason: "no"})
	}
}

func figuresTold(t *testing.T, w *world) {
	room := w.family("ada", "bea")
	w.chatter(room)
	w.ok(w.s.Shell.Mean(t.Context(), spaces.EmbeddingResult{Space: room, Model: "small", Usage: spaces.TokenUsage{Prompt: 12, Calls: 1}, At: w.now}))
	w.counted(1000)
	w.counted(1000) // nothing is new
	adas := console.FigureCounts{Received: 2, Sent: 2, Unsent: 1, Calls: 4, Prompt: 400, Output: 80, Cost: 4 * stepCost}
	beas := console.FigureCounts{Received: 2, Failed: 1, Denied: 1, Calls: 1, Prompt: 100, Output: 20, Cost: stepCost}
	runs := console.FigureCounts{Received: 2, Sent: 2, Unsent: 1, Failed: 1, Denied: 1, Calls: 5, Prompt: 500, Output: 100, Cost: 5 * stepCost}
	all := runs
	all.AddUsage(spaces.TokenUsage{Prompt: 12, Calls: 1})
	for name, c := range map[string]struct {
		of      console.FigureScope
		want    console.FigureCounts
		answers int64
	}{
		"all":                 {console.FigureScope{}, all, 1},
		"room":                {console.FigureScope{Space: room}, all, 1},
		"another room":        {console.FigureScope{Space: "none"}, console.FigureCounts{}, 0},
		"ada":                 {console.FigureScope{Agent: "ada"}, adas, 1},
		"bea in the room":     {console.FigureScope{Space: room, Agent: "bea"}, beas, 0},
		"telegram":            {console.FigureScope{Platform: "telegram"}, runs, 1},
		"ada on telegram":     {console.FigureScope{Agent: "ada", Platform: "telegram"}, adas, 1},
		"all three":           {console.FigureScope{Space: room, Agent: "bea", Platform: "telegram"}, beas, 0},
		"telegram in another": {console.FigureScope{Space: "none", Platform: "telegram"}, console.FigureCounts{}, 0},
	} {
		for _, span := range []time.Duration{console.FigureHour, console.FigureDay} {
			got, times := w.total(span, c.of)
			if got != c.want || times.Answers() != c.answers {
				t.Errorf("%s by %v: %+v with %v, want %+v with %d answers", name, span, got, times, c.want, c.answers)
			}
		}
	}
	_, times := w.total(console.FigureDay, console.FigureScope{})
	if p, ok := times.Quantile(0.5); !ok || p < 30*7/8.0 || p > 30*9/8.0 {
		t.Errorf("the answer took %v s, want 30", p)
	}
	q := console.FigureQuery{Span: console.FigureDay, From: morning.Add(-24 * time.Hour), To: w.now, FigureScope: console.FigureScope{Space: room}}
	parts, err := w.s.Figures.Parts(t.Context(), q)
	w.ok(err)
	want := []console.FigureTotal{{Platform: "telegram", FigureCounts: runs}, {Agent: "ada", FigureCounts: adas}, {Agent: "bea", FigureCounts: beas}}
	if diff := cmp.Diff(want, parts); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
}

// scanned counts by reading all logs of the rooms and of the minds.
func (w *world) scanned(rooms ...spaces.SpaceID) (c console.FigureCounts) {
	w.t.Helper()
	for _, room := range rooms {
		for _, e := range w.log(room) {
			switch b := e.Body.(type) { //nolint:gochecksumtype // no other event is counted
			case spaces.MessagePosted:
				if e.Source != "" {
					c.Received++
				}
			case spaces.ActionDelivered:
				c.Sent++
			case spaces.SendFailed:
				if b.State == spaces.ActionFailed || b.State == spaces.ActionExpired {
					c.Unsent++
				}
			}
		}
	}
	for _, m := range []spaces.Mind{ada, bea} {
		for _, b := range w.inner(m) {
			switch b := b.(type) { //nolint:gochecksumtype // no other event is counted
			case spaces.CallDenied:
				c.Denied++
			case spaces.CycleStopped:
				run, err := w.s.Run(w.t.Context(), string(b.Cycle))
				w.ok(err)
				c.AddUsage(run.Cycle.Usage)
				if b.Reason == spaces.StopModelError {
					c.Failed++
				}
			}
		}
	}
	return c
}

// Whenever the process ends, and however few events are counted at a time, the figures are
// those of the logs.
func figuresCrashed(t *testing.T, w *world) {
	room := w.family("ada", "bea")
	for i := range 12 {
		w.chatter(room)
		for range i {
			_, err := w.s.Figures.Count(t.Context(), 1+i)
			w.ok(err)
		}
		w.now = w.now.Add(7 * time.Hour)
		if i%3 == 2 {
			w.s = w.s.Restart(t, i%2 == 0)
		}
	}
	w.counted(5)
	want := w.scanned(room)
	if want.Received != 24 || want.Failed != 12 || want.Unsent != 12 {
		t.Fatalf("the logs hold %+v", want)
	}
	for _, span := range []time.Duration{console.FigureHour, console.FigureDay} {
		if got, times := w.total(span, console.FigureScope{}); got != want || times.Answers() != 12 {
			t.Errorf("by %v: %+v with %d answers, want %+v with 12", span, got, times.Answers(), want)
		}
	}
	if days := w.figures(console.FigureDay, console.FigureScope{}); len(days) != 4 {
		t.Errorf("%d days, want 4: %+v", len(days), days)
	}
}

// Processes that count at the same time count each event once.
func figuresTogether(t *testing.T, w *world) {
	room := w.family("ada", "bea")
	for range 5 {
		w.chatter(room)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for more := true; more; {
				var err error
				if more, err = w.s.Figures.Count(t.Context(), 3); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	w.counted(1000)
	if got, _ := w.total(console.FigureHour, console.FigureScope{}); got != w.scanned(room) {
		t.Errorf("counted %+v, want %+v", got, w.scanned(room))
	}
}

func figuresDropped(t *testing.T, w *world) {
	room := w.family("ada", "bea")
	for day := range 20 {
		w.now = morning.Add(time.Duration(day) * 24 * time.Hour)
		w.chatter(room)
	}
	w.counted(1000)
	w.ok(w.s.Figures.DropHours(t.Context(), w.now))
	hours, days := w.figures(console.FigureHour, console.FigureScope{}), w.figures(console.FigureDay, console.FigureScope{})
	if len(days) != 20 || len(hours) != 14 {
		t.Errorf("there are %d days and %d hours, want 20 and 14", len(days), len(hours))
	}
	if c, times := w.total(console.FigureHour, console.FigureScope{}); times.Answers() != 14 || c.Received != 28 {
		t.Errorf("hours have %s answers and %d messages, want 14 and 28", strconv.FormatInt(times.Answers(), 10), c.Received)
	}
}
