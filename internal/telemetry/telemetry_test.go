package telemetry

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/trestle-bridge/trestle/internal/pubsub"
	"github.com/trestle-bridge/trestle/internal/pubsub/inproc"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// kept is an exporter that keeps its spans after it was shut down.
type kept struct{ *tracetest.InMemoryExporter }

func (kept) Shutdown(context.Context) error { return nil }

// story is a bus, a record of one run, and what is made of both.
type story struct {
	bus   inproc.EventBus
	spans kept
	run   RunRecord
	fails error
	t     *Telemetry
	stop  func()
}

// begin starts telemetry over a story. It is within a bubble.
func begin(t *testing.T, o Options) *story {
	t.Helper()
	s := &story{spans: kept{tracetest.NewInMemoryExporter()}, run: answered(time.Now())}
	o.Live = func(room int) pubsub.LiveStream { return s.bus.Open(room) }
	o.Run = func(context.Context, spaces.CycleID) (RunRecord, error) { return s.run, s.fails }
	if o.See == nil {
		o.See = func(context.Context) (ProcessMetrics, error) { return ProcessMetrics{}, nil }
	}
	o.Exporter, o.Version, o.Logger = s.spans, "1.2.3", slog.New(slog.DiscardHandler)
	if o.Scrub == nil {
		o.Scrub = func(text string) string { return text }
	}
	s.t = New(o)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.t.Run(ctx) }()
	s.stop = func() {
		synctest.Wait()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	synctest.Wait()
	return s
}

// answered is a run of one question, one thought and one answer.
func answered(at time.Time) RunRecord {
	mind := spaces.Mind{Agent: "ada", Circle: "home"}
	return RunRecord{
		Cycle: spaces.Cycle{
			ID: "run", Mind: mind, Space: "room", State: spaces.CycleClosed, Wake: "direct", Stop: spaces.StopCompleted,
			Started: at.Add(time.Second), Ended: at.Add(9 * time.Second), Usage: spaces.TokenUsage{Prompt: 900, Output: 20},
		},
		Events: []spaces.Event{{ID: "question", Root: "question", RecvAt: at}},
		Steps: []spaces.Step{
			{N: 0, Phase: spaces.Contemplation, Finish: "stop", At: at.Add(3 * time.Second), Usage: spaces.TokenUsage{Prompt: 400, Output: 8}},
			{N: 1, Phase: spaces.Engagement, Finish: "tool_calls", At: at.Add(6 * time.Second), Usage: spaces.TokenUsage{Prompt: 500, Output: 12}},
		},
		Turns: []spaces.TranscriptTurn{
			{Role: spaces.RoleUser, Text: "INBOX: the pass is hunter2"},
			{Role: spaces.RoleAssistant, Text: "I will greet.", Calls: []spaces.TurnCall{{ID: "c1", Name: "send_message", Args: `{"text":"hello"}`}}},
		},
		Actions: []spaces.Action{{ID: "action", Kind: spaces.ActSend, Account: "telegram:1", Space: "room", Created: at.Add(6 * time.Second)}},
		Model:   "gpt-5-mini", Agent: "Ada",
	}
}

// tell publishes the live events of the run, the first facts of which are its id.
func (s *story) tell(kind, content string, at time.Duration, pairs ...any) {
	facts := map[string]any{"cycle": "run"}
	for i := 0; i < len(pairs); i += 2 {
		facts[pairs[i].(string)] = pairs[i+1]
	}
	s.bus.Publish(kind, content, facts, s.run.Events[0].RecvAt.Add(at))
}

func (s *story) play() {
	s.tell("agent_assigned", "ada", time.Second)
	s.tell("hud_rendered", "contemplation", time.Second, "tokens", 700)
	s.tell("agent_thinking", "contemplation", 2*time.Second, "step", 0)
	s.tell("agent_thinking", "engagement", 4*time.Second, "step", 1)
	s.tell("tool_executing", "send_message", 5*time.Second, "call", "c1", "step", 1)
	s.tell("tool_result", "send_message", 5500*time.Millisecond, "call", "c1", "step", 1, "ok", true)
	s.tell("delivery_sent", "answer", 7*time.Second, "action", "action")
	s.tell("mission_stop", "completed", 9*time.Second)
}

// told lists spans with their times from the question on.
func (s *story) told() []string {
	names := map[trace.SpanID]string{}
	for _, span := range s.spans.GetSpans() {
		names[span.SpanContext.SpanID()] = span.Name
	}
	var all []string
	for _, span := range s.spans.GetSpans() {
		from, to := span.StartTime.Sub(s.run.Events[0].RecvAt), span.EndTime.Sub(s.run.Events[0].RecvAt)
		all = append(all, fmt.Sprintf("%s in %q %v to %v %s", span.Name, names[span.Parent.SpanID()], from, to, span.Status.Code))
	}
	slices.Sort(all)
	return all
}

// Issue 7: one run is one tree of spans over the whole path, with its times.
func TestARunIsATreeOfSpans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, Options{})
		s.play()
		s.stop()
		want := []string{
			`chat gpt-5-mini in "invoke_agent Ada" 2s to 3s Unset`,
			`chat gpt-5-mini in "invoke_agent Ada" 4s to 6s Unset`,
			`execute_tool send_message in "invoke_agent Ada" 5s to 5.5s Unset`,
			`handle message in "" 0s to 9s Unset`,
			`invoke_agent Ada in "handle message" 1s to 9s Unset`,
			`send send in "invoke_agent Ada" 6s to 7s Unset`,
		}
		testutil.Same(t, "told", want, s.told())
	})
}

// A receipt may come after the run has ended, or be a failure.
func TestASendWaitsForItsReceipt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, Options{})
		s.tell("mission_stop", "completed", 9*time.Second)
		s.tell("delivery_failed", "blocked", 12*time.Second, "action", "action", "state", "failed", "code", "forbidden")
		s.stop()
		if got := s.told(); !slices.Contains(got, `send send in "invoke_agent Ada" 6s to 12s Error`) {
			t.Errorf("spans are %q", got)
		}
	})
}

// Runs that one event led to share a trace, in whatever process they ran.
func TestAChainOfCausesIsOneTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var traces []trace.TraceID
		for _, root := range []spaces.EventID{"question", "question", "another"} {
			s := begin(t, Options{})
			s.run.Events[0].Root = root
			s.play()
			s.stop()
			traces = append(traces, s.spans.GetSpans()[0].SpanContext.TraceID())
		}
		if traces[0] != traces[1] || traces[0] == traces[2] || !traces[0].IsValid() {
			t.Errorf("traces are %v", traces)
		}
	})
}

// What people and agents say is in no span unless that is asked for, and then
// without credentials.
func TestContentIsOffByDefault(t *testing.T) {
	scrub := func(text string) string { return strings.ReplaceAll(text, "hunter2", "***") }
	for _, content := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := begin(t, Options{Content: content, Scrub: scrub})
			s.play()
			s.stop()
			all := fmt.Sprint(s.spans.GetSpans())
			if got := strings.Contains(all, "I will greet."); got != content {
				t.Errorf("with content %v, spans hold words: %v", content, got)
			}
			if strings.Contains(all, "hunter2") {
				t.Error("a credential is in a span")
			}
		})
	}
}

// A run that cannot be read, or that goes back to the queue, has no trace, and
// the next one has.
func TestWhatHasNotEndedIsNotTraced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, Options{})
		s.fails = errors.New("busy")
		s.play()
		synctest.Wait()
		s.fails, s.run.Cycle.Ended = nil, time.Time{}
		s.play()
		synctest.Wait()
		if n := len(s.spans.GetSpans()); n != 0 {
			t.Errorf("%d spans", n)
		}
		s.run = answered(s.run.Events[0].RecvAt)
		s.play()
		s.stop()
		if len(s.told()) != 6 {
			t.Errorf("spans are %q", s.told())
		}
	})
}

// Issue 7: the figures in the exposition format, as Prometheus reads them.
func TestFiguresAreExposed(t *testing.T) {
	golden(t, "testdata/metrics.golden", ours(exposed(t)))
}

// exposed returns the page of a program in which everything has happened once.
func exposed(t *testing.T) (page string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		see := func(context.Context) (ProcessMetrics, error) {
			return ProcessMetrics{
				Inbox: 3, Open: 1, Outbox: 2, Oldest: time.Now().Add(-4 * time.Second), Unknown: 1, Failed: 2, Waits: 1, Timers: 5, Tokens: 1234, Bytes: 8192, Statements: 120, Commits: 9,
				Accounts: []AccountMetrics{
					{Name: "telegram", Connected: true, Heard: time.Unix(1_700_000_000, 0), Received: 40, Refused: 1, Calls: 7},
					{Name: "acme"},
				},
				Problems: []OpenProblem{{"TRS-A01", "telegram", "fail"}},
			}, nil
		}
		s := begin(t, Options{See: see})
		s.play()
		s.tell("tool_permission_denied", "not a member", time.Second, "act", "send_message", "code", "not_a_member")
		s.tell("phrase_said", "just a heads up", time.Second, "agent", "ada") // GTS-28
		s.t.Called(ModelCall{Model: "gpt-5-mini", Took: 300 * time.Millisecond, Prompt: 900, Cached: 400, Output: 20, Outcome: "answered"})
		synctest.Wait()
		var code int
		code, page = s.scrape(t)
		s.stop()
		if code != http.StatusOK {
			t.Fatalf("answered %d: %s", code, page)
		}
	})
	return page
}

// A record that does not answer is a hole in the graph and not a zero.
func TestFiguresThatCannotBeReadAreNoZeros(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, Options{See: func(context.Context) (ProcessMetrics, error) {
			return ProcessMetrics{}, errors.New("the record is closed")
		}})
		code, got := s.scrape(t)
		s.stop()
		if code != http.StatusServiceUnavailable || strings.Contains(got, "trestle_inbox_rows 0") {
			t.Errorf("answered %d: %s", code, got)
		}
	})
}

func (s *story) scrape(t *testing.T) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	s.t.Metrics().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	return w.Code, w.Body.String()
}

// foreign are the lines about the language's runtime and the machine.
var foreign = regexp.MustCompile(`(?m)^(# (HELP|TYPE) )?(go|process)_.*\n`)

func ours(page string) string { return foreign.ReplaceAllString(page, "") }

func golden(t *testing.T, file, got string) {
	t.Helper()
	testutil.Golden(t, *update, file, got)
}

var _ sdk.SpanExporter = kept{}
