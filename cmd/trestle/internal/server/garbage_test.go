package server

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
	"github.com/trestle-bridge/trestle/internal/llm/openai"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// garbageBodies are answers of an endpoint that is broken, or lies.
func garbageBodies() []string {
	const plain = `{"choices":[{"index":0,"message":{"role":"assistant","content":"Hello","tool_calls":[{"id":"a","type":"function","function":{"name":"send_message","arguments":"{\"text\":\"hi\"}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":9,"completion_tokens":3}}`
	chunk := func(delta, finish string) string {
		return `data: {"choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + "}]}\n\n"
	}
	stream := chunk(`{"role":"assistant","content":"Hel"}`, "null") + chunk(`{"content":"lo"}`, `"stop"`) + "data: [DONE]\n\n"
	bodies := []string{
		"", " ", "\n\n\n", "\ufeff", "\x00\x00\x00", "\xff\xfe\xfd", "null", "true", "42", `"hello"`, "[]", "{}", "<html><body>502</body></html>",
		"data:", "data: \n\n", "data: [DONE]\n\n", "data: null\n\n", "data: {}\n\n", "event: error\ndata: {}\n\n", ": ping\n\n: ping\n\n", "id: 1\nretry: 5\n\n",
		"data: {\"error\":{\"message\":\"boom\"}}\n\n", "data: {\"error\":\"boom\"}\n\n", `{"error":{"message":"boom","code":500}}`, `{"error":"boom"}`, `{"error":null}`,
		strings.Repeat("[", 20_000), strings.Repeat(`{"choices":`, 5_000), `{"choices":[` + strings.Repeat(`{},`, 5_000) + `{}]}`, strings.Repeat("x", 1<<20),
	}
	for _, part := range []string{"null", "0", `""`, "{}", "[]", "[null]", "[[]]", "[1,2]", `["x"]`, `[{"message":null}]`, `[{"message":[]}]`, `[{"delta":7}]`} {
		bodies = append(bodies, `{"choices":`+part+`}`, `data: {"choices":`+part+"}\n\n")
	}
	for _, args := range []string{"", "null", "[]", "7", "{", `{"text":}`, `{"text":null}`, `{"text":7}`, `{"text":{"a":1}}`, `{"txt":"hi"}`, `{"text":"a","text":"b"}`, "\x00", strings.Repeat("{", 999)} {
		for _, name := range []string{"send_message", "launch", "", "../etc"} {
			bodies = append(bodies, `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":`+strconv.Quote(name)+
				`,"arguments":`+strconv.Quote(args)+"}}]},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n")
		}
	}
	for _, finish := range []string{`"length"`, `"content_filter"`, `"surprise"`, "7", "{}"} {
		bodies = append(bodies, chunk(`{"content":""}`, finish), chunk(`{"tool_calls":[{"index":-1}]}`, finish), chunk(`{"content":[{"type":"image"}]}`, finish))
	}
	for i := 1; i <= 20; i++ {
		bodies = append(bodies, plain[:len(plain)*i/21], stream[:len(stream)*i/21])
	}
	r := rand.New(rand.NewPCG(7, 7)) //nolint:gosec // the same garbage every time
	for range 40 {
		broken := []byte(plain)
		for range 1 + r.IntN(8) {
			broken[r.IntN(len(broken))] = byte(r.IntN(256))
		}
		bodies = append(bodies, string(broken))
	}
	return bodies
}

var garbageMark = regexp.MustCompile(`garbage (\d+)`)

// A broken endpoint answers a message "garbage 7" with the seventh body, and
// every other message like a parrot.
type broken struct {
	llmtest.LeakyModel
	client *openai.Client
}

func (b broken) Generate(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	for _, m := range r.Messages[1:] {
		if garbageMark.MatchString(m.Text) {
			return b.client.Generate(ctx, r)
		}
	}
	return b.LeakyModel.Generate(ctx, r)
}

// tripper is a transport that is a function.
type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// F47, F48, I3, I10: whatever an endpoint answers, nothing is lost, nothing is
// stuck, and every message it could not be answered is seen to be so; a room
// beside it is answered as if nothing had happened.
func TestGarbageOfAnEndpointLosesAndHoldsUpNothing(t *testing.T) {
	bodies := garbageBodies()
	bodies = bodies[:testutil.Repeats(len(bodies))]
	synctest.Test(t, func(t *testing.T) {
		client, err := openai.New(modelhttp.ClientOptions{BaseURL: "http://model.test/v1", Transport: tripper(func(r *http.Request) (*http.Response, error) {
			asked, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			n, err := strconv.Atoi(garbageMark.FindStringSubmatch(string(asked))[1])
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(bodies[n]))}, err
		})})
		testutil.OK(t, err)
		w := newWorldOf(t, "agents: {ada: {name: Ada}}\n"+crowd(len(bodies)+1), broken{llmtest.LeakyModel{Brief: true}, client})
		for i := range len(bodies) + 1 {
			w.addChat(fmt.Sprint("p", i), "direct", []string{fmt.Sprint("P", i)})
		}
		w.settle()
		well := len(bodies)
		for i := range bodies {
			w.says(w.chats[fmt.Sprint("p", i)], w.people[fmt.Sprint("P", i)], fmt.Sprint("garbage ", i), 0, 0)
		}
		w.says(w.chats[fmt.Sprint("p", well)], w.people[fmt.Sprint("P", well)], "are you well?", 0, 0)
		pass(2 * time.Second)
		if got := w.chats[fmt.Sprint("p", well)].Sent(); len(got) != 1 {
			t.Errorf("the room beside them was sent %d messages in 2 s", len(got))
		}
		pass(25 * time.Hour) // every attempt and its pauses, a day of them where it says that it is down
		w.settle()

		record := w.process.Store.Console()
		tally, err := record.Tally(t.Context(), time.Now())
		if err != nil || tally.Inbox+tally.Open+tally.Outbox != 0 {
			t.Errorf("left are %d messages, %d cycles, %d sends (%v)", tally.Inbox, tally.Open, tally.Outbox, err)
		}
		seen, stops := map[spaces.SpaceID]bool{}, map[spaces.StopReason]int{}
		runs, err := record.Runs(t.Context(), console.Filter{Limit: 50 * len(bodies)})
		testutil.OK(t, err)
		for _, run := range runs {
			if run.Stop == "" {
				t.Errorf("run %s has no stop reason", run.ID)
			}
			seen[run.Space] = true
			stops[run.Stop]++
		}
		if len(seen) != len(bodies)+1 {
			t.Errorf("%d rooms have a run, want %d", len(seen), len(bodies)+1)
		}
		t.Logf("%d bodies: 0 lost, 0 stuck; runs ended as %v", len(bodies), slices.Sorted(maps.Keys(stops)))
		w.stop()
	})
}
