//go:build npm

package mcpclient

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/internal/toolproc"
)

// npmCommand returns the words that run a program of the packages in testdata/npm, which
// make mcp installs.
func npmCommand(t *testing.T, name string, args ...string) []string {
	t.Helper()
	programs := filepath.Join(os.Getenv("NPM_MODULES"), ".bin")
	if !filepath.IsAbs(programs) {
		t.Fatal("NPM_MODULES is not set; run make mcp")
	}
	return append([]string{filepath.Join(programs, "node"), filepath.Join(programs, name)}, args...)
}

// npmServer returns a client of a program that is spoken to over its standard input and
// output.
func npmServer(t *testing.T, env map[string]string, command []string, change ...func(*ServerSettings, *ServerDeps)) *ToolServer {
	t.Helper()
	return serverOf(t, ServerSettings{Program: &toolproc.ToolProgram{
		Name: "server", Command: command, Folder: t.TempDir(), Env: env, Limits: toolproc.DefaultLimits(),
	}}, change)
}

// startEverything serves the protocol's reference server over HTTP on a port until stop
// is called, and returns when it accepts connections.
func startEverything(t *testing.T, port int) (stop func()) {
	t.Helper()
	words := npmCommand(t, "mcp-server-everything", "streamableHttp")
	program := exec.CommandContext(t.Context(), words[0], words[1:]...)
	program.Env = append(os.Environ(), "PORT="+strconv.Itoa(port))
	said, err := program.StderrPipe()
	testutil.OK(t, err)
	testutil.OK(t, program.Start())
	stop = func() {
		_ = program.Process.Kill() // it may have ended
		_ = program.Wait()
	}
	t.Cleanup(stop)
	var text strings.Builder
	for b := make([]byte, 1000); !strings.Contains(text.String(), "listening on port"); {
		n, err := said.Read(b)
		text.Write(b[:n])
		if err != nil {
			t.Fatalf("the server does not listen: %s", text.String())
		}
	}
	return stop
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it returns at once
	testutil.OK(t, err)
	defer func() { testutil.OK(t, l.Close()) }()
	return l.Addr().(*net.TCPAddr).Port
}

// eachEverything runs a test on the protocol's reference server over each transport.
// restart ends the server's process and, where nobody else does, starts another.
func eachEverything(t *testing.T, test func(t *testing.T, s *ToolServer, changed <-chan bool, restart func())) {
	t.Helper()
	changed := make(chan bool, 10)
	tell := func(_ *ServerSettings, d *ServerDeps) { d.ListChanged = func() { changed <- true } }
	t.Run("stdio", func(t *testing.T) {
		t.Helper()
		s := npmServer(t, nil, npmCommand(t, "mcp-server-everything"), tell)
		test(t, s, changed, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			testutil.OK(t, s.session.process.Kill())
		})
	})
	t.Run("http", func(t *testing.T) {
		port := freePort(t)
		stop := startEverything(t, port)
		s := serverOf(t, ServerSettings{URL: "http://127.0.0.1:" + strconv.Itoa(port) + "/mcp"}, []func(*ServerSettings, *ServerDeps){tell})
		test(t, s, changed, func() { stop(); startEverything(t, port) })
	})
}

func TestNpmReferenceServerIsListedAndCalled(t *testing.T) {
	eachEverything(t, func(t *testing.T, s *ToolServer, _ <-chan bool, _ func()) {
		t.Helper()
		tools, err := s.Tools(t.Context())
		testutil.OK(t, err)
		var names []string
		for _, tool := range tools {
			names = append(names, tool.Name)
		}
		testutil.Same(t, "names", []string{
			"echo", "get-annotated-message", "get-env", "get-resource-links", "get-resource-reference", "get-structured-content", "get-sum",
			"get-tiny-image", "gzip-file-as-resource", "simulate-research-query", "toggle-simulated-logging", "toggle-subscriber-updates",
			"trigger-elicitation-request", "trigger-long-running-operation",
		}, names)
		st := s.State()
		testutil.Same(t, "product", "mcp-servers/everything", st.Product)
		testutil.Same(t, "revision", olderRevision, st.Revision)
		testutil.Same(t, "skipped", 0, len(st.Skipped))

		testutil.Same(t, "echo", "Echo: hello", callText(t, s, "echo", `{"message":"hello"}`).Text)
		r := callText(t, s, "get-structured-content", `{"location":"Chicago"}`)
		testutil.Same(t, "structured", `{"conditions":"Light rain / drizzle","humidity":82,"temperature":36}`, string(r.Structured))
		r = callText(t, s, "get-tiny-image", `{}`)
		if len(r.Files) != 1 || r.Files[0].Media != "image/png" || !bytes.HasPrefix(r.Files[0].Data, []byte("\x89PNG\r\n")) {
			t.Errorf("image: %+v", r)
		}
		r = callText(t, s, "get-resource-reference", `{"resourceType":"Text","resourceId":3}`)
		if !strings.Contains(r.Text, "demo://resource/dynamic/text/3\nResource 3:") {
			t.Errorf("resource: %q", r.Text)
		}
		r = callText(t, s, "get-resource-links", `{"count":3}`)
		testutil.Same(t, "links", 3, len(r.Links))
	})
}

func TestNpmReferenceServerFails(t *testing.T) {
	eachEverything(t, func(t *testing.T, s *ToolServer, _ <-chan bool, _ func()) {
		t.Helper()
		r := callText(t, s, "get-sum", `{"a":"one"}`)
		if !r.Failed || !strings.Contains(r.Text, "expected number") {
			t.Errorf("wrong arguments: %+v", r)
		}
		if r = callText(t, s, "absent", `{}`); !r.Failed || !strings.Contains(r.Text, "absent not found") {
			t.Errorf("absent tool: %+v", r)
		}
		testutil.Same(t, "echo", "Echo: on", callText(t, s, "echo", `{"message":"on"}`).Text)
	})
}

// The server packs random bytes, so that the answer is as large as they are.
func TestNpmReferenceServerReturnsALargeFile(t *testing.T) {
	random := make([]byte, 700<<10)
	_, _ = rand.NewChaCha8([32]byte{}).Read(random) // it never fails
	arguments, err := json.Marshal(map[string]string{
		"name": "large.gz", "outputType": "resource", "data": "data:application/octet-stream;base64," + base64.StdEncoding.EncodeToString(random),
	})
	testutil.OK(t, err)
	eachEverything(t, func(t *testing.T, s *ToolServer, _ <-chan bool, _ func()) {
		t.Helper()
		r := callText(t, s, "gzip-file-as-resource", string(arguments))
		if len(r.Files) != 1 || r.Failed || r.Cut {
			t.Fatalf("%d files, failed %v, cut %v: %.200s", len(r.Files), r.Failed, r.Cut, r.Text)
		}
		testutil.Same(t, "name", "large.gz", r.Files[0].Name)
		unpacked, err := gzip.NewReader(bytes.NewReader(r.Files[0].Data))
		testutil.OK(t, err)
		got, err := io.ReadAll(unpacked)
		testutil.OK(t, err)
		if !bytes.Equal(random, got) {
			t.Errorf("%d other bytes", len(got))
		}
	})
}

func longCall(seconds int, progress func(CallProgress)) CallRequest {
	return CallRequest{
		Tool: "trigger-long-running-operation", Arguments: json.RawMessage(`{"duration":` + strconv.Itoa(seconds) + `,"steps":` + strconv.Itoa(4*seconds) + `}`), Progress: progress,
	}
}

func TestNpmReferenceServerTellsProgress(t *testing.T) {
	eachEverything(t, func(t *testing.T, s *ToolServer, _ <-chan bool, _ func()) {
		t.Helper()
		heard := make(chan CallProgress, 4) // the last may be overtaken by the result
		_, err := s.Call(t.Context(), longCall(1, func(p CallProgress) { heard <- p }))
		testutil.OK(t, err)
		for i := range 3 {
			testutil.Same(t, "progress", CallProgress{Done: float64(i + 1), Total: 4}, <-heard)
		}
	})
}

func TestNpmReferenceServerIsCancelled(t *testing.T) {
	eachEverything(t, func(t *testing.T, s *ToolServer, _ <-chan bool, _ func()) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		_, err := s.Call(ctx, longCall(50, func(CallProgress) { cancel() }))
		if e := failureIn(t, err, Cancelled); !e.Sent || time.Since(began) > 20*time.Second {
			t.Errorf("after %v: %+v", time.Since(began), e)
		}
		testutil.Same(t, "echo", "Echo: on", callText(t, s, "echo", `{"message":"on"}`).Text)
	})
}

// The server adds tools when it knows what the client can do, and says so.
func TestNpmReferenceServerChangesItsList(t *testing.T) {
	eachEverything(t, func(t *testing.T, s *ToolServer, changed <-chan bool, _ func()) {
		t.Helper()
		_, err := s.Tools(t.Context())
		testutil.OK(t, err)
		<-changed
		for {
			tools, err := s.Tools(t.Context())
			testutil.OK(t, err)
			if slices.ContainsFunc(tools, func(i ToolInfo) bool { return i.Name == "trigger-elicitation-request" }) {
				break
			}
			waitFor(t, 10*time.Millisecond)
		}
	})
}

func TestNpmReferenceServerAsks(t *testing.T) {
	eachEverything(t, func(t *testing.T, s *ToolServer, _ <-chan bool, _ func()) {
		t.Helper()
		fields := 0
		r, err := s.Call(t.Context(), CallRequest{Tool: "trigger-elicitation-request", Ask: func(_ context.Context, q InputQuestion) InputAnswer {
			fields = len(q.Fields)
			return InputAnswer{Accept: true, Values: map[string]any{"name": "Ada", "check": true}}
		}})
		testutil.OK(t, err)
		if fields < 10 || !strings.Contains(r.Text, "- Name: Ada\n- Agreed to terms: true\n") {
			t.Errorf("%d fields: %q", fields, r.Text)
		}
	})
}

// A call that is under way when the server ends fails at once and may have been done.
// The next one reaches the server that was started anew.
func TestNpmReferenceServerIsRestartedDuringACall(t *testing.T) {
	eachEverything(t, func(t *testing.T, s *ToolServer, _ <-chan bool, restart func()) {
		t.Helper()
		began := time.Now()
		begun := make(chan bool, 1000)
		go func() {
			<-begun
			restart()
		}()
		_, err := s.Call(t.Context(), longCall(50, func(CallProgress) { begun <- true }))
		if e := failureIn(t, err, Unavailable); !e.Sent || time.Since(began) > 20*time.Second {
			t.Errorf("after %v: %+v", time.Since(began), e)
		}
		for {
			r, err := s.Call(t.Context(), CallRequest{Tool: "echo", Arguments: json.RawMessage(`{"message":"again"}`)})
			if err == nil {
				testutil.Same(t, "echo", "Echo: again", r.Text)
				return
			}
			waitFor(t, max(failureIn(t, err, Unavailable).RetryAfter, 10*time.Millisecond))
		}
	})
}

func TestNpmFilesystemServerKeepsToItsFolder(t *testing.T) {
	folder := t.TempDir()
	s := npmServer(t, nil, npmCommand(t, "mcp-server-filesystem", folder))
	tools, err := s.Tools(t.Context())
	testutil.OK(t, err)
	i := slices.IndexFunc(tools, func(i ToolInfo) bool { return i.Name == "read_text_file" })
	if i < 0 || !tools[i].Hints.ReadOnly || len(tools) < 10 {
		t.Fatalf("tools: %+v", tools)
	}
	file := filepath.Join(folder, "note.txt")
	arguments := func(members map[string]string) string {
		text, err := json.Marshal(members)
		testutil.OK(t, err)
		return string(text)
	}
	if r := callText(t, s, "write_file", arguments(map[string]string{"path": file, "content": "héllo"})); r.Failed {
		t.Error(r.Text)
	}
	written, err := os.ReadFile(file)
	testutil.OK(t, err)
	testutil.Same(t, "written", "héllo", string(written))
	testutil.Same(t, "read", "héllo", callText(t, s, "read_text_file", arguments(map[string]string{"path": file})).Text)
	testutil.Same(t, "listed", "[FILE] note.txt", callText(t, s, "list_directory", arguments(map[string]string{"path": folder})).Text)
	r := callText(t, s, "read_text_file", arguments(map[string]string{"path": "/etc/hostname"}))
	if !r.Failed || !strings.Contains(r.Text, "outside allowed directories") {
		t.Errorf("outside of the folder: %+v", r)
	}
}

func TestNpmMemoryServerRemembersAfterARestart(t *testing.T) {
	env := map[string]string{"MEMORY_FILE_PATH": filepath.Join(t.TempDir(), "memory.jsonl")}
	command := npmCommand(t, "mcp-server-memory")
	s := npmServer(t, env, command)
	_ = callText(t, s, "create_entities", `{"entities":[{"name":"Ada","entityType":"person","observations":["plays chess"]}]}`)
	s.Close()
	r := callText(t, npmServer(t, env, command), "search_nodes", `{"query":"chess"}`)
	var found struct{ Entities []struct{ Name string } }
	testutil.OK(t, json.Unmarshal(r.Structured, &found))
	if len(found.Entities) != 1 || found.Entities[0].Name != "Ada" {
		t.Errorf("found %s", r.Structured)
	}
}
