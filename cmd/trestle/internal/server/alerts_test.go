package server

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/backup"
	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/money"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// told returns what bots said in the boss's chat.
func (w *world) told() (said []string) {
	w.t.Helper()
	w.settle()
	for _, m := range w.chats["boss"].Sent() {
		said = append(said, m.Text)
	}
	return said
}

// ECOSYSTEM 8: a problem is told in the operators' chat at once and when it is
// over, and never over the adapter it is about. No model writes it.
func TestOperatorsAreToldOfProblems(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "alarms: {chat: \"telegram:5000000001\", backup_age: 0}\n")
		defer w.stop()
		w.addChat("boss", "direct", []string{"Kai"})
		w.says(w.chats["boss"], w.people["Kai"], "/start", 0, 0)
		before := len(w.told())
		free := uint64(1e9)
		w.process.disk = func(string) (uint64, uint64, error) { return free, 100e9, nil }
		watch := w.process.newAlertMonitor()
		watch.Round(t.Context(), time.Now())
		got := w.told()[before:]
		want := []string{"⚠️ TRS-R01 · the disk of the data folder is nearly full.\n1.0 GB free, 1.0 %\n\nDo: make room, or move the data folder\nAnswer ack 2h for silence; else I say it again in 1 h."}
		testutil.Same(t, "told", want, got)
		watch.Round(t.Context(), time.Now())
		free = 50e9
		for range 8 {
			watch.Round(t.Context(), time.Now())
			pass(10 * time.Second)
		}
		got = w.told()[before+1:]
		if len(got) != 1 || !strings.HasPrefix(got[0], "✅ TRS-R01 · over: the disk of the data folder is nearly full. It lasted ") {
			t.Errorf("told of its end: %q", got)
		}

		about := alerts.Alert{Code: alerts.Deaf, Severity: alerts.Fail, Subject: "telegram", Opened: time.Now(), Seen: time.Now(), Count: 1}
		testutil.OK(t, w.process.Store.Problems().Keep(t.Context(), []alerts.Alert{about}))
		watch.Looks = nil
		watch.Round(t.Context(), time.Now())
		if got := w.told()[before+2:]; len(got) != 0 {
			t.Errorf("told over the adapter it is about: %q", got)
		}
	})
}

// ECOSYSTEM 8: an alarm is answered by `ack 2h`, in the operators' chat alone.
func TestOperatorsTakeAProblemOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "alarms: {chat: \"telegram:5000000001\", backup_age: 0}\nspaces:\n  ops: {chats: [\"telegram:5000000001\"]}\n  home: {chats: [\"telegram:5000000002\"]}\n")
		defer w.stop()
		w.addChat("boss", "direct", []string{"Kai"})
		w.addChat("else", "direct", []string{"Maya"})
		w.process.disk = func(string) (uint64, uint64, error) { return 1e9, 100e9, nil }
		watch := w.process.newAlertMonitor()
		watch.Round(t.Context(), time.Now())
		w.says(w.chats["boss"], w.people["Kai"], "ack 90m", 0, 0)
		said := w.told()
		if got := said[len(said)-1]; got != "Quiet for 1 h 30 m: TRS-R01 the disk of the data folder is nearly full." {
			t.Errorf("answered %q", said)
		}
		open, err := w.process.Store.Problems().Problems(t.Context(), time.Now())
		if err != nil || len(open) != 1 || !open[0].Quiet(time.Now().Add(80*time.Minute)) || open[0].Quiet(time.Now().Add(100*time.Minute)) {
			t.Errorf("open are %+v, %v", open, err)
		}
		w.says(w.chats["boss"], w.people["Kai"], "ack 7", 0, 0)
		if said := w.told(); said[len(said)-1] != "There is no open problem 7." {
			t.Errorf("answered %q", said)
		}
		calls := len(w.model.Requests())
		if calls != 0 {
			t.Errorf("a model was asked %d times", calls)
		}
	})
}

// Issue 3: each condition is seen, and only then.
func TestConditionsOfAnAccount(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name    string
		st      activity.ConnStatus
		started time.Time
		want    alerts.ProblemCode
	}{
		{"heard lately", activity.ConnStatus{State: activity.ConnConnected, Heard: now.Add(-time.Minute)}, now.Add(-time.Hour), ""},
		{"not heard", activity.ConnStatus{State: activity.ConnConnected, Heard: now.Add(-2 * time.Minute)}, now.Add(-time.Hour), alerts.Deaf},
		{"never heard", activity.ConnStatus{State: activity.ConnConnecting}, now.Add(-time.Hour), alerts.Deaf},
		{"just started", activity.ConnStatus{State: activity.ConnConnecting}, now.Add(-time.Minute), ""},
		{"dead credentials", activity.ConnStatus{State: activity.ConnMisconfigured, Heard: now}, now, alerts.Credentials},
		{"cannot send", activity.ConnStatus{State: activity.ConnConnected, Heard: now, Paused: "401"}, now, alerts.Credentials},
		{"somebody else", activity.ConnStatus{State: activity.ConnConflict, Heard: now}, now, alerts.Conflict},
	} {
		seen, bad := connectionProblem(test.st, test.started, now)
		if bad != (test.want != "") || bad && seen.Code != test.want {
			t.Errorf("%s: %s, %v, want %q", test.name, seen.Code, bad, test.want)
		}
	}
}

// ECOSYSTEM 1 rule 6, 8: an endpoint that cuts is seen by what it says it read, and a
// model that never acts by what it answers.
func TestConditionsOfAnEndpoint(t *testing.T) {
	ask := func(n int) llm.ModelRequest {
		return llm.ModelRequest{Messages: []llm.TranscriptMessage{{Text: strings.Repeat("a", n)}}}
	}
	read := func(n int) llm.ModelResponse { return llm.ModelResponse{Usage: llm.TokenUsage{Prompt: n}} }
	offered := llm.ModelRequest{Tools: []llm.ToolSpec{{Name: "send_message"}}}
	words := func(text string) llm.ModelResponse { return llm.ModelResponse{Text: text, Finish: llm.Stopped} }
	failed := func(k llm.ErrorKind) error { return &llm.Error{Kind: k, Err: errors.New("no")} }
	for _, test := range []struct {
		name string
		live func(e *endpointHealth)
		want []alerts.ProblemCode
	}{
		{"well", func(e *endpointHealth) {
			for n := range 10 {
				e.saw(ask(4000*n+1000), read(1000*n+250), nil)
			}
		}, nil},
		{"the same number of tokens whatever is sent", func(e *endpointHealth) {
			for n := range 4 {
				e.saw(ask(20000+4000*n), read(4096), nil)
			}
		}, []alerts.ProblemCode{alerts.Truncates}},
		{"the same prompt again", func(e *endpointHealth) {
			for range 4 {
				e.saw(ask(20000), read(5000), nil)
			}
		}, nil},
		{"far too few tokens", func(e *endpointHealth) {
			for n := range 3 {
				e.saw(ask(90000+n), read(4000+n), nil)
			}
		}, []alerts.ProblemCode{alerts.Truncates}},
		{"it does not say", func(e *endpointHealth) {
			for range 4 {
				e.saw(ask(90000), llm.ModelResponse{Usage: llm.TokenUsage{Prompt: 1, Estimated: true}}, nil)
			}
		}, nil},
		{"key refused", func(e *endpointHealth) { e.saw(ask(1), llm.ModelResponse{}, failed(llm.Denied)) }, []alerts.ProblemCode{alerts.ModelKey}},
		{"key good again", func(e *endpointHealth) {
			e.saw(ask(1), llm.ModelResponse{}, failed(llm.Denied))
			e.saw(ask(1), read(1), nil)
		}, nil},
		{"no such model", func(e *endpointHealth) { e.saw(ask(1), llm.ModelResponse{}, failed(llm.NoModel)) }, []alerts.ProblemCode{alerts.NoModel}},
		{"down for a moment", func(e *endpointHealth) { e.saw(ask(1), llm.ModelResponse{}, failed(llm.Unavailable)) }, nil},
		{"down", func(e *endpointHealth) {
			e.saw(ask(1), llm.ModelResponse{}, failed(llm.Unavailable))
			e.since = e.since.Add(-2 * time.Minute)
			e.saw(ask(1), llm.ModelResponse{}, failed(llm.Timeout))
		}, []alerts.ProblemCode{alerts.ModelDown}},
		{"words in place of acts", func(e *endpointHealth) {
			for range wordy {
				e.saw(offered, words("I would say hello."), nil)
			}
		}, []alerts.ProblemCode{alerts.NoActs}},
		{"words in place of acts, now and then", func(e *endpointHealth) {
			for range wordy {
				e.saw(offered, words("Nothing to do for me."), nil)
				e.saw(offered, llm.ModelResponse{Calls: []llm.ToolCall{{Name: "send_message"}}, Finish: llm.Called}, nil)
			}
		}, nil},
		{"silence, and thoughts", func(e *endpointHealth) {
			thinking := offered
			thinking.NoCalls = true
			for range wordy {
				e.saw(thinking, words("They greet me."), nil)
				e.saw(offered, words("Stayed silent: it is not for me."), nil)
				e.saw(ask(1), words("Responded."), nil) // by an agent that needs no tools
			}
		}, nil},
		{"one bad transcript", func(e *endpointHealth) { e.saw(ask(1), llm.ModelResponse{}, failed(llm.Rejected)) }, nil},
		{"bad transcripts, and good ones", func(e *endpointHealth) {
			for range convinced {
				e.saw(ask(1), llm.ModelResponse{}, failed(llm.Rejected))
				e.saw(ask(1), read(1), nil)
			}
		}, nil},
		{"nothing is good enough", func(e *endpointHealth) {
			for range convinced {
				e.saw(ask(1), llm.ModelResponse{}, failed(llm.Rejected))
			}
		}, []alerts.ProblemCode{alerts.Rejects}},
	} {
		e := &endpointHealth{name: "model"}
		test.live(e)
		var got []alerts.ProblemCode
		for _, s := range e.see(time.Now()) {
			got = append(got, s.Code)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// ECOSYSTEM 8: budgets at 80 and 100 %.
func TestConditionsOfABudget(t *testing.T) {
	for _, test := range []struct {
		spent, budget int
		want          alerts.ProblemCode
	}{{79, 100, ""}, {80, 100, alerts.BudgetNear}, {99, 100, alerts.BudgetNear}, {100, 100, alerts.BudgetSpent}, {300, 100, alerts.BudgetSpent}, {5, 0, ""}} {
		for _, seen := range [][]alerts.Observation{
			spentOf("budget.per_day", money.UsedTokens{Tokens: test.spent}, money.SpendLimit{Tokens: test.budget}),
			spentOf("budget.per_day", money.UsedTokens{Cost: int64(test.spent)}, money.SpendLimit{Amount: money.Amount{Micros: int64(test.budget), Currency: "EUR"}}),
		} {
			if len(seen) > 0 != (test.want != "") || len(seen) > 0 && seen[0].Code != test.want {
				t.Errorf("%d of %d: %+v, want %q", test.spent, test.budget, seen, test.want)
			}
		}
	}
}

// A running world in which a great deal is wrong says all of it.
func TestLooksSeeWhatIsWrongInTheRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "alarms: {backup_age: 1d}\nbudget: {per_day: 50}\n")
		defer w.stop()
		ctx := t.Context()
		testutil.OK(t, w.process.border.Post(ctx, spaces.ProcessNotice{Key: "old", Account: "telegram:999", Chat: "1", Text: "x", At: time.Now().Add(-time.Hour), Expires: time.Now().Add(time.Hour)}))
		seen := map[alerts.ProblemCode]string{}
		look := func() {
			clear(seen)
			for _, l := range w.process.newAlertMonitor().Looks {
				found, err := l.See(ctx)
				testutil.OK(t, err)
				for _, s := range found {
					if !slices.Contains(l.Codes, s.Code) {
						t.Errorf("%s is seen by a look that does not name it", s.Code)
					}
					seen[s.Code] = s.Subject
				}
			}
		}
		look()
		testutil.Same(t, "seen", map[alerts.ProblemCode]string{alerts.OutboxOld: "telegram:999"}, seen)
		testutil.OK(t, backup.WriteBackupNote(w.process.Config().Data, backup.CopyNote{At: time.Now().Add(-48 * time.Hour)}))
		w.process.addFault("spaces.ops", errors.New("no such agent"))
		look()
		want := map[alerts.ProblemCode]string{alerts.OutboxOld: "telegram:999", alerts.BackupOld: "the record", alerts.Misconfigured: "spaces.ops"}
		testutil.Same(t, "seen", want, seen)
		if w.process.isHealthy(ctx) != true {
			t.Error("not well before anybody kept a problem")
		}
		w.process.newAlertMonitor().Round(ctx, time.Now())
		if w.process.isHealthy(ctx) {
			t.Error("well although messages wait")
		}
	})
}

// F37: a database that has lost what it had confirmed is told of.
func TestOperatorsAreToldOfLostCommits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "alarms: {chat: \"telegram:5000000001\", backup_age: 0}\n")
		defer w.stop()
		w.addChat("boss", "direct", []string{"Kai"})
		w.says(w.chats["boss"], w.people["Kai"], "/start", 0, 0)
		w.process.rewound = "it has 7 commits of 9"
		w.process.newAlertMonitor().Round(t.Context(), time.Now())
		if got := strings.Join(w.told(), "\n"); !strings.Contains(got, "TRS-R14 · the database has lost what it had confirmed.\nit has 7 commits of 9") {
			t.Errorf("told:\n%s", got)
		}
	})
}
