package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// The start tells what came of reading skills and of asking tool servers, and does not wait
// for one that hangs until then.
func TestTheStartReadsSkillsAndAsksToolServers(t *testing.T) {
	tickets := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server {
		s := mcp.NewServer(&mcp.Implementation{Name: "tickets", Version: "1"}, nil)
		for _, name := range []string{"list", "create"} {
			s.AddTool(&mcp.Tool{Name: name, Description: "x", InputSchema: map[string]any{"type": "object"}}, nil)
		}
		return s
	}, nil))
	t.Cleanup(tickets.Close)
	answer := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-answer:
		case <-r.Context().Done():
		}
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(slow.Close)
	s := stage{folder: t.TempDir()}
	for name, text := range map[string]string{"minutes": "---\nname: minutes\ndescription: Write minutes.\n---\nBegin.\n", "broken": "no front matter"} {
		testutil.OK(t, os.MkdirAll(filepath.Join(s.folder, "skills", name), 0o700))
		testutil.OK(t, os.WriteFile(filepath.Join(s.folder, "skills", name, "SKILL.md"), []byte(text), 0o600))
	}
	s.write(t, "tools:\n  skills: ["+filepath.Join(s.folder, "skills")+"]\n  servers: {tickets: {url: \""+tickets.URL+"\"}, slow: {url: \""+slow.URL+"\"}}\nagents:\n  ada: {tools: [tickets, slow, skills]}\n", 0o600)
	s.serve(t)
	stages := func() map[string]console.Stage {
		all := map[string]console.Stage{}
		for _, st := range socketAnswer[console.Boot](t, s, "/health/bootstrap").Stages {
			all[st.Stage] = st
		}
		return all
	}
	all := stages()
	if st := all["skill_sources"]; st.Status != "failed" || !strings.Contains(st.Error, "broken") {
		t.Errorf("skills: %+v", st)
	}
	if st, over := all["tool_sync"]; over {
		t.Errorf("the start has waited for a server that hangs: %+v", st)
	}
	close(answer)
	for range 500 {
		if st, over := stages()["tool_sync"]; over {
			if st.Status != "failed" || !strings.Contains(st.Error, "slow: ") || strings.Contains(st.Error, "tickets") {
				t.Errorf("tools: %+v", st)
			}
			h := socketAnswer[console.Health](t, s, "/health")
			testutil.Same(t, "loaded", []int{1, 2}, []int{h.Deferred.SkillsLoaded, h.Deferred.ToolsSynced})
			return
		}
		<-time.After(20 * time.Millisecond)
	}
	t.Errorf("the stage has not ended: %+v", stages())
}

// socketAnswer reads an answer of the running process.
func socketAnswer[A any](t *testing.T, s stage, path string) (a A) {
	t.Helper()
	c, running := control.DialSocket(t.Context(), filepath.Join(s.folder, "data", control.SocketName))
	if !running {
		t.Fatal("no process answers")
	}
	testutil.OK(t, c.Get(t.Context(), path, &a))
	return a
}
