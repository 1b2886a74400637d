package shell_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/money"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// notices returns what the process itself has to say in a room, and has the
// platform take everything that waits there.
func (w *world) notices() []string {
	w.t.Helper()
	var said []string
	for {
		due, err := w.store.Border().Claim(w.t.Context(), account, time.Now(), 100)
		w.ok(err)
		if len(due) == 0 {
			return said
		}
		for _, a := range due {
			if a.Cycle == "" {
				said = append(said, a.Text)
			}
		}
		w.settleAll(due)
	}
}

// DESIGN 6.1, S13: the room is told once when a chain of agents has come to its
// end, however many agents are there, and once more after a person has spoken.
func TestTheEndOfAChainIsSaidOnce(t *testing.T) {
	for _, agents := range [][]string{{"Ada", "Max"}, {"Ada", "Bob", "Cyd", "Max"}} {
		t.Run(strings.Join(agents, " "), func(t *testing.T) {
			play(t, llmtest.LeakyModel{Brief: true}, func(w *world) {
				room := w.room("hub", func(o *spaces.OpenRequest) { o.Wake = spaces.WakeAll })
				w.start()
				for n := range 3 {
					w.says(room, "Kai", "talk among yourselves")
					w.settle()
					if said := w.notices(); len(said) != 1 || !strings.HasPrefix(said[0], "I stop here: agents") {
						t.Errorf("after message %d the room is told %q, want one sentence", n+1, said)
					}
					pass(time.Hour)
					w.settle()
					if said := w.notices(); len(said) != 0 {
						t.Errorf("an hour after message %d the room is told %q", n+1, said)
					}
				}
			}, agents...)
		})
	}
}

// SECURITY S13: a person's words cost no more in a day than they may, by at most
// one call; others go on, tomorrow they do too, and they are told once.
func TestASendersDayIsBounded(t *testing.T) {
	m := answering(func(int, llm.ModelRequest) (llm.ModelResponse, error) { return telling("Nothing to add."), nil })
	play(t, m, func(w *world) {
		set := twoPhases()
		set.Budget.Sender.Tokens = 400 // a call takes 110
		w.poll = time.Minute
		w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings { return set }
		room := w.room("hub", func(o *spaces.OpenRequest) { o.Wake = spaces.WakeAll })
		w.start()
		for range 5 {
			w.says(room, "Eve", "again")
			w.settle()
		}
		want := []spaces.StopReason{spaces.StopSilent, spaces.StopSilent}
		if got := w.stops(mind("Ada")); !slices.Equal(got, want) {
			t.Errorf("her five messages ended as %v, want two runs", got)
		}
		if said := w.notices(); len(said) != 1 || !strings.Contains(said[0], "your budget for today") {
			t.Errorf("the room is told %q, want one sentence", said)
		}
		w.says(room, "Kai", "and I?")
		w.settle()
		if n := len(w.stops(mind("Ada"))); n != 3 {
			t.Errorf("%d runs after another person wrote, want 3", n)
		}
		pass(24 * time.Hour)
		w.says(room, "Eve", "a new day")
		w.settle()
		if n := len(w.stops(mind("Ada"))); n != 4 {
			t.Errorf("%d runs the next day, want 4", n)
		}
	})
}

// A person's words cost no more money in a day than they may; the tokens of a stand-in
// are priced as its own, and those of a model without a price cost nothing.
func TestASendersMoneyIsBounded(t *testing.T) {
	answers := []string{"dear", "dear", "free", "dear"}
	m := answering(func(n int, _ llm.ModelRequest) (llm.ModelResponse, error) {
		resp := telling("Nothing to add.")
		resp.Model = answers[(n-1)%len(answers)]
		return resp, nil
	})
	play(t, m, func(w *world) {
		prices := map[string]float64{"dear": 1000, "free": 0, "": 1}
		w.agents[0].Price = func(model string) money.TokenPrice {
			return money.TokenPrice{Input: prices[model], Output: prices[model], Currency: "USD"}
		}
		set := twoPhases()
		set.Budget.Sender = money.SpendLimit{Amount: money.Amount{Micros: 300_000, Currency: "USD"}}
		w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings { return set }
		room := w.room("hub", func(o *spaces.OpenRequest) { o.Wake = spaces.WakeAll })
		w.start()
		for range 8 {
			w.says(room, "Eve", "again")
			w.settle()
		}
		// Each run thinks for 110 millionths; three were answered for 110,000 each.
		spent, err := w.store.Shell().Spent(w.t.Context(), time.Now(), "ada", room)
		w.ok(err)
		if n := len(w.stops(mind("Ada"))); n != 4 || spent.Agent.Cost != 3*110_000+4*110 || spent.Space != spent.Agent {
			t.Errorf("%d of her messages were answered, for %+v", n, spent)
		}
		if said := w.notices(); len(said) != 1 || !strings.Contains(said[0], "your budget for today") {
			t.Errorf("the room is told %q, want one sentence", said)
		}
	})
}

// S13: overspend is at most one call also within a run, and the room is told.
func TestASendersBudgetEndsTheirRun(t *testing.T) {
	calls := 0
	m := answering(func(n int, _ llm.ModelRequest) (llm.ModelResponse, error) {
		calls++
		return calling(n, "note", `{"text":"`+strings.Repeat("x", n)+`"}`), nil
	})
	play(t, m, func(w *world) {
		set := twoPhases()
		set.Budget.Sender.Tokens = 330
		w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings { return set }
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "work")
		w.settle()
		if stops := w.stops(mind("Ada")); !slices.Equal(stops, []spaces.StopReason{spaces.StopBudget}) || calls != 2 {
			t.Errorf("it ended as %v after %d acts, want the budget after 2", stops, calls)
		}
		if said := w.notices(); len(said) != 1 {
			t.Errorf("the room is told %q, want one sentence", said)
		}
	})
}

// S13: what people have set for later is theirs to pay, however often it sets itself
// anew.
func TestASendersTimersAreBounded(t *testing.T) {
	acts := 0
	m := answering(func(n int, _ llm.ModelRequest) (llm.ModelResponse, error) {
		acts++
		return calling(n, "timer", `{"seconds":60,"note":"again"}`), nil
	})
	play(t, m, func(w *world) {
		set := twoPhases()
		set.Budget.Sender.Tokens, set.MaxSteps = 1000, 2 // a call takes 110
		w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings { return set }
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "again and again")
		w.settle()
		pass(10 * time.Minute)
		w.settle()
		stops := w.stops(mind("Ada"))
		if acts != 5 || len(stops) != 6 || stops[5] != spaces.StopBudget { // two calls a run
			t.Errorf("%d acts and %v, want 5 runs with an act, and then the end of the budget", acts, stops)
		}
		if said := w.notices(); len(said) != 1 {
			t.Errorf("the room is told %q, want one sentence", said)
		}
	})
}

// A day's budget of the agent ends runs silently for nobody: each room is told
// once a day.
func TestASpentDayIsSaidOnce(t *testing.T) {
	m := answering(func(int, llm.ModelRequest) (llm.ModelResponse, error) { return telling("Nothing to add."), nil })
	play(t, m, func(w *world) {
		set := twoPhases()
		set.Budget.Agent.Tokens = 200
		w.poll = time.Minute
		w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings { return set }
		rooms := map[string]spaces.SpaceID{"Kai": w.room("kai", direct), "Zoe": w.room("zoe", direct)}
		w.start()
		for day := range 2 {
			for range 4 {
				for _, who := range []string{"Kai", "Zoe"} {
					w.says(rooms[who], who, "hello")
					w.settle()
				}
			}
			if said := w.notices(); len(said) != 2 || !strings.Contains(said[0], "budget for today") {
				t.Errorf("on day %d the rooms are told %q, want one sentence each", day, said)
			}
			pass(24 * time.Hour)
		}
	})
}

// I15, K23: a timer, or a plan for one time, that comes due when the tokens of the day are used
// up wakes its agent on the next day, once, and the agent is told when it was due. What
// recurs has its next time.
func TestWhatComesDueOnASpentDayIsPutOff(t *testing.T) {
	var told []string
	set := false
	m := answering(func(n int, r llm.ModelRequest) (llm.ModelResponse, error) {
		if !set {
			set = true
			many := calling(n, "timer", `{"seconds":3600,"note":"the doctor"}`)
			for i, when := range []string{`"at":"2000-01-01 02:00"`, `"cron":"0 3 * * *"`} {
				many.Calls = append(many.Calls, calling(100+i, "plan", `{`+when+`,"note":"the cat"}`).Calls...)
			}
			return many, nil
		}
		var text strings.Builder
		for _, said := range r.Messages {
			if strings.Contains(said.Text, "put off") {
				text.WriteString(said.Text)
			}
		}
		told = append(told, text.String())
		return telling("Nothing to add."), nil
	})
	play(t, m, func(w *world) {
		var tokens atomic.Int64
		tokens.Store(200) // a call takes 110
		w.poll = time.Minute
		w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings {
			settings := twoPhases()
			settings.Budget.Agent.Tokens = int(tokens.Load())
			return settings
		}
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "remind me")
		w.settle()
		pass(23 * time.Hour)
		w.settle()
		if len(told) > 0 || len(w.stops(mind("Ada"))) != 4 {
			t.Fatalf("on the first day it is told %q in %d runs", told, len(w.stops(mind("Ada"))))
		}
		tokens.Store(0)
		pass(90 * time.Minute)
		w.settle()
		last := told[max(0, len(told)-1):]
		if len(told) != 2 || strings.Count(last[0], `"the doctor (put off: it was due Sat 2000-01-01 01:00`) != 1 ||
			strings.Count(last[0], `"the cat (put off: it was due Sat 2000-01-01 02:00`) != 1 {
			t.Errorf("on the second day it is told %q, want the timer and the plan for one time", told)
		}
	})
}

// SECURITY S13: what timers use is counted for the room where they were set, and ends with
// what that room may use; those of other rooms go on.
func TestTimersEndWithTheirRoom(t *testing.T) {
	asked := map[string]bool{}
	m := answering(func(n int, r llm.ModelRequest) (llm.ModelResponse, error) {
		last := r.Messages[len(r.Messages)-1].Text
		for room, after := range map[string][]int{"kai": {600, 1200, 1800}, "zoe": {2400}} {
			if !strings.Contains(last, fmt.Sprintf("ACTIVE SPACE: %q", room)) || asked[room] {
				continue
			}
			asked[room] = true
			var many llm.ModelResponse
			for i, seconds := range after {
				many.Calls = append(many.Calls, calling(100*n+i, "timer", fmt.Sprintf(`{"seconds":%d,"note":"the cat"}`, seconds)).Calls...)
			}
			return many, nil
		}
		return telling("Nothing to add."), nil
	})
	play(t, m, func(w *world) {
		const call = 110
		w.poll = time.Minute
		w.settings = func(_ spaces.AgentID, room spaces.SpaceID) shell.AgentSettings {
			settings := twoPhases()
			if settings.Budget.Space.Tokens = 4 * call; room == "" {
				settings.Budget.Space.Tokens = 1
			}
			return settings
		}
		kai, zoe := w.room("kai", direct), w.room("zoe", direct)
		w.start()
		w.says(kai, "Kai", "remind me")
		w.settle()
		w.says(zoe, "Zoe", "remind me")
		w.settle()
		pass(time.Hour)
		w.settle()
		for _, room := range []spaces.SpaceID{kai, zoe} { // three calls for the words, one for a timer
			if spent, err := w.store.Shell().Spent(w.t.Context(), time.Now(), "ada", room); err != nil || spent.Space.Tokens != 4*call {
				t.Errorf("%s used %d tokens, want %d: %v", room, spent.Space.Tokens, 4*call, err)
			}
		}
		quiet, spent := spaces.StopSilent, spaces.StopBudget
		want := []spaces.StopReason{quiet, quiet, quiet, spent, spent, quiet} // the words, Kai's timers, Zoe's
		if diff := cmp.Diff(want, w.stops(mind("Ada"))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// SECURITY S12, S19, "Whose authority": what each authority may ask for.
func TestWhatAnAuthorityMay(t *testing.T) {
	risks := []spaces.ToolRisk{spaces.RiskReadOwn, spaces.RiskReadOutside, spaces.RiskWriteOwn, spaces.RiskWriteOutside, spaces.RiskSettings}
	for who, want := range map[spaces.AuthorityLevel]int{spaces.OfStranger: 0, spaces.OfMember: 3, spaces.OfAdmin: 4, spaces.OfOwner: 4} {
		for n, r := range risks {
			if got := who.May(r); got != (n < want) {
				t.Errorf("%s may %s: %t", who, r, got)
			}
		}
	}
}
