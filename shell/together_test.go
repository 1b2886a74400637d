package shell_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// slow is a model that takes its time for every answer.
func slow(d time.Duration, m llm.ChatModel) mindful {
	return func(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		select {
		case <-time.After(d):
			return m.Generate(ctx, r)
		case <-ctx.Done():
			return llm.ModelResponse{}, llm.Interrupted(ctx)
		}
	}
}

// CON-52, SEQ-22, I3, I4: twenty messages at once in one chat are answered in at
// most three cycles, and each of them is in exactly one.
func TestTwentyMessagesAtOnceAreAFewCycles(t *testing.T) {
	for name, m := range map[string]llm.ChatModel{ // fast as it is, nobody answers before all have written
		"fast": slow(time.Millisecond, replier("noted")), "slow": slow(2*time.Second, replier("noted")),
	} {
		t.Run(name, func(t *testing.T) {
			play(t, m, func(w *world) {
				room := w.room("kai", direct)
				w.start()
				var wg sync.WaitGroup
				for i := range 20 {
					in := w.update(room, "Kai", spaces.MessagePosted{Text: "message " + strconv.Itoa(i)})
					wg.Go(func() { w.record(in) })
				}
				wg.Wait()
				w.settle()
				if n := len(w.stops(mind("Ada"))); n < 1 || n > 3 {
					t.Errorf("%d cycles, want at most 3", n)
				}
				var shown []string
				closed, err := w.store.Shell().Cycles(w.t.Context(), mind("Ada"), 0, true, 10)
				w.ok(err)
				for _, c := range closed {
					for _, turn := range c.Turns {
						shown = append(shown, turn.Text)
					}
				}
				for i := range 20 {
					if n := strings.Count(strings.Join(shown, "\n"), fmt.Sprintf("%q ← TRIGGER", "message "+strconv.Itoa(i))); n != 1 {
						t.Errorf("message %d was shown %d times, want once", i, n)
					}
				}
			})
		})
	}
}

// DESIGN 6.4: what arrives while a cycle runs joins it: it is shown in the next
// step and wakes nothing else.
func TestWhatArrivesMeanwhileJoinsTheCycle(t *testing.T) {
	m := llmtest.NewScripted(t.Errorf,
		llmtest.Says("hm"),
		llmtest.Calls(llmtest.Call("a", "note", map[string]string{"text": "first"})),
		llmtest.Says("Nothing to add."),
	)
	play(t, slow(10*time.Second, m), func(w *world) {
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "one")
		pass(15 * time.Second) // during the second call
		w.says(room, "Kai", "two")
		w.settle()
		if n := len(w.stops(mind("Ada"))); n != 1 || m.Left() != 0 {
			t.Errorf("%d cycles, %d answers left; want one cycle that used all", n, m.Left())
		}
		last := whole(m.Requests()[2])
		if strings.Count(last, `"two" ← TRIGGER`) != 1 || strings.Count(last, `"one" ← TRIGGER`) != 1 {
			t.Errorf("the last frame does not show both lines once:\n%s", last)
		}
		up, err := w.store.Shell().Uplinks(w.t.Context(), mind("Ada"))
		w.ok(err)
		if want := w.log(room)[len(w.log(room))-1].Seq; up[0].Cursor != want {
			t.Errorf("the uplink has been shown up to %d, want %d", up[0].Cursor, want)
		}
	})
}

// TOOLS 3.5: what arrives while the model asks for a tool is for the next cycle: this one
// may end with the call, and would be done with it unseen.
func TestWhatArrivesBeforeAToolIsCalledIsForTheNextCycle(t *testing.T) {
	m := llmtest.NewScripted(t.Errorf,
		llmtest.Calls(llmtest.Call("a", "weather", map[string]string{"place": "Bern"})),
		llmtest.Says("Nothing to add."),
	)
	play(t, slow(10*time.Second, m), func(w *world) {
		w.settings, w.tools = onePhase, weather(func(context.Context, shell.ToolUse) (shell.ToolAnswer, error) {
			return shell.ToolAnswer{Input: spaces.ToolInput{Question: "Which size?", Options: []string{"s", "m"}}}, nil
		})
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "one")
		pass(5 * time.Second) // during the first call
		w.says(room, "Kai", "two")
		w.settle()
		if n := len(w.stops(mind("Ada"))); n != 2 || m.Left() != 0 {
			t.Fatalf("%d cycles, %d answers left; want two cycles that used all", n, m.Left())
		}
		if last := whole(m.Requests()[1]); strings.Count(last, `"two" ← TRIGGER`) != 1 {
			t.Errorf("the last frame does not show the second line:\n%s", last)
		}
	})
}

// What arrives while the model thinks is shown before anything is done: calls that it made while
// it thought were made without knowing of it.
func TestWhatArrivesDuringThoughtIsShownBeforeItsCalls(t *testing.T) {
	asked := 0
	seen := ""
	m := mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		asked++
		seen = whole(r)
		answer := `{"text":"Forty-two.","account":"Responded to Kai about sums."}`
		if strings.Contains(seen, "times eight") {
			answer = `{"text":"Forty-eight.","account":"Responded to Kai about sums."}`
		}
		return calling(asked, "send_message", answer), nil
	})
	play(t, slow(10*time.Second, m), func(w *world) {
		w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings { return twoPhases() }
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "what is six times seven?")
		pass(5 * time.Second) // during the thought
		w.says(room, "Kai", "I mean: times eight")
		w.settle()
		testutil.Same(t, "said", []string{"Forty-eight."}, w.spoken(room))
		if strings.Count(seen, `times eight" ← TRIGGER`) != 1 {
			t.Errorf("the last frame does not show the second line once:\n%s", seen)
		}
	})
}

// DESIGN 2, DELIVERY 2.2: what arrives during the last step that a cycle may take
// is for the next cycle: this one would be done with it unseen.
func TestWhatArrivesInTheLastStepIsForTheNextCycle(t *testing.T) {
	var w *world
	var room spaces.SpaceID
	seen := ""
	m := answering(func(n int, r llm.ModelRequest) (llm.ModelResponse, error) {
		if n == 2 {
			w.says(room, "Kai", "one more thing")
		}
		if n > 2 {
			seen += whole(r)
			return telling("Nothing to add."), nil
		}
		return calling(n, "note", `{"text":"`+strings.Repeat("x", n)+`"}`), nil
	})
	play(t, m, func(played *world) {
		w = played
		s := twoPhases()
		s.MaxSteps = 3 // one to think, two to act
		w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings { return s }
		room = w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "hello")
		w.settle()
		testutil.Same(t, "stop reasons", []spaces.StopReason{spaces.StopMaxSteps, spaces.StopSilent}, w.stops(mind("Ada")))
		if !strings.Contains(seen, "one more thing") {
			t.Error("the agent has not seen what came last")
		}
	})
}

// DESIGN 6.4, R-4: an act takes a step, so what arrives when few steps are left is for
// the next cycle: this one could not answer all of it.
func TestWhatArrivesLateIsAnsweredByTheNextCycle(t *testing.T) {
	var w *world
	var room spaces.SpaceID
	questions := []string{"how is the roof?", "who has the key?", "when is dinner?"}
	asked := questions
	m := answering(func(n int, r llm.ModelRequest) (llm.ModelResponse, error) {
		switch {
		case r.NoCalls:
			return telling("hm"), nil
		case n == 10:
			for _, q := range questions {
				w.says(room, "Kai", q)
			}
		case n > 10 && len(asked) > 0 && strings.Contains(whole(r), asked[0]):
			q := asked[0]
			asked = asked[1:]
			return calling(n, "send_message", fmt.Sprintf(`{"text":"You ask %s"}`, q)), nil
		case n > 10:
			return telling("Nothing to add."), nil
		}
		return calling(n, "note", `{"text":"`+strings.Repeat("x", n)+`"}`), nil
	})
	play(t, m, func(played *world) {
		w = played
		room = w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "hello")
		w.settle()
		var want []string
		for _, q := range questions {
			want = append(want, "You ask "+q)
		}
		testutil.Same(t, "said", want, w.spoken(room))
	})
}

// A wake may say only so much in rooms. What arrives when it has said nearly all of it is for the
// next cycle: this one could see it and not answer it.
func TestWhatArrivesWhenNearlyAllIsSaidIsAnsweredByTheNextCycle(t *testing.T) {
	var w *world
	var room spaces.SpaceID
	var asked []string
	ask := func() {
		asked = append(asked, fmt.Sprintf("question %02d", len(asked)+1))
		w.says(room, "Kai", asked[len(asked)-1])
	}
	m := answering(func(n int, r llm.ModelRequest) (llm.ModelResponse, error) {
		if len(asked) < 20 {
			ask()
		}
		shown := whole(r)
		for _, q := range asked {
			if !strings.Contains(shown, "Answer to "+q) && strings.Contains(shown, q+`" ← TRIGGER`) {
				return calling(n, "send_message", fmt.Sprintf(`{"text":"Answer to %s","more":true}`, q)), nil
			}
		}
		return telling("Responded to Kai. Nothing is pending."), nil
	})
	play(t, m, func(played *world) {
		w = played
		w.settings = func(a spaces.AgentID, id spaces.SpaceID) shell.AgentSettings {
			s := onePhase(a, id)
			s.SendStale = true
			return s
		}
		room = w.room("kai", direct)
		w.start()
		ask()
		w.settle()
		var want []string
		for _, q := range asked {
			want = append(want, "Answer to "+q)
		}
		got := w.spoken(room)
		slices.Sort(got)
		testutil.Same(t, "said", want, got)
	})
}

// What waits in more threads than a wake may otherwise act in is answered in each, as after an
// outage.
func TestEveryThreadThatWaitsIsAnswered(t *testing.T) {
	const threads = 11
	calls := 0
	m := answering(func(n int, r llm.ModelRequest) (llm.ModelResponse, error) {
		calls = n
		for i := range threads {
			q := fmt.Sprintf("question %02d", i)
			if shown := whole(r); strings.Contains(shown, q+`" ← TRIGGER`) && !strings.Contains(shown, "Answer to "+q) {
				return calling(n, "send_message", fmt.Sprintf(`{"text":"Answer to %s","thread":"t%d","more":true}`, q, i)), nil
			}
		}
		return telling("Responded to Kai. Nothing is pending."), nil
	})
	play(t, m, func(w *world) {
		w.settings = onePhase
		room := w.room("kai", direct)
		var want []string
		for i := range threads {
			in := w.update(room, "Kai", spaces.MessagePosted{Text: fmt.Sprintf("question %02d", i)})
			in.Event.Thread = spaces.ThreadID(fmt.Sprintf("t%d", i))
			w.record(in)
			want = append(want, fmt.Sprintf("Answer to question %02d", i))
		}
		w.start()
		w.settle()
		testutil.Same(t, "said", want, w.spoken(room))
		if calls != threads+1 {
			t.Errorf("the model was asked %d times", calls)
		}
	})
}

// DESIGN 2, BLU-41: words that are stale when few steps are left have the agent look
// again, and what it is shown then bears the mark of what wakes.
func TestWhatIsShownBecauseOfStaleSpeechIsMarkedLate(t *testing.T) {
	var w *world
	var room spaces.SpaceID
	var again string
	m := answering(func(n int, r llm.ModelRequest) (llm.ModelResponse, error) {
		switch n {
		case 10:
			w.says(room, "Kai", "no, wait")
			return calling(n, "send_message", `{"text":"It is blue."}`), nil
		case 11:
			again = whole(r)
			return telling("Nothing to add."), nil
		}
		return calling(n, "note", `{"text":"`+strings.Repeat("x", n)+`"}`), nil
	})
	play(t, m, func(played *world) {
		w = played
		room = w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "what colour is it?")
		w.settle()
		if !strings.Contains(again, `"no, wait" ← TRIGGER`) {
			t.Errorf("it looked again at %s", again)
		}
		testutil.Same(t, "cycles", 1, len(w.stops(mind("Ada"))))
	})
}

// DESIGN 2: speech written on an old head is held back once, whether others
// spoke, edited or deleted meanwhile; on_stale: send lets it go.
func TestStaleSpeechIsHeldBackOnce(t *testing.T) {
	for _, c := range []struct {
		name      string
		meanwhile func(w *world, room spaces.SpaceID, first spaces.MessageRef)
		send      bool
		tags      bool
		want      int // times the model is asked
		shows     string
	}{
		{name: "another message", want: 3, shows: "wait", meanwhile: func(w *world, room spaces.SpaceID, _ spaces.MessageRef) {
			w.says(room, "Nova", "wait, I know it")
		}},
		{name: "an edit", want: 3, shows: "seven times eight", meanwhile: func(w *world, room spaces.SpaceID, first spaces.MessageRef) {
			w.does(room, "Kai", spaces.MessageEdited{Ref: first, Text: "@Ada what is seven times eight?"})
		}},
		{name: "a delete", want: 3, shows: "deleted", meanwhile: func(w *world, room spaces.SpaceID, first spaces.MessageRef) {
			w.does(room, "Kai", spaces.MessageDeleted{Ref: first})
		}},
		{name: "a reaction", want: 2, meanwhile: func(w *world, room spaces.SpaceID, first spaces.MessageRef) {
			w.does(room, "Nova", spaces.ReactionAdded{Ref: first, Emoji: "👀"})
		}},
		{name: "somebody joins", want: 2, meanwhile: func(w *world, room spaces.SpaceID, _ spaces.MessageRef) {
			in := w.update(room, "Lee", spaces.MemberJoined{})
			in.Who = []spaces.PlatformIdentity{in.From}
			w.record(in)
		}},
		{name: "another message, in tags", want: 3, shows: `"error":"stale"`, tags: true, meanwhile: func(w *world, room spaces.SpaceID, _ spaces.MessageRef) {
			w.says(room, "Nova", "wait, I know it")
		}},
		{name: "on_stale: send", want: 2, send: true, meanwhile: func(w *world, room spaces.SpaceID, _ spaces.MessageRef) {
			w.says(room, "Nova", "wait, I know it")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := 0
			var last llm.ModelRequest
			m := slow(10*time.Second, mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
				n++
				last = llmtest.CopyRequest(r)
				if r.NoCalls {
					return telling("easy"), nil
				}
				rest := "Responded to Kai about sums. Answered."
				if c.tags {
					return telling(`<msg k="NONCE">Forty-two.</msg>` + "\n" + rest), nil
				}
				res := calling(n, "send_message", `{"text":"Forty-two."}`)
				res.Text = rest
				return res, nil
			}))
			play(t, m, func(w *world) {
				w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings {
					s := twoPhases()
					s.SendStale, s.Tags = c.send, c.tags
					return s
				}
				room := w.room("family")
				w.start()
				w.says(room, "Nova", "hello all")
				w.settle()
				first := w.says(room, "Kai", "@Ada what is six times seven?")
				pass(15 * time.Second)
				c.meanwhile(w, room, first)
				w.settle()
				if n != c.want {
					t.Errorf("the model was asked %d times, want %d", n, c.want)
				}
				testutil.Same(t, "said", []string{"Forty-two."}, w.spoken(room))
				if !strings.Contains(whole(last), c.shows) {
					t.Errorf("the last frame lacks %q:\n%s", c.shows, whole(last))
				}
			})
		})
	}
}

// DESIGN 2, I4: what is held back may be meant again; what a run said before that is
// said, and is not said twice.
func TestWhatWasSaidBeforeStaleSpeechIsNotSaidAgain(t *testing.T) {
	said := 0
	m := slow(10*time.Second, mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		if r.NoCalls {
			return telling("two things"), nil
		}
		said++
		switch words := []string{"First.", "Second.", "First.", "Second."}; {
		case said <= len(words):
			return calling(said, "send_message", `{"text":"`+words[said-1]+`"}`), nil
		default:
			return telling("Responded to Kai about two things. Said both."), nil
		}
	}))
	play(t, m, func(w *world) {
		room := w.room("family")
		w.start()
		w.says(room, "Nova", "hello all")
		w.settle()
		w.says(room, "Kai", "@Ada tell us two things")
		pass(25 * time.Second) // the first is said, the second is being thought
		if diff := cmp.Diff([]string{"First."}, w.spoken(room)); diff != "" {
			t.Fatalf("said by then (-want +got):\n%s", diff)
		}
		w.says(room, "Nova", "I am listening, too")
		w.settle()
		testutil.Same(t, "said", []string{"First.", "Second."}, w.spoken(room))
	})
}

// DESIGN 2: when others never stop, the words go as written at the second try.
func TestSpeechThatIsStaleAgainGoesAsWritten(t *testing.T) {
	n := 0
	var w *world
	var room spaces.SpaceID
	m := mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		n++
		w.says(room, "Nova", "and another thing "+strconv.Itoa(n))
		if r.NoCalls {
			return telling("hm"), nil
		}
		res := calling(n, "send_message", `{"text":"May I?"}`)
		res.Text = "Responded to Kai. Asked."
		return res, nil
	})
	play(t, m, func(world *world) {
		w = world
		room = w.room("family")
		w.start()
		w.says(room, "Kai", "@Ada say something")
		w.settle()
		if got := w.spoken(room); len(got) != 1 || n != 3 {
			t.Errorf("said %q after %d calls, want one message after 3", got, n)
		}
	})
}

// S13, S19, BLU-27, BLU-28: parrots that answer everything, two or five in one
// room, at any pace, fall silent within eight messages; a person's word lets
// them speak again.
func TestParrotsFallSilent(t *testing.T) {
	names := []string{"Ada", "Max", "Eve", "Bob", "Joy"}
	for _, n := range []int{2, 5} {
		for pace, m := range map[string]llm.ChatModel{
			"fast": llmtest.LeakyModel{Brief: true}, "slow": slow(10*time.Minute, llmtest.LeakyModel{Brief: true}),
		} {
			t.Run(fmt.Sprintf("%d %s", n, pace), func(t *testing.T) {
				play(t, m, func(w *world) {
					w.settings, w.poll = hasty, time.Minute
					room := w.room("parrots", func(o *spaces.OpenRequest) { o.Wake = spaces.WakeAll })
					w.start()
					w.says(room, "Kai", "polly wants a cracker")
					pass(24 * time.Hour)
					first := len(w.spoken(room))
					if first < 1 || first > spaces.MaxAgentRun {
						t.Errorf("%d messages, want 1 to %d", first, spaces.MaxAgentRun)
					}
					pass(24 * time.Hour)
					if again := len(w.spoken(room)); again != first {
						t.Errorf("%d messages more on the second day", again-first)
					}
					w.says(room, "Kai", "hello?")
					pass(24 * time.Hour)
					if more := len(w.spoken(room)) - first; more < 1 || more > spaces.MaxAgentRun {
						t.Errorf("%d messages after a person spoke, want 1 to %d", more, spaces.MaxAgentRun)
					}
				}, names[:n]...)
			})
		}
	}
}

// S13: of nine agents that speak at once, whatever each says, the ninth is
// refused by name at its commit.
func TestTheNinthOfThoseWhoSpeakAtOnceIsRefused(t *testing.T) {
	names := []string{"Ada", "Max", "Eve", "Bob", "Joy", "Sam", "Kim", "Leo", "Zoe"}
	m := slow(10*time.Minute, mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		if r.NoCalls || r.Messages[len(r.Messages)-1].Role == llm.Result {
			return telling("Responded to Kai."), nil
		}
		return calling(1, "send_message", `{"text":"Me first!"}`), nil
	}))
	play(t, m, func(w *world) {
		w.settings, w.poll = hasty, time.Minute
		room := w.room("parrots", func(o *spaces.OpenRequest) { o.Wake = spaces.WakeAll })
		w.start()
		w.says(room, "Kai", "who is first?")
		pass(24 * time.Hour)
		if got := len(w.spoken(room)); got != spaces.MaxAgentRun {
			t.Errorf("%d messages, want %d", got, spaces.MaxAgentRun)
		}
		var refused []string
		for _, name := range names {
			for _, b := range bodies[spaces.CallDenied](w.inner(mind(name))) {
				refused = append(refused, b.Denial.Act+" "+b.Denial.Code+" "+string(b.Denial.Risk))
			}
		}
		if !slices.Contains(refused, "send_message agent_run T2") {
			t.Errorf("refused as %q", refused)
		}
	}, names...)
}

// hasty says what it wanted to say whatever others said meanwhile: the worst case.
func hasty(spaces.AgentID, spaces.SpaceID) shell.AgentSettings {
	s := twoPhases()
	s.SendStale = true
	return s
}

// BLU-28, S13: two agents alone in a closed room wake each other without a
// mention, and stop.
func TestTwoAgentsAloneStop(t *testing.T) {
	play(t, llmtest.LeakyModel{Brief: true}, func(w *world) {
		room := w.room("two", func(o *spaces.OpenRequest) { o.Closed = true })
		lobby := w.room("lobby", with("Ada"), direct)
		w.start()
		w.says(lobby, "Kai", "hello")
		w.settle()
		w.says(room, "Kai", "@Ada greet Max") // a member by speaking, so only the mention wakes
		w.settle()
		if n := len(w.spoken(room)); n < 1 || n > spaces.MaxAgentRun {
			t.Errorf("%d messages, want 1 to %d", n, spaces.MaxAgentRun)
		}
	}, "Ada", "Max")
}

// I10, DELIVERY 2.2 promise 7: one poisoned room never delays another, and its
// own next message is answered.
func TestAPoisonedRoomDelaysNobody(t *testing.T) {
	m := mindful(func(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		text := whole(r)
		switch {
		case strings.Contains(text, "POISON") && !strings.Contains(text, "antidote"):
			panic("poisoned")
		case r.NoCalls:
			return telling("hm"), nil
		case acts(r) == 0:
			return calling(len(r.Messages), "send_message", `{"text":"fine"}`), nil
		}
		return telling("Responded to Kai. Fine."), nil
	})
	play(t, m, func(w *world) {
		w.poll = 5 * time.Second // longer than what the answers are given
		sick := w.room("sick", direct, circle("sick"))
		var well []spaces.SpaceID
		for i := range 20 {
			well = append(well, w.room("well"+strconv.Itoa(i), direct, circle(spaces.CircleID("well"+strconv.Itoa(i)))))
		}
		w.start()
		w.says(sick, "Kai", "POISON")
		for i, room := range well {
			w.says(room, "Kai"+strconv.Itoa(i), "hello")
		}
		pass(time.Second) // SQLite may sleep some microseconds when a reader meets a checkpoint; nobody polls
		for i, room := range well {
			if got := w.spoken(room); len(got) != 1 {
				t.Errorf("room %d was answered %q at once, want one answer", i, got)
			}
		}
		pass(time.Hour)
		w.settle()
		stops := w.stops(spaces.Mind{Agent: "ada", Circle: "sick"})
		if len(stops) == 0 || len(stops) > 5 || slices.ContainsFunc(stops, func(s spaces.StopReason) bool { return s != spaces.StopCoordinator }) {
			t.Errorf("the poisoned message was tried: %v", stops)
		}
		w.says(sick, "Kai", "here is the antidote")
		w.settle()
		if got := w.spoken(sick); len(got) != 1 {
			t.Errorf("the next message of the sick room was answered %q", got)
		}
	})
}

// R-5, CON-42, BLU-44, BLU-T9: parallel = 1 is the strictly serial mind;
// parallel = 8 works in several rooms at once, each cycle seeing the others.
func TestParallelSaysHowManyCyclesAMindHas(t *testing.T) {
	for _, c := range []struct{ parallel, most int }{{1, 1}, {2, 2}, {8, 5}} {
		t.Run(strconv.Itoa(c.parallel), func(t *testing.T) {
			var mu sync.Mutex // guards both below
			now, most := 0, 0
			frames := ""
			m := mindful(func(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
				mu.Lock()
				now++
				most = max(most, now)
				frames += whole(r)
				mu.Unlock()
				defer func() {
					mu.Lock()
					now--
					mu.Unlock()
				}()
				select {
				case <-time.After(3 * time.Second):
				case <-ctx.Done():
					return llm.ModelResponse{}, errors.New("stopped")
				}
				return telling("Nothing to add."), nil
			})
			play(t, m, func(w *world) {
				w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings {
					s := twoPhases()
					s.Parallel = c.parallel
					return s
				}
				var rooms []spaces.SpaceID
				for i := range 5 {
					rooms = append(rooms, w.room("room"+strconv.Itoa(i), direct))
				}
				w.start()
				for _, room := range rooms {
					w.says(room, "Kai", "hello")
				}
				w.settle()
				if most != c.most {
					t.Errorf("%d cycles at once, want %d", most, c.most)
				}
				if n := len(w.stops(mind("Ada"))); n != 5 {
					t.Errorf("%d cycles ended, want 5", n)
				}
				if shown := strings.Contains(frames, "ACTIVE RUNS"); shown != (c.parallel > 1) {
					t.Errorf("ACTIVE RUNS shown: %v", shown)
				}
			})
		})
	}
}
