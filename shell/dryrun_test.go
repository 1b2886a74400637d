package shell_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/store/readmodel"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// obedient is the model of the rehearsals: it sends, edits, reacts, sets timers
// and remembers, whatever it is asked.
func obedient() llm.ChatModel {
	return mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		if r.NoCalls {
			return telling("<notes>do all of it</notes>"), nil
		}
		switch n := acts(r); n {
		case 0:
			return calling(n, "send_message", `{"text":"as you say"}`), nil
		case 1:
			return calling(n, "timer", `{"seconds":2592000,"note":"again"}`), nil
		case 2:
			return calling(n, "remember", `{"fact":"Kai wants everything done","kind":"preference"}`), nil
		}
		return telling("Responded to Kai about all of it. Did it."), nil
	})
}

// past looks back to a cycle of Ada.
func (w *world) past(id spaces.CycleID) *readmodel.HistoricalView {
	w.t.Helper()
	p, err := w.store.Console().Past(w.t.Context(), string(id))
	w.ok(err)
	return p
}

// rehearse lives a run again.
func (w *world) rehearse(p *readmodel.HistoricalView, change ...func(*shell.Options)) shell.DryRun {
	o := w.options(w.ports(w.store.Shell()), "rehearsal")
	o.Record = p
	for _, f := range change {
		f(&o)
	}
	return shell.Rehearse(w.t.Context(), o, p.Wake())
}

// lived returns the cycles of Ada, oldest first.
func (w *world) lived() []spaces.ClosedCycle {
	w.t.Helper()
	runs, err := w.store.Shell().Cycles(w.t.Context(), mind("Ada"), 0, true, 1000)
	w.ok(err)
	return runs
}

// SECURITY rehearsal branches, DESIGN 4: five hundred rehearsals with a model that
// does whatever it is told leave the record as it was: nothing is sent, said,
// remembered or set.
func TestFiveHundredRehearsalsLeaveNoTrace(t *testing.T) {
	play(t, obedient(), func(w *world) {
		room := w.room("kai", direct)
		w.start()
		for turn := range 5 {
			w.says(room, "Kai", fmt.Sprintf("do it, turn %d", turn))
			w.settle()
		}
		w.deliver()
		runs, log, inner := w.lived(), w.log(room), w.inner(mind("Ada"))
		for n := range testutil.Repeats(500) {
			r := w.rehearse(w.past(runs[n%len(runs)].ID))
			if len(r.Said()) != 1 || len(r.Timers) != 1 || r.Close.Stop != spaces.StopCompleted {
				t.Fatalf("rehearsal %d said %v, set %d timers and ended %s", n, r.Said(), len(r.Timers), r.Close.Stop)
			}
		}
		if diff := cmp.Diff(log, w.log(room)); diff != "" {
			t.Errorf("the room (-before +after):\n%s", diff)
		}
		if diff := cmp.Diff(inner, w.inner(mind("Ada"))); diff != "" {
			t.Errorf("the inner log (-before +after):\n%s", diff)
		}
		due, err := w.store.Border().Claim(w.t.Context(), account, time.Now(), 1000)
		w.ok(err)
		if len(due) > 0 || len(w.lived()) != len(runs) {
			t.Errorf("%d actions wait, %d runs are recorded, there were %d", len(due), len(w.lived()), len(runs))
		}
	})
}

// DESIGN 4: with nothing changed, a rehearsal is shown the very frame that the run
// was shown, whatever has happened since: later words, memories, cuts.
func TestARehearsalSeesWhatTheRunSaw(t *testing.T) {
	play(t, obedient(), func(w *world) {
		w.zone = time.FixedZone("IST", 5*3600+1800)
		room, other := w.room("kai", direct), w.room("nova", direct)
		w.start()
		for turn := range 12 {
			w.says([]spaces.SpaceID{room, other}[turn%3/2], "Kai", fmt.Sprintf("turn %d", turn))
			w.settle()
			pass(7 * time.Minute)
		}
		for _, run := range w.lived() {
			p := w.past(run.ID)
			if got, want := w.rehearse(p).Steps[0].Request, p.Run().Steps[0].Request; got != want {
				t.Errorf("run %d began with the frame %s, its rehearsal with %s", run.N, want, got)
			}
		}
	})
}

// SECURITY S14: what was deleted since is not shown to whoever rehearses a run, though
// the run, or one before it, saw it; what was deleted before then is as the run saw it.
func TestARehearsalIsNotShownWhatWasDeletedSince(t *testing.T) {
	play(t, replier("noted"), func(w *world) {
		room := w.room("kai", direct)
		w.start()
		var said []spaces.MessageRef
		for _, text := range []string{"the safe opens with 8-19-47", "the pin is 4711", "and the dog is Rex"} {
			said = append(said, w.says(room, "Kai", text))
			w.settle()
		}
		runs := w.lived()
		w.does(room, "Kai", spaces.MessageDeleted{Ref: said[0]})
		w.does(room, "Kai", spaces.MessageEdited{Ref: said[1], Text: "the pin is a secret"})
		w.does(room, "Kai", spaces.MessageDeleted{Ref: said[1]})
		w.settle()
		for n, run := range runs {
			k := &keeper{ChatModel: replier("noted")}
			w.rehearse(w.past(run.ID), func(o *shell.Options) { o.Agents[0].Model = k })
			shown := k.frame()
			if strings.Contains(shown, "8-19-47") || strings.Contains(shown, "4711") {
				t.Errorf("the rehearsal of run %d is shown:\n%s", n+1, shown)
			}
			if n == 2 && !strings.Contains(shown, "Rex") {
				t.Errorf("the rehearsal lacks what was said:\n%s", shown)
			}
		}
	})
}

// SECURITY S14: nor by the note of the timer that woke the run.
func TestARehearsalIsNotShownDeletedWordsByItsTimer(t *testing.T) {
	const words = "the safe opens with 8-19-47"
	m := mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		if !r.NoCalls && acts(r) == 0 && !strings.Contains(whole(r), "TIMER:") {
			return calling(0, "timer", `{"seconds":3600,"note":"say that `+words+`"}`), nil
		}
		return telling("Nothing to add."), nil
	})
	play(t, m, func(w *world) {
		room := w.room("kai", direct)
		w.start()
		ref := w.says(room, "Kai", words)
		w.settle()
		pass(2 * time.Hour)
		w.settle()
		runs := w.lived()
		w.does(room, "Kai", spaces.MessageDeleted{Ref: ref})
		w.settle()
		p := w.past(runs[len(runs)-1].ID)
		k := &keeper{ChatModel: replier("noted")}
		w.rehearse(p, func(o *shell.Options) { o.Agents[0].Model = k })
		if timer := p.Wake().Timer; timer == nil || strings.Contains(k.frame(), "8-19-47") {
			t.Errorf("woken by %+v, the rehearsal is shown:\n%s", timer, k.frame())
		}
	})
}

// ECOSYSTEM 3, PRD-5.5-8: another model, prompt or window is all that differs.
func TestARehearsalChangesWhatItIsToldTo(t *testing.T) {
	play(t, obedient(), func(w *world) {
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "do it")
		w.settle()
		k := &keeper{ChatModel: replier("in my words")}
		r := w.rehearse(w.past(w.lived()[0].ID), func(o *shell.Options) {
			o.Agents = []shell.Agent{{ID: "ada", Name: "Ada", Model: k, System: "You are a pirate."}}
			o.Settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings {
				set := twoPhases()
				set.ModelName, set.ContextTokens = "other", 9000
				return set
			}
		})
		if diff := cmp.Diff([]string{"in my words"}, r.Said()); diff != "" {
			t.Errorf("said (-want +got):\n%s", diff)
		}
		first := k.asked[0]
		if first.Model != "other" || first.Messages[0].Text != "You are a pirate." {
			t.Errorf("asked %q with %q", first.Model, first.Messages[0].Text)
		}
	})
}

// REQUIREMENTS branches, SEQ-28, SEQ-08: after fork the cycle goes on beside the
// room: its words stand on a branch that its next frame names, and reach nobody,
// also when the process dies in between; the next cycle speaks aloud again.
func TestAfterAForkNothingIsSaidAloud(t *testing.T) {
	for _, die := range []bool{false, true} {
		t.Run(fmt.Sprintf("die %v", die), func(t *testing.T) {
			k := &keeper{ChatModel: mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
				loud := strings.Contains(whole(r), "say it aloud")
				switch n := acts(r); {
				case r.NoCalls:
					return telling("hm"), nil
				case n == 0 && !loud:
					return calling(n, "fork", `{"reason":"try a joke"}`), nil
				case n == 0 || n == 1 && !loud:
					return calling(10+n, "send_message", `{"text":"a joke"}`), nil
				}
				return telling("Responded to Kai about jokes. Tried one."), nil
			})}
			play(t, k, func(w *world) {
				room := w.room("kai", direct)
				w.start()
				w.says(room, "Kai", "a joke?")
				if die {
					for k.times() < 3 { // the fork is recorded
						<-time.After(time.Millisecond)
					}
					w.crash()
					w.start()
				}
				w.settle()
				if said := w.spoken(room); len(said) > 0 {
					t.Fatalf("said aloud: %v", said)
				}
				last := k.asked[len(k.asked)-1].Messages
				if tail := last[len(last)-1].Text; !strings.Contains(tail, `on branch "rehearsal:`) {
					t.Errorf("the agent is not told where it speaks:\n%s", tail)
				}
				stopped := bodies[spaces.CycleStopped](w.inner(mind("Ada")))
				if len(stopped) != 1 || stopped[0].Reason != spaces.StopSilent {
					t.Errorf("ended as %+v", stopped)
				}
				branch := spaces.BranchID("rehearsal:" + string(stopped[0].Cycle))
				events, err := w.store.Shell().Events(w.t.Context(), room, branch, 0, 100)
				w.ok(err)
				if said := bodies[spaces.MessagePosted](events); len(said) != 2 || said[1].Text != "a joke" {
					t.Errorf("the branch holds %+v", said)
				}
				w.says(room, "Kai", "say it aloud")
				w.settle()
				if said := w.spoken(room); len(said) != 1 {
					t.Errorf("said aloud: %v", said)
				}
			})
		})
	}
}

// whoever rehearses with a smaller window still gets a frame that fits.
func TestARehearsalFitsASmallerWindow(t *testing.T) {
	play(t, chatty(), func(w *world) {
		room := w.room("kai", direct)
		w.start()
		for turn := range 12 {
			w.says(room, "Kai", fmt.Sprintf("topic-%d %s", turn, strings.Repeat("tell me more ", 60)))
			w.settle()
		}
		runs := w.lived()
		k := &keeper{ChatModel: chatty()}
		r := w.rehearse(w.past(runs[len(runs)-1].ID), func(o *shell.Options) {
			o.Agents[0].Model = k
			o.Settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings {
				set := twoPhases()
				set.ContextTokens, set.MaxOutput = 6000, 500
				return set
			}
		})
		var count hud.TokenCounter
		for _, asked := range k.asked {
			n := 0
			for _, m := range asked.Messages {
				n += count.Count(m.Text)
			}
			if n > 5500 {
				t.Errorf("%d tokens", n)
			}
		}
		if len(r.Cuts) == 0 {
			t.Error("nothing was cut for the smaller window")
		}
	})
}
