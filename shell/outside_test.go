package shell_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// A toolBox is a tool box of a test: every agent has its tools.
type toolBox struct {
	tools  []shell.OutsideTool
	skills []shell.OfferedSkill
	// version is added to that of the offer.
	version string
	answer  func(ctx context.Context, use shell.ToolUse) (shell.ToolAnswer, error)

	mu   sync.Mutex // guards used
	used []shell.ToolUse
}

func (b *toolBox) Offered(spaces.AgentID) shell.ToolOffer {
	return shell.ToolOffer{Version: "1" + b.version, Tools: b.tools, Skills: b.skills}
}

func (b *toolBox) Use(ctx context.Context, use shell.ToolUse) (shell.ToolAnswer, error) {
	b.mu.Lock()
	b.used = append(b.used, use)
	b.mu.Unlock()
	return b.answer(ctx, use)
}

// calls returns the tools that were called, with their arguments.
func (b *toolBox) calls() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	for _, u := range b.used {
		out = append(out, u.Tool+" "+string(u.Args))
	}
	return out
}

// weather is a tool that changes nothing; ticket is one that does.
func weather(answer func(context.Context, shell.ToolUse) (shell.ToolAnswer, error)) *toolBox {
	return &toolBox{answer: answer, tools: []shell.OutsideTool{
		{Name: "weather", Server: "weather", About: "Weather now.", Schema: []byte(`{"type":"object","properties":{"place":{"type":"string"}},"required":["place"]}`), Tier: spaces.TierCustom, ReadOnly: true},
		{Name: "tickets_create", Server: "tickets", About: "Create a ticket.", Schema: []byte(`{"type":"object","properties":{"title":{"type":"string"}},"required":["title"]}`), Tier: spaces.TierMarketplace, Reaches: true},
	}}
}

// asking is a model that calls a tool when a person writes, and says its result.
func asking(t *testing.T, name, args string) mindful {
	t.Helper()
	n := 0
	var mu sync.Mutex
	return func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		if err := llmtest.Check(r.Messages, r.Tools); err != nil {
			t.Errorf("transcript: %v", err)
		}
		mu.Lock()
		defer mu.Unlock()
		n++
		last := r.Messages[len(r.Messages)-2].Text
		for _, m := range slices.Backward(r.Messages) {
			if m.Role == llm.Result || m.Role == llm.User && isInbox(m.Text) {
				last = m.Text
				break
			}
		}
		switch {
		case strings.Contains(last, "TOOL RESULT"), strings.Contains(last, "was not called"), strings.Contains(last, "was not finished"), strings.Contains(last, "interrupted"), strings.Contains(last, "cancelled"):
			_, data, _ := strings.Cut(last, "| ")
			if data == "" {
				data = last[strings.LastIndex(last, "\n")+1:]
			}
			return calling(n, "send_message", fmt.Sprintf(`{"text":%q,"more":false}`, strings.TrimSuffix(data, " ← TRIGGER"))), nil
		case isInbox(last):
			return calling(n, name, args), nil
		}
		return calling(n, "done", `{}`), nil
	}
}

func onePhase(spaces.AgentID, spaces.SpaceID) shell.AgentSettings {
	s := shell.DefaultSettings()
	s.Phases = shell.PhasesOne
	return s
}

// A tool that changes nothing is called at once; its result is data in the transcript, and
// the agent answers with it.
func TestAnAgentCallsATool(t *testing.T) {
	box := weather(func(context.Context, shell.ToolUse) (shell.ToolAnswer, error) {
		return shell.ToolAnswer{Text: "18 °C, rain"}, nil
	})
	play(t, asking(t, "weather", `{"place":"Bern"}`), func(w *world) {
		w.settings, w.tools = onePhase, box
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "how is the weather in Bern?")
		w.settle()
		testutil.Same(t, "said", []string{"18 °C, rain"}, w.spoken(room))
		testutil.Same(t, "called", []string{`weather {"place":"Bern"}`}, box.calls())
	})
}

// The arguments of an outside tool are read as those of our own.
func TestArgumentsOfOutsideToolsAreChecked(t *testing.T) {
	box := weather(nil)
	n := 0
	m := mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		if n++; n == 1 {
			return calling(n, "weather", `{"where":"Bern"}`), nil
		}
		return calling(n, "send_message", `{"text":"I could not."}`), nil
	})
	play(t, m, func(w *world) {
		w.settings, w.tools = onePhase, box
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "weather?")
		w.settle()
		testutil.Same(t, "called", []string(nil), box.calls())
		testutil.Same(t, "said", []string{"I could not."}, w.spoken(room))
	})
}

// A slow tool does not hold the room: the run ends, others are answered meanwhile, and the
// result wakes the agent, who says it where it was asked.
func TestASlowToolDoesNotHoldTheRoom(t *testing.T) {
	box := weather(func(context.Context, shell.ToolUse) (shell.ToolAnswer, error) {
		<-time.After(time.Minute)
		return shell.ToolAnswer{Text: "18 °C, rain"}, nil
	})
	play(t, asking(t, "weather", `{"place":"Bern"}`), func(w *world) {
		w.settings, w.tools = onePhase, box
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "how is the weather in Bern?")
		pass(20 * time.Second)
		if got := w.stops(mind("Ada")); len(got) != 1 || got[0] != spaces.StopWaitingTool {
			t.Errorf("after 20 s the runs ended with %v", got)
		}
		posted, back := w.processNotices()
		testutil.Same(t, "told", []string{"Still working on it: weather has not answered yet. I will write as soon as it has."}, posted)
		testutil.Same(t, "taken back early", []string(nil), back)
		pass(50 * time.Second)
		w.settle()
		testutil.Same(t, "said", []string{"18 °C, rain"}, w.spoken(room))
		testutil.Same(t, "called", []string{`weather {"place":"Bern"}`}, box.calls())
		posted, back = w.processNotices()
		if len(posted) > 0 || len(back) != 1 {
			t.Errorf("with the answer told %q, taken back %q", posted, back)
		}
	})
}

// What a slow tool tells of its progress is shown in the line about it, the newest every ten
// seconds.
func TestTheProgressOfASlowToolIsShown(t *testing.T) {
	box := weather(func(_ context.Context, use shell.ToolUse) (shell.ToolAnswer, error) {
		for i := range 60 {
			use.Progress(fmt.Sprintf("`station` %d", i))
			<-time.After(time.Second)
		}
		return shell.ToolAnswer{Text: "18 °C, rain"}, nil
	})
	play(t, asking(t, "weather", `{"place":"Bern"}`), func(w *world) {
		w.settings, w.tools = onePhase, box
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "how is the weather in Bern?")
		var lines []string
		for range 12 {
			pass(10*time.Second + 500*time.Millisecond)
			due, err := w.store.Border().Claim(w.t.Context(), account, time.Now(), 100)
			w.ok(err)
			for _, a := range due {
				if a.Cycle == "" {
					lines = append(lines, string(a.Kind)+" "+a.Text)
				}
			}
			w.settleAll(due)
		}
		if len(lines) < 5 || len(lines) > 8 || !strings.HasPrefix(lines[1], "edit Still working on it: weather tells `'station' ") || !strings.HasPrefix(lines[len(lines)-1], "delete ") {
			t.Errorf("told %q", lines)
		}
	})
}

// The line about a slow tool goes with a stop.
func TestAStopTakesTheLineAboutASlowToolBack(t *testing.T) {
	box := weather(func(ctx context.Context, _ shell.ToolUse) (shell.ToolAnswer, error) {
		<-ctx.Done()
		return shell.ToolAnswer{}, ctx.Err()
	})
	play(t, asking(t, "weather", `{"place":"Bern"}`), func(w *world) {
		w.settings, w.tools = onePhase, box
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "how is the weather in Bern?")
		pass(20 * time.Second)
		if posted, _ := w.processNotices(); len(posted) != 1 {
			t.Errorf("told %q", posted)
		}
		_, err := w.store.Shell().Halt(w.t.Context(), spaces.StopRequest{Space: room, At: time.Now()})
		w.ok(err)
		if _, back := w.processNotices(); len(back) != 1 {
			t.Errorf("taken back %q", back)
		}
		pass(time.Minute)
	})
}

// A tool that changes something waits for a person, who is shown the exact arguments. The
// decision wakes the agent.
func TestAPersonAllowsACall(t *testing.T) {
	for _, allow := range []bool{true, false} {
		box := weather(func(context.Context, shell.ToolUse) (shell.ToolAnswer, error) {
			return shell.ToolAnswer{Text: "ticket 7"}, nil
		})
		play(t, asking(t, "tickets_create", `{"title":"Tap drips"}`), func(w *world) {
			w.settings, w.tools = onePhase, box
			room := w.room("kai", direct)
			w.start()
			w.says(room, "Kai", "file a ticket: tap drips")
			w.settle()
			testutil.Same(t, "called before", []string(nil), box.calls())
			posted, _ := w.processNotices()
			if len(posted) != 1 || !strings.Contains(posted[0], `title: "Tap drips"`) || !strings.Contains(posted[0], "asked by Kai") {
				t.Fatalf("asked: %q", posted)
			}
			code := posted[0][strings.Index(posted[0], "`approve ")+9:][:5]
			run, decided, err := w.store.Shell().DecideRun(w.t.Context(), spaces.ToolDecision{Code: code, By: "person", Allow: allow, At: time.Now()})
			w.ok(err)
			if !decided || run.Tool != "tickets_create" {
				t.Fatalf("decided %v about %+v", decided, run)
			}
			if _, again, err := w.store.Shell().DecideRun(w.t.Context(), spaces.ToolDecision{Code: code, By: "person", Allow: !allow, At: time.Now()}); again || err != nil {
				t.Errorf("decided twice: %v, %v", again, err)
			}
			pass(2 * time.Second)
			w.settle()
			want, said := []string{`tickets_create {"title":"Tap drips"}`}, "ticket 7"
			if !allow {
				want, said = nil, "tickets_create was not called: a person said no. Do not ask again, and do not do it another way."
			}
			testutil.Same(t, "called", want, box.calls())
			testutil.Same(t, "said", []string{said}, w.spoken(room))
		})
	}
}

// Without a decision the call expires, and the agent says so.
func TestACallThatNoOneDecidesAboutExpires(t *testing.T) {
	box := weather(nil)
	play(t, asking(t, "tickets_create", `{"title":"Tap drips"}`), func(w *world) {
		w.settings, w.tools = onePhase, box
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "file a ticket: tap drips")
		w.settle()
		pass(24*time.Hour + time.Minute)
		w.settle()
		testutil.Same(t, "called", []string(nil), box.calls())
		if said := w.spoken(room); len(said) != 1 || !strings.Contains(said[0], "no one decided in time") {
			t.Errorf("said %q", said)
		}
	})
}

// After a crash a tool that may be called twice is; of one that changes something the agent
// says that it may have happened.
func TestACrashDoesNotRepeatWhatWrites(t *testing.T) {
	for _, c := range []struct {
		tool, args, said string
		calls            int
	}{
		{"weather", `{"place":"Bern"}`, "18 °C, rain", 2},
		{"tickets_create", `{"title":"Tap drips"}`, "tickets_create was interrupted: it may have happened, or not. Say so, and do not call it again unless you can make sure.", 1},
	} {
		t.Run(c.tool, func(t *testing.T) {
			dies := true
			box := weather(func(ctx context.Context, _ shell.ToolUse) (shell.ToolAnswer, error) {
				if dies {
					<-ctx.Done()
					return shell.ToolAnswer{}, errors.New("interrupted")
				}
				return shell.ToolAnswer{Text: "18 °C, rain"}, nil
			})
			box.tools[1].Approve = shell.ApproveNever
			play(t, asking(t, c.tool, c.args), func(w *world) {
				w.settings, w.tools = onePhase, box
				room := w.room("kai", direct)
				w.start()
				w.says(room, "Kai", "please")
				pass(2 * time.Second)
				w.crash()
				dies = false
				w.start()
				pass(11 * time.Minute)
				w.settle()
				testutil.Same(t, "said", []string{c.said}, w.spoken(room))
				if got := box.calls(); len(got) != c.calls {
					t.Errorf("called %d times: %v", len(got), got)
				}
			})
		})
	}
}

// A cycle whose process ended three times after it had called a tool that writes does not
// call it again: its room is told, and the agent says what came of the call.
func TestAToolThatWritesIsNotCalledAgainByANewCycle(t *testing.T) {
	box := weather(func(context.Context, shell.ToolUse) (shell.ToolAnswer, error) {
		return shell.ToolAnswer{Text: "ticket 7"}, nil
	})
	box.tools[1].Approve = shell.ApproveNever
	hangs := true
	inner := asking(t, "tickets_create", `{"title":"Tap drips"}`)
	model := func(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		if hangs && slices.ContainsFunc(r.Messages, func(m llm.TranscriptMessage) bool { return m.Role == llm.Result }) {
			<-ctx.Done()
			return llm.ModelResponse{}, llm.Interrupted(ctx)
		}
		return inner(ctx, r)
	}
	play(t, mindful(model), func(w *world) {
		w.settings, w.tools = onePhase, box
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "please")
		for range 3 {
			pass(2 * time.Second)
			w.crash()
			w.start()
		}
		hangs = false
		w.settle()
		if told, _ := w.processNotices(); len(told) != 1 || !strings.HasPrefix(told[0], "The program ended several times") {
			t.Errorf("the room was told %q", told)
		}
		pass(2 * time.Second)
		w.settle()
		testutil.Same(t, "said", []string{"ticket 7"}, w.spoken(room))
		if got := box.calls(); len(got) != 1 {
			t.Errorf("called %d times: %v", len(got), got)
		}
	})
}

// After a crash people are still asked about a call that was recorded beside one that ran.
func TestARequestSurvivesACrashBesideACall(t *testing.T) {
	box := weather(func(ctx context.Context, _ shell.ToolUse) (shell.ToolAnswer, error) {
		<-ctx.Done()
		return shell.ToolAnswer{}, errors.New("interrupted")
	})
	model := func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		if last := r.Messages[len(r.Messages)-1]; last.Role == llm.Result {
			return calling(9, "done", `{}`), nil
		}
		both := calling(1, "weather", `{"place":"Bern"}`)
		both.Calls = append(both.Calls, calling(2, "tickets_create", `{"title":"Tap drips"}`).Calls...)
		return both, nil
	}
	play(t, mindful(model), func(w *world) {
		w.settings, w.tools = onePhase, box
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "please")
		pass(2 * time.Second)
		w.crash()
		w.start()
		pass(11 * time.Minute)
		asked, _ := w.processNotices()
		if len(asked) != 1 || !strings.Contains(asked[0], "wants to use tickets_create") {
			t.Errorf("said %q, want one request", asked)
		}
	})
}

// A person's stop cancels a call that is under way, and one that waits for a decision.
func TestStopCancelsCalls(t *testing.T) {
	cancelled := make(chan struct{}, 1)
	box := weather(func(ctx context.Context, _ shell.ToolUse) (shell.ToolAnswer, error) {
		<-ctx.Done()
		cancelled <- struct{}{}
		return shell.ToolAnswer{}, ctx.Err()
	})
	play(t, asking(t, "weather", `{"place":"Bern"}`), func(w *world) {
		w.settings, w.tools = onePhase, box
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "how is the weather in Bern?")
		pass(20 * time.Second)
		done, err := w.shell.Cancel(w.t.Context(), spaces.StopRequest{Space: room, At: time.Now()})
		w.ok(err)
		if len(done.Calls) != 1 {
			t.Errorf("%d calls were cancelled", len(done.Calls))
		}
		<-cancelled
		w.settle()
		testutil.Same(t, "said", []string(nil), w.spoken(room))
	})
}

// Of a long result the beginning is shown, and the agent reads on.
func TestALongResultIsReadOn(t *testing.T) {
	long := strings.Repeat("line of the page\n", 2_000) + "the end is here\n"
	box := weather(func(context.Context, shell.ToolUse) (shell.ToolAnswer, error) {
		return shell.ToolAnswer{Text: long}, nil
	})
	n := 0
	m := mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		n++
		last := r.Messages[len(r.Messages)-2].Text
		switch n {
		case 1:
			return calling(n, "weather", `{"place":"Bern"}`), nil
		case 2:
			if len(last) > 9_500 || !strings.Contains(last, "CUT HERE") {
				t.Errorf("shown %d bytes: …%q", len(last), last[max(0, len(last)-200):])
			}
			id := last[strings.Index(last, `"id": "`)+7:]
			return calling(n, "read_result", fmt.Sprintf(`{"id":%q,"find":"the end"}`, id[:strings.IndexByte(id, '"')])), nil
		}
		if n == 3 && !strings.Contains(last, "| the end is here") {
			t.Errorf("read on: …%q", last[max(0, len(last)-200):])
		}
		if n > 3 {
			return calling(n, "done", `{}`), nil
		}
		return calling(n, "send_message", `{"text":"It ends."}`), nil
	})
	play(t, m, func(w *world) {
		w.settings, w.tools = onePhase, box
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "read the page")
		w.settle()
		testutil.Same(t, "said", []string{"It ends."}, w.spoken(room))
	})
}

// A call beside words that are held back, because others wrote meanwhile, is made all the
// same: the next request has its result.
func TestACallBesideStaleWordsIsMade(t *testing.T) {
	box := weather(func(context.Context, shell.ToolUse) (shell.ToolAnswer, error) {
		return shell.ToolAnswer{Text: "rain"}, nil
	})
	var w *world
	var room spaces.SpaceID
	n := 0
	m := mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		if err := llmtest.Check(r.Messages, r.Tools); err != nil {
			t.Errorf("request %d: %v", n+1, err)
		}
		if n++; n > 1 {
			return calling(n, "done", `{}`), nil
		}
		w.says(room, "Kai", "and in Basel?")
		return llm.ModelResponse{Finish: llm.Called, Calls: []llm.ToolCall{
			{ID: "a", Name: "send_message", Args: `{"text":"Let me see."}`}, {ID: "b", Name: "weather", Args: `{"place":"Bern"}`},
		}}, nil
	})
	play(t, m, func(world *world) {
		w = world
		w.settings, w.tools = onePhase, box
		room = w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "weather in Bern?")
		w.settle()
		testutil.Same(t, "called", []string{`weather {"place":"Bern"}`}, box.calls())
		testutil.Same(t, "said", []string(nil), w.spoken(room))
	})
}

// PRD-6.1-3, PRD-6.1-4: an agent calls tools as often as its limits say, those of the tier
// marketplace half as often in a minute; beyond that it is told why, and a day later it may again.
func TestCallsOfToolsAreLimited(t *testing.T) {
	for name, c := range map[string]struct {
		tool, args  string
		day, minute int
		every       time.Duration
		asked, want int
	}{
		"a day":                       {"weather", `{"place":"Bern"}`, 3, 0, 2 * time.Minute, 5, 3},
		"a minute":                    {"weather", `{"place":"Bern"}`, 0, 4, time.Second, 6, 4},
		"a minute on the marketplace": {"tickets_create", `{"title":"x"}`, 0, 4, time.Second, 6, 2},
		"slowly":                      {"weather", `{"place":"Bern"}`, 0, 4, 20 * time.Second, 6, 6},
		"no limit":                    {"weather", `{"place":"Bern"}`, 0, 0, time.Second, 6, 6},
	} {
		t.Run(name, func(t *testing.T) {
			box := weather(func(context.Context, shell.ToolUse) (shell.ToolAnswer, error) {
				return shell.ToolAnswer{Text: "done"}, nil
			})
			box.tools[1].Approve = shell.ApproveNever
			var denied []string
			n := 0
			model := func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
				n++
				last := r.Messages[len(r.Messages)-2].Text
				for _, m := range slices.Backward(r.Messages) {
					if m.Role == llm.Result || m.Role == llm.User && isInbox(m.Text) {
						last = m.Text
						break
					}
				}
				if isInbox(last) {
					return calling(n, c.tool, c.args), nil
				}
				if strings.Contains(last, "tool_limit") {
					denied = append(denied, last)
				}
				return calling(n, "done", `{}`), nil
			}
			play(t, mindful(model), func(w *world) {
				w.tools = box
				w.settings = func(a spaces.AgentID, s spaces.SpaceID) shell.AgentSettings {
					o := onePhase(a, s)
					o.Budget.ToolsPerDay, o.Budget.ToolsPerMinute = c.day, c.minute
					return o
				}
				room := w.room("kai", direct)
				w.start()
				for i := range c.asked {
					w.says(room, "Kai", fmt.Sprintf("again, %d", i))
					w.settle()
					pass(c.every)
				}
				if got := len(box.calls()); got != c.want || len(denied) != c.asked-c.want {
					t.Errorf("%d calls and %d denials, want %d and %d", got, len(denied), c.want, c.asked-c.want)
				}
				if c.day == 0 {
					return
				}
				pass(24 * time.Hour)
				w.says(room, "Kai", "and today?")
				w.settle()
				if got := len(box.calls()); got != c.want+1 {
					t.Errorf("%d calls a day later, want one more", got-c.want)
				}
			})
		})
	}
}
