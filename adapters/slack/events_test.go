package slack

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

var update = flag.Bool("update", false, "rewrite golden files")

// noNames is a names source that finds no one: ids are then shown in place of names.
type noNames struct{}

func (noNames) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("unreachable")
}

// alone returns a reader without a network.
func alone(tb testing.TB) reader {
	tb.Helper()
	c, err := New(Options{BotToken: "xoxb-1", AppToken: "xapp-1", HTTPClient: &http.Client{Transport: noNames{}}})
	if err != nil {
		tb.Fatal(err)
	}
	me := self{Team: "T1", User: "UADA", Bot: "BADA", Name: "ada"}
	c.self.Store(&me)
	return reader{c: c, self: me}
}

// Every shape of event that Slack documents is taken, and it is known what becomes
// of it: nothing falls through.
func TestEveryDocumentedEventIsAccountedFor(t *testing.T) {
	files, err := filepath.Glob("testdata/events/*.json")
	if err != nil || len(files) != 96 {
		t.Fatalf("found %d shapes, want 96 (%v)", len(files), err)
	}
	r := alone(t)
	var lines strings.Builder
	for _, file := range files {
		raw, err := os.ReadFile(file)
		testutil.OK(t, err)
		d := &delivery{id: "Ev1", kind: "events_api", payload: filled(t, raw)}
		fmt.Fprintf(&lines, "%s: %s\n", strings.TrimSuffix(filepath.Base(file), "Payload.json"), outcome(r.read(t.Context(), d)))
	}
	golden := filepath.Join("testdata", "events.golden")
	testutil.Golden(t, *update, golden, lines.String())
}

// SECURITY S16: what could not be read is kept without what lets others pass for Slack,
// or answer for us.
func TestWhatIsUnreadIsKeptWithoutItsCredentials(t *testing.T) {
	r := alone(t)
	const secrets = `"token":"verify-by-me","response_url":"https://hooks.slack.com/commands/answer-here"`
	for _, frame := range []string{
		`{"envelope_id":"e1","type":"events_api","payload":{` + secrets + `,"event":{"type":"brand_new","kept":"soup"}}}`,
		`{"envelope_id":"e2","type":"slash_commands","payload":{` + secrets + `,"text":"soup"}}`,
		`{"envelope_id":"e3","type":"brand_new","payload":{` + secrets + `,"kept":"soup"}}`,
	} {
		d, _ := deliveryOf([]byte(frame))
		raw := string(r.read(t.Context(), d)[0].Raw)
		if strings.Contains(raw, "verify-by-me") || strings.Contains(raw, "answer-here") || !strings.Contains(raw, "soup") || !json.Valid([]byte(raw)) {
			t.Errorf("of %s is kept %s", frame, raw)
		}
	}
}

// outcome says what updates tell.
func outcome(updates []adapters.Update) string {
	if len(updates) == 0 {
		return "nothing"
	}
	var kinds []string
	for _, u := range updates {
		kind := strings.TrimPrefix(fmt.Sprintf("%T", u.Body), "adapters.")
		if bad, ok := u.Body.(adapters.UnreadableUpdate); ok {
			kind += " (" + bad.Reason + ")"
		}
		kinds = append(kinds, kind)
	}
	return strings.Join(kinds, ", ")
}

// filled returns a sample with something in its blank fields.
func filled(t *testing.T, raw []byte) []byte {
	t.Helper()
	var v any
	testutil.OK(t, json.Unmarshal(raw, &v))
	out, err := json.Marshal(fill(v, ""))
	testutil.OK(t, err)
	return out
}

func fill(v any, name string) any {
	switch v := v.(type) {
	case map[string]any:
		for k, inner := range v {
			v[k] = fill(inner, k)
		}
		if now, whole := v["message"].(map[string]any); whole && v["subtype"] == "message_changed" {
			now["text"] = "other words"
			delete(now, "blocks")
		}
		return v
	case []any:
		for i, inner := range v {
			v[i] = fill(inner, name)
		}
		return v
	case string:
		if v != "" {
			return v
		}
		switch {
		case name == "team_id":
			return "T1"
		case strings.HasSuffix(name, "ts"):
			return "1700000000.000100"
		case strings.Contains(name, "channel"):
			return "C0001"
		case strings.Contains(name, "user"):
			return "U0001"
		case name == "id":
			return "X0001"
		}
		return "something"
	}
	return v
}

// A server that does not say whose workspace it is has only one.
func TestNothingIsLeftAsideWhereWorkspacesHaveNoNames(t *testing.T) {
	told := callback{Team: "T1", Context: "T1"}
	if (reader{}).elsewhere(told) {
		t.Error("an event is left aside though nobody knows our workspace")
	}
	if !(reader{self: self{Team: "T2"}}).elsewhere(told) {
		t.Error("an event of another workspace is taken for ours")
	}
}

// NEWS: Slack's Stop names the thread of the session, which is that of the message it hangs
// on.
func TestStopOfASessionIsAPress(t *testing.T) {
	payload := `{"type":"event_callback","team_id":"T1","event":{"type":"agent_session_stopped","channel":"C1","thread_ts":"1700000000.000100","user":"U1","streaming_message_ts":[],"event_ts":"1700000009.000200"}}`
	updates := alone(t).read(t.Context(), &delivery{id: "Ev1", kind: "events_api", payload: []byte(payload)})
	if len(updates) != 1 {
		t.Fatalf("read %+v", updates)
	}
	u := updates[0]
	testutil.Same(t, "body", adapters.UpdateBody(adapters.ChoicePicked{Stop: true, Message: "1700000000.000100"}), u.Body)
	if u.Chat.ID != "C1" || u.Thread.ID != "1700000000.000100" || u.From.ID != "U1" || u.At.IsZero() || u.Key == "" {
		t.Errorf("read %+v", u)
	}
}
