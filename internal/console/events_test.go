package console_test

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/consoletest"
	"github.com/trestle-bridge/trestle/internal/pubsub/inproc"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// listen reads the ids and data of n live events.
func listen(t *testing.T, w *consoletest.ConsoleWorld, query string, header http.Header, n int, meanwhile func()) []string {
	t.Helper()
	server := httptest.NewServer(w.Console.Socket())
	defer server.Close()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/events"+query, nil)
	testutil.OK(t, err)
	r.Header = header
	resp, err := http.DefaultClient.Do(r)
	testutil.OK(t, err)
	defer resp.Body.Close()
	if got := resp.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Fatalf("%s, content type %q", resp.Status, got)
	}
	var got []string
	lines := bufio.NewScanner(resp.Body)
	id := ""
	for len(got) < n && lines.Scan() {
		switch line := lines.Text(); {
		case strings.HasPrefix(line, "retry:") && meanwhile != nil:
			meanwhile() // now it is open
		case strings.HasPrefix(line, "id: "):
			id = line[4:]
		case strings.HasPrefix(line, "data: "):
			got = append(got, id+" "+line[6:])
		}
	}
	return got
}

// PRD-6.2-3, PRD-6.2-A4, PRD-6.2-A5: the form of the stream; ids let a reader go on.
func TestLiveEventsAreServerSentEvents(t *testing.T) {
	w := consoletest.Open(t)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	publish := func() {
		w.Bus.Publish("agent_thinking", "hm\nhm", map[string]any{"step": 1}, at)
		w.Bus.Publish("mission_stop", "completed", nil, at)
	}
	want := []string{
		`1001 {"type":"agent_thinking","content":"hm\nhm","metadata":{"step":1},"timestamp":"2026-03-01T12:00:00Z"}`,
		`1002 {"type":"mission_stop","content":"completed","timestamp":"2026-03-01T12:00:00Z"}`,
	}
	testutil.Same(t, "events", want, listen(t, w, "", nil, 2, publish))
	for name, got := range map[string][]string{
		"header":         listen(t, w, "", http.Header{"Last-Event-Id": {"1001"}}, 1, nil),
		"parameter":      listen(t, w, "?from=1001", nil, 1, nil),
		"header decides": listen(t, w, "?from=0", http.Header{"Last-Event-Id": {"1001"}}, 1, nil),
		"filtered":       listen(t, w, "?from=1000&type=mission_stop,x", nil, 1, nil),
	} {
		testutil.Same(t, name, want[1:], got)
	}
	lost := listen(t, w, "?from=5", nil, 1, nil)
	if len(lost) != 1 || !strings.Contains(lost[0], `"type":"skipped"`) || !strings.Contains(lost[0], "reload") {
		t.Errorf("behind what is kept: %q", lost)
	}
	if got := ownerDo(t, w, http.MethodGet, "/events?from=x", "").Code; got != 400 {
		t.Errorf("no id: %d", got)
	}
}

// PRD-11-7: a subscriber filters live events by mind and by space.
func TestLiveEventsAreSiftedByWhatTheyAreAbout(t *testing.T) {
	w := consoletest.Open(t)
	for i, mind := range []string{"ada/home", "max/home", "ada/home"} {
		w.Bus.Publish("tool_result", "", map[string]any{"mind": mind, "space": "s" + string(rune('1'+i)), "cycle": "c"}, consoletest.Started)
	}
	for query, want := range map[string]string{"mind=max/home": "1002", "space=s3": "1003", "mind=ada/home&space=s3": "1003"} {
		got := listen(t, w, "?from=1000&"+query, nil, 1, nil)
		if len(got) != 1 || !strings.HasPrefix(got[0], want+" ") {
			t.Errorf("%s: %q", query, got)
		}
	}
}

// SECURITY S7: a token that is revoked ends the streams it opened, with the next
// event; so does another token in the configuration.
func TestRevokedTokenEndsItsStreams(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, w *consoletest.ConsoleWorld, k console.IssuedKey){
		"revoked": func(t *testing.T, w *consoletest.ConsoleWorld, k console.IssuedKey) {
			t.Helper()
			if got := ownerDo(t, w, http.MethodDelete, "/api/tokens/"+k.ID, "").Code; got != 200 {
				t.Fatal(got)
			}
		},
		"changed": func(t *testing.T, w *consoletest.ConsoleWorld, k console.IssuedKey) {
			t.Helper()
			testutil.OK(t, w.Store.Keys().DropKey(t.Context(), k.ID))
			w.Allow(console.Access{Token: strings.Repeat("x", 40)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := consoletest.Open(t)
			k := w.Key(console.KeyToken)
			server := httptest.NewServer(w.Console.Handler())
			defer server.Close()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/events?from=1000", nil)
			testutil.OK(t, err)
			r.Header.Set("Authorization", "Bearer "+k.Secret)
			w.Bus.Publish("a", "before", nil, consoletest.Started)
			resp, err := http.DefaultClient.Do(r)
			testutil.OK(t, err)
			defer resp.Body.Close()
			lines := bufio.NewReader(resp.Body)
			for line := ""; !strings.Contains(line, "before"); {
				if line, err = lines.ReadString('\n'); err != nil {
					t.Fatal(err)
				}
			}
			end(t, w, k)
			w.Bus.Publish("a", "after", nil, consoletest.Started)
			rest, err := io.ReadAll(lines) // it ends, or the test does not
			if err != nil || strings.Contains(string(rest), "after") {
				t.Errorf("then came %q, %v", rest, err)
			}
		})
	}
}

// happenings is a record that gives what happened, once.
type happenings struct {
	mu     sync.Mutex // guards events
	events []spaces.Event
}

// Happened implements [console.ActivityReader].
func (h *happenings) Happened(_ context.Context, after int64, _ int) ([]spaces.Event, int64, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if after < 0 {
		return nil, 0, nil
	}
	return h.events[after:], int64(len(h.events)), nil
}

// Moved returns no move, and with the end the one of a task and the one of its mission.
func (h *happenings) Moved(_ context.Context, after int64, _ int) ([]console.RecordedMove, int64, error) {
	moves := []console.RecordedMove{
		{Mission: "m7", Space: "s1", Move: spaces.MissionMove{To: "proposed", At: time.Now()}},
		{Mission: "m7", Space: "s1", Move: spaces.MissionMove{Task: 2, From: "submitted", To: "verified", Agent: "ada", By: "agent:max", Checkpoint: 3, At: time.Now()}},
		{Mission: "m7", Space: "s1", Move: spaces.MissionMove{From: "running", To: "completed", At: time.Now()}},
	}
	if after < 0 {
		return nil, 1, nil
	}
	return moves[after:], int64(len(moves)), nil
}

// PRD-6.2-2, GTS-22: spans, deliveries and moves of missions are told once each, in the order in which they
// were committed, and only from now on.
func TestWhatTheRecordLearnsIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := &inproc.EventBus{}
		stream := bus.Open(16)
		h := &happenings{}
		n := console.LiveEventSource{Reader: h, Missions: h, Bus: bus, Logger: slog.New(slog.DiscardHandler)}
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { _ = n.Run(ctx) })
		synctest.Wait()
		inner := spaces.Mind{Agent: "ada", Circle: "home"}
		add := func(space spaces.SpaceID, branch spaces.BranchID, b spaces.EventBody) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.events = append(h.events, spaces.Event{ID: "e", Space: space, Branch: branch, Body: b, RecvAt: time.Now()})
		}
		add(inner.Inner(), inner.Branch(), spaces.SpanChanged{Span: 7, Space: "s1", What: "opened", Reason: spaces.SpanHeard})
		add(inner.Inner(), inner.Branch(), spaces.SpanChanged{Span: 7, Space: "s1", What: "checkpointed"})
		add("s1", spaces.Primary, spaces.ActionDelivered{Message: "m1", Action: "a1", Refs: []spaces.MessageRef{{}}})
		add("s1", spaces.Primary, spaces.SendFailed{Message: "m2", Action: "a2", State: spaces.ActionFailed, Code: "invalid", Reason: "No."})
		<-time.After(time.Second)
		add(inner.Inner(), inner.Branch(), spaces.SpanChanged{Span: 7, Space: "s1", What: "closed", Reason: spaces.SpanDeaf})
		<-time.After(time.Second)
		bus.Publish("end", "", nil, time.Now())
		var got []string
		for {
			e, err := stream.Next(t.Context())
			testutil.OK(t, err)
			if e.Type == "end" {
				break
			}
			if e.Metadata["space"] != "s1" || e.At.IsZero() {
				t.Errorf("%s: %v at %v", e.Type, e.Metadata, e.At)
			}
			if strings.HasPrefix(e.Type, "span") && e.Metadata["mind"] != "ada/home" {
				t.Errorf("%s: %v", e.Type, e.Metadata)
			}
			if e.Type == "mission_task_state_change" {
				testutil.Same(t, "facts", map[string]any{"mission": "m7", "space": "s1", "from": "submitted", "to": "verified", "by": "agent:max", "agent": "ada", "task": 2, "checkpoint": 3, "reason": "", "stop": ""}, e.Metadata)
			}
			got = append(got, e.Type+" "+e.Content)
		}
		stop()
		wg.Wait()
		want := []string{"span_opened heard", "delivery_sent m1", "delivery_failed No.", "mission_task_state_change verified", "mission_state_change completed", "span_closed deaf"}
		testutil.Same(t, "events", want, got)
	})
}
