package server

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trestle-bridge/trestle/adapters/fake"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
)

// A program of a person, connected over MCP.
type personProgram struct {
	t       *testing.T
	session *mcp.ClientSession
}

// programOf connects a program to the control socket's handler with the rights of a query.
func (w *world) programOf(q url.Values) personProgram {
	w.t.Helper()
	host := strings.ReplaceAll(q.Get("as"), ":", "-") + ".test"
	ln, err := w.network.Listen(host)
	if err != nil {
		w.t.Fatal(err)
	}
	if w.process.Console == nil {
		w.process.Console = w.process.newConsole()
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	served := make(chan error, 1)
	go func() { served <- fake.ServeUntilDone(ctx, ln, controlServer{w.process}.controlHandler()) }()
	c := mcp.NewClient(&mcp.Implementation{Name: "editor", Version: "1"}, nil)
	session, err := c.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: "http://" + host + "/mcp?" + q.Encode(), HTTPClient: &http.Client{Transport: w.client.Transport}, MaxRetries: -1, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		_ = session.Close()
		cancel()
		if err := <-served; err != nil {
			w.t.Error(err)
		}
	})
	return personProgram{w.t, session}
}

// call returns the text of an answer, and whether the call failed.
func (p personProgram) call(tool string, args map[string]any) (string, bool) {
	p.t.Helper()
	r, err := p.session.CallTool(p.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return err.Error(), true
	}
	return r.Content[0].(*mcp.TextContent).Text, r.IsError
}

// space returns the id of the space whose card holds a word.
func (p personProgram) space(word string) string {
	p.t.Helper()
	text, _ := p.call("list_spaces", nil)
	for line := range strings.Lines(text) {
		if strings.Contains(line, word) {
			id, _, _ := strings.Cut(line, " ")
			return id
		}
	}
	p.t.Fatalf("no space %q in:\n%s", word, text)
	return ""
}

// A program of a person reads what they could read and no more, waits for answers, and
// speaks as an agent where it may.
func TestAProgramReadsThePersonsRooms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "admit: open\nphases: one\n", llmtest.ScriptStep{Always: true, Response: llm.ModelResponse{Text: "[silent]"}})
		defer w.stop()
		w.addChat("home", "supergroup", []string{"Kai", "Maya"})
		w.addChat("maya", "direct", []string{"Maya"})
		home, kai, maya := w.chats["home"], w.people["Kai"], w.people["Maya"]
		w.says(home, kai, "the old code is 4711", 0, 0)
		w.says(home, maya, "good morning", 0, 0)
		w.says(w.chats["maya"], maya, "the present is a kite", 0, 0)
		w.says(home, kai, "the plumber comes on Friday", 0, 0)
		w.settle()

		ofKai := w.programOf(url.Values{"as": {"telegram:" + strconv.FormatInt(kai.ID, 10)}})
		ofMaya := w.programOf(url.Values{"as": {"telegram:" + strconv.FormatInt(maya.ID, 10)}, "agent": {"ada"}, "send": {"true"}})
		for _, c := range []struct {
			who   personProgram
			query string
			want  bool
		}{
			{ofMaya, "plumber", true},
			{ofKai, "plumber", true},
			{ofMaya, "kite", true},
			{ofKai, "kite", false}, // her direct chat
			{ofMaya, "4711", false},
			{ofKai, "4711", true}, // before she is known to read along
		} {
			if text, _ := c.who.call("search", map[string]any{"query": c.query}); strings.Contains(text, c.query) != c.want {
				t.Errorf("search for %q shows %q", c.query, text)
			}
		}
		id := ofMaya.space("home")
		text, _ := ofMaya.call("read_space", map[string]any{"space": id})
		if !strings.Contains(text, "plumber") || strings.Contains(text, "4711") || strings.Contains(text, "kite") {
			t.Errorf("the room reads:\n%s", text)
		}
		if text, failed := ofKai.call("send_message", map[string]any{"space": ofKai.space("home"), "text": "hi"}); !failed {
			t.Errorf("a program that may only read sends: %s", text)
		}

		text, failed := ofMaya.call("send_message", map[string]any{"space": id, "text": "The build is broken."})
		if failed {
			t.Fatal(text)
		}
		w.settle()
		if sent := home.Sent(); len(sent) != 1 || sent[0].Text != "The build is broken." {
			t.Errorf("the platform has %+v", sent)
		}
		number := strings.TrimSuffix(strings.Fields(text)[2], ".")
		answered := make(chan string, 1)
		go func() {
			text, _ := ofMaya.call("wait_for_reply", map[string]any{"space": id, "message": number, "seconds": 50})
			answered <- text
		}()
		time.Sleep(5 * time.Second)
		w.says(home, kai, "which one?", home.Sent()[0].ID, 0)
		if text := <-answered; !strings.Contains(text, "which one?") {
			t.Errorf("the answer is %q", text)
		}
		if text, _ := ofMaya.call("wait_for_mention", map[string]any{"space": id, "seconds": 3}); !strings.Contains(text, "Nobody mentioned ada") {
			t.Errorf("without a mention: %q", text)
		}
	})
}
