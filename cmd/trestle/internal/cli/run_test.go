package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/buildinfo"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
	"github.com/trestle-bridge/trestle/internal/console/api"
	"github.com/trestle-bridge/trestle/internal/doctor"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// screen collects what a command writes; it may be read meanwhile.
type screen struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// stage is a folder in which commands run, with an environment.
type stage struct {
	folder string
	env    string
}

// do runs a command line to its end with in at stdin.
func (s stage) do(t *testing.T, in string, args ...string) (out, errs string, code apperr.ExitCode) {
	t.Helper()
	var stdout, stderr screen
	code = s.program(strings.NewReader(in), &stdout, &stderr).Run(t.Context(), args)
	return stdout.String(), stderr.String(), code
}

// done is do for what goes well. It returns what stdout got.
func (s stage) done(t *testing.T, in string, args ...string) string {
	t.Helper()
	out, errs, code := s.do(t, in, args...)
	if code != apperr.Done {
		t.Fatalf("trestle %s: exit %s\n%s%s", strings.Join(args, " "), code, out, errs)
	}
	return out
}

func (s stage) program(in io.Reader, out, errs io.Writer) *Environment {
	lookup, environ := environment(s.env + "\nTRESTLE_LISTEN=127.0.0.1:0")
	return &Environment{In: in, Out: out, Err: errs, Folder: s.folder, Lookup: lookup, Environ: environ}
}

// serve runs `trestle run` with an open stdin until the test ends, and returns
// once it is ready.
func (s stage) serve(t *testing.T) {
	t.Helper()
	reader, writer := io.Pipe()
	ready, errs := &watch{want: "Bootstrap [ready]", seen: make(chan struct{})}, &screen{}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan apperr.ExitCode, 1)
	go func() { ended <- s.program(reader, io.Discard, io.MultiWriter(ready, errs)).Run(ctx, []string{"run"}) }()
	t.Cleanup(func() {
		_ = writer.Close()
		stop()
		if code := <-ended; code != apperr.Done {
			t.Errorf("run ended with %s:\n%s", code, errs)
		}
	})
	select {
	case <-ready.seen:
	case code := <-ended:
		t.Fatalf("run ended with %s:\n%s", code, errs)
	}
}

// watch closes seen when the text it waits for was written.
type watch struct {
	want string
	seen chan struct{}
	once sync.Once
}

func (w *watch) Write(p []byte) (int, error) {
	if strings.Contains(string(p), w.want) {
		w.once.Do(func() { close(w.seen) })
	}
	return len(p), nil
}

// Issue 2: two commands on a fresh machine; `echo hello | trestle run` answers and ends.
func TestPipedLinesAreAnsweredInOrder(t *testing.T) {
	s := stage{folder: t.TempDir()}
	out, errs, code := s.do(t, "hello\n\nhow are you?\n", "run")
	if code != apperr.Done {
		t.Fatalf("exit %s:\n%s", code, errs)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "hello") || !strings.Contains(lines[1], "how are you?") {
		t.Errorf("answers are %q", lines)
	}
	out, _, code = s.do(t, "still there?\n", "chat")
	if code != apperr.Done || !strings.Contains(out, "still there?") {
		t.Errorf("chat over the same record: exit %s, %q", code, out)
	}
}

// PRD-5.4-1, PRD-5.4-A1, PRD-5.3-A5: every stage by name and time, the phases around the gate.
func TestBootSaysEachStage(t *testing.T) {
	_, errs, code := stage{folder: t.TempDir()}.do(t, "", "run")
	if code != apperr.Done {
		t.Fatalf("exit %s:\n%s", code, errs)
	}
	var got []string
	for line := range strings.Lines(errs) {
		if strings.HasPrefix(line, "Bootstrap ") {
			got = append(got, regexp.MustCompile(`\d+ms`).ReplaceAllString(strings.TrimSpace(line), "Nms"))
		}
	}
	want := []string{
		"Bootstrap Phase 1 (core)",
		"Bootstrap [config_load] completed in Nms",
		"Bootstrap [database_init] completed in Nms",
		"Bootstrap [schema_migration] completed in Nms",
		"Bootstrap [recovery] completed in Nms",
		"Bootstrap [seed_system_data] completed in Nms",
		"Bootstrap [trust_gate] completed in Nms",
		"Bootstrap Trust Gate passed",
		"Bootstrap Phase 2 (extensions)",
		"Bootstrap [model] skipped",
		"Bootstrap [skill_sources] skipped",
		"Bootstrap [tool_sync] skipped",
		"Bootstrap [semantic_embeddings] skipped",
		"Bootstrap [scheduler_init] completed in Nms",
		"Bootstrap [adapter_local] completed in Nms",
		"Bootstrap [channel_connect] completed in Nms",
		"Bootstrap [ready] completed in Nms",
	}
	testutil.Same(t, "boot lines", want, got)
}

// ECOSYSTEM 3.1: read commands work without a running process.
func TestReadingNeedsNoRunningProcess(t *testing.T) {
	s := stage{folder: t.TempDir()}
	s.done(t, "tell me\n", "run")
	runs := answerOf[[]api.RunRow](t, s, "runs", "-o", "json")
	if len(runs) != 1 || runs[0].Stop != "completed" || runs[0].Mind != "ada/home" || runs[0].Tokens == 0 {
		t.Fatalf("runs are %+v", runs)
	}
	for _, test := range []struct {
		args []string
		want []string
	}{
		{[]string{"status"}, []string{"not running", "ada/home", "inbox 0   open cycles 0   outbox 0"}},
		{[]string{}, []string{"not running", "ada/home"}},
		{[]string{"spaces"}, []string{"Home", "local:local/home"}},
		{[]string{"runs"}, []string{string(runs[0].Run), "direct", "completed"}},
		{[]string{"runs", "--stop", "dependency_failed"}, []string{"no run"}},
		{[]string{"explain", string(runs[0].Run)[:30]}, []string{`you: "tell me"`, "engagement", "act      send_message", "result   ok", "sent     send to local:local/home", "ended    completed"}},
		{[]string{"hud", "ada/home"}, []string{"[user]", "tell me", "send_message("}},
		{[]string{"events"}, []string{`you   "tell me"`, "delivered"}},
		{[]string{"backup", "copy.db"}, []string{"copy.db", "sha256"}},
		{[]string{"config", "show", "--origin"}, []string{"env TRESTLE_LISTEN"}},
	} {
		out, errs, code := s.do(t, "", test.args...)
		if code != apperr.Done || errs != "" {
			t.Errorf("%v: exit %s: %s", test.args, code, errs)
		}
		for _, want := range test.want {
			if !strings.Contains(out, want) {
				t.Errorf("%v: %q is not in\n%s", test.args, want, out)
			}
		}
	}
	copied := stage{folder: t.TempDir()}
	testutil.OK(t, os.Mkdir(filepath.Join(copied.folder, "data"), 0o700))
	testutil.OK(t, os.Rename(filepath.Join(s.folder, "copy.db"), filepath.Join(copied.folder, "data", "trestle.db")))
	testutil.Same(t, "runs of the backup", runs, answerOf[[]api.RunRow](t, copied, "runs", "-o", "json"))
}

func answerOf[T any](t *testing.T, s stage, args ...string) T {
	t.Helper()
	out := s.done(t, "", args...)
	var v T
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatalf("%v: %v in\n%s", args, err, out)
	}
	return v
}

// ECOSYSTEM 3.1: commands go through the running process, which keeps the record.
func TestCommandsGoThroughTheRunningProcess(t *testing.T) {
	s := stage{folder: t.TempDir()}
	s.serve(t)
	info, err := os.Stat(filepath.Join(s.folder, "data", control.SocketName))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("socket: %v, %v", info, err)
	}
	out, errs, code := s.do(t, "over the socket\nand again\n", "chat")
	if code != apperr.Done || strings.Count(out, "over the socket") != 1 || strings.Count(out, "and again") != 1 {
		t.Errorf("chat: exit %s: %q %s", code, out, errs)
	}
	if out, errs, code := s.do(t, "", "status"); code != apperr.Done || !strings.Contains(out, "healthy since") || !strings.Contains(out, "console http://127.0.0.1:") {
		t.Errorf("status: exit %s: %s %s", code, out, errs)
	}
	if _, errs, code := s.do(t, "", "pair", "ABCD-EFGH"); code != apperr.Failed || !strings.Contains(errs, "nobody is waiting with this code") {
		t.Errorf("pair: exit %s: %s", code, errs)
	}
	if _, errs, code := s.do(t, "x\n", "chat", "nowhere"); code != apperr.Failed || !strings.Contains(errs, `there is no space "nowhere"`) {
		t.Errorf("chat nowhere: exit %s: %s", code, errs)
	}
	if _, errs, code := s.do(t, "x\n", "run"); code != apperr.TryAgain || !strings.Contains(errs, "do:") {
		t.Errorf("second run: exit %s: %s", code, errs)
	}
}

// ECOSYSTEM 3.1: exit codes, and three lines: what, where, what to do.
func TestWrongUseSaysWhatToDo(t *testing.T) {
	for _, test := range []struct {
		args []string
		code apperr.ExitCode
		want string
	}{
		{[]string{"rnu"}, apperr.Usage, "did you mean \"run\"?"},
		{[]string{"runs", "shwo"}, apperr.Usage, "did you mean \"show\"?"},
		{[]string{"run", "--demmo"}, apperr.Usage, "did you mean \"demo\"?"},
		{[]string{"status", "now"}, apperr.Usage, "it takes no argument, and was given \"now\""},
		{[]string{"hud"}, apperr.Usage, "it needs MIND"},
		{[]string{"hud", "a/b", "c/d"}, apperr.Usage, "it takes MIND, and was given \"a/b c/d\""},
		{[]string{"explain", "--silence", "family"}, apperr.Usage, "--silence needs SPACE EVENT"},
		{[]string{"runs", "--limit", "many"}, apperr.Usage, "invalid argument \"many\" for \"--limit\"\n"},
		{[]string{"status", "--watch", "--check"}, apperr.Usage, "only one of these flags can be given: --check, --watch"},
		{[]string{"run", "--bogus"}, apperr.Usage, "see trestle run --help"},
		{[]string{"explain"}, apperr.Usage, "see trestle explain --help"},
		{[]string{"config"}, apperr.Usage, "see trestle config --help"},
		{[]string{"status", "-o", "xml"}, apperr.Usage, "-o is text, json or jsonl"},
		{[]string{"runs", "--stop", "timout"}, apperr.Usage, "did you mean \"timeout\"?"},
		{[]string{"runs", "--stop", "why"}, apperr.Usage, "name one of completed, silent,"},
		{[]string{"events", "--kind", "siad"}, apperr.Usage, "did you mean \"said\"?"},
		{[]string{"events", "--kind", "thought"}, apperr.Usage, "name one of said, edited,"},
		{[]string{"events", "-f", "--kind", "mision_stop"}, apperr.Usage, "did you mean \"mission_stop\"?"},
		{[]string{"doctor", "--only", "T02"}, apperr.Usage, "write one such as TRS-T02"},
		{[]string{"runs", "--since", "soon"}, apperr.Usage, "write 90s"},
		{[]string{"hud", "ada"}, apperr.Usage, "agent/circle"},
		{[]string{"status"}, apperr.Failed, "there is no record here yet"},
		{[]string{"pair", "X"}, apperr.TryAgain, "no process serves this data folder"},
		{[]string{"events", "-f"}, apperr.TryAgain, "no process serves this data folder"},
		{[]string{"run", "--config", "missing.yaml"}, apperr.BadConfig, "it does not exist"},
		{[]string{"fake", "telegram", "--listen", "0.0.0.0:1"}, apperr.Usage, "loopback"},
	} {
		out, errs, code := stage{folder: t.TempDir()}.do(t, "", test.args...)
		if code != test.code || out != "" || !strings.Contains(errs, test.want) {
			t.Errorf("%v: exit %s, want %s; stdout %q; stderr:\n%s", test.args, code, test.code, out, errs)
		}
	}
}

// ECOSYSTEM 4: a configuration file that is broken while a process runs does not change
// the process, and status prints both: the file's faults, and the state.
func TestSpoiltFileDoesNotHideTheRunningProcess(t *testing.T) {
	for name, spoilt := range map[string]string{"no YAML": "agents: [\n", "a key twice": "agents: {ada: {name: Ada}}\nagents: {ada: {name: Ada}}\n"} {
		t.Run(name, func(t *testing.T) {
			s := aTalk(t)
			s.serve(t)
			file := filepath.Join(s.folder, "trestle.yaml")
			testutil.OK(t, os.WriteFile(file, []byte(spoilt), 0o600))
			for _, args := range [][]string{nil, {"status"}, {"runs"}, {"spaces"}, {"problems"}, {"jobs"}, {"token", "list"}, {"pair"}} {
				out, errs, code := s.do(t, "", args...)
				if code != apperr.Done || out == "" || !strings.Contains(errs, "trestle.yaml:") || !strings.Contains(errs, "goes on with what it read before") {
					t.Errorf("%q: exit %s: %s%s", args, code, out, errs)
				}
			}
			out, errs, code := s.do(t, "", "doctor")
			if code != apperr.Failed || !strings.Contains(out, "the changed file is not in force: trestle.yaml:") || !strings.Contains(out, "0 adapters, 1 agent, 0 spaces") {
				t.Errorf("doctor: exit %s: %s%s", code, out, errs)
			}
			if out, errs, code := s.do(t, "", "doctor", "--fix"); code != apperr.BadConfig {
				t.Errorf("doctor --fix: exit %s: %s%s", code, out, errs)
			}
			if found := answerOf[doctor.CheckReport](t, s, "doctor", "data", "-o", "json").Findings; len(found) != 1 || found[0].Level != adapters.Fine {
				t.Errorf("of the data folder is found %+v", found)
			}
			if out, errs, code := s.do(t, "", "report", "--out", "bundle.tar.gz"); code != apperr.Done {
				t.Errorf("report: exit %s: %s%s", code, out, errs)
			}
			if text := unpack(t, filepath.Join(s.folder, "bundle.tar.gz")); !strings.Contains(text["trestle-report/doctor.json"], "TRS-C02") || !strings.HasPrefix(text["trestle-report/status.json"], "{") {
				t.Errorf("the bundle holds %q", text)
			}
			if out, errs, code := s.do(t, "", "status", "--data", filepath.Join(s.folder, "elsewhere")); code != apperr.BadConfig || out != "" {
				t.Errorf("where nothing runs: exit %s: %s%s", code, out, errs)
			}
		})
	}
}

// PRD-5.3-3: without an agent that can run only the core runs, and says so.
func TestTrustGateKeepsTheNetworkShut(t *testing.T) {
	s := stage{folder: t.TempDir(), env: "TRESTLE_AGENTS__ADA__PHASES=seven\nTELEGRAM_BOT_TOKEN=1:a\nTELEGRAM_API_URL=http://127.0.0.1:1"}
	var stdout, stderr screen
	gate := &watch{want: "Trust Gate failed", seen: make(chan struct{})}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan apperr.ExitCode, 1)
	go func() {
		ended <- s.program(strings.NewReader(""), &stdout, io.MultiWriter(gate, &stderr)).Run(ctx, []string{"run"})
	}()
	<-gate.seen
	stop()
	if code := <-ended; code != apperr.Done {
		t.Errorf("exit %s", code)
	}
	if got := stderr.String(); strings.Contains(got, "adapter_telegram") || !strings.Contains(got, "no agent can run") {
		t.Errorf("log is\n%s", got)
	}
}

// ECOSYSTEM 3.1: a port that is in use may be free soon, so the start may be tried
// again.
func TestAPortInUseMayBeTriedAgain(t *testing.T) {
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	testutil.OK(t, err)
	defer ln.Close() //nolint:errcheck // nothing was sent
	var out, errs screen
	p := stage{folder: t.TempDir()}.program(strings.NewReader(""), &out, &errs)
	p.Lookup, p.Environ = environment("TELEGRAM_BOT_TOKEN=1:a\nTELEGRAM_API_URL=http://127.0.0.1:1\nTRESTLE_LISTEN=" + ln.Addr().String())
	if code := p.Run(t.Context(), []string{"run"}); code != apperr.TryAgain || !strings.Contains(errs.String(), "stop what uses it") {
		t.Errorf("exit %s: %s", code, errs.String())
	}
}

func TestVersionSpeaksJSON(t *testing.T) {
	v := answerOf[buildinfo.BuildInfo](t, stage{folder: t.TempDir()}, "version", "-o", "json")
	if v.Go == "" || v.System == "" {
		t.Errorf("version is %+v", v)
	}
}

// environment reads "NAME=value" lines.
func environment(text string) (lookup func(string) (string, bool), environ []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			environ = append(environ, line)
		}
	}
	return func(name string) (string, bool) {
		for _, v := range environ {
			if k, value, _ := strings.Cut(v, "="); k == name {
				return value, true
			}
		}
		return "", false
	}, environ
}

// ECOSYSTEM 3.1: who is told to stop while it still opens the record has not failed.
func TestStopWhileTheRecordOpensIsNoFailure(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var out, errs screen
	if code := alone(t.TempDir(), &out, &errs).Run(ctx, []string{"run", "--quiet"}); code != apperr.Done || errs.String() != "" {
		t.Errorf("exit %s, and said %s", code, &errs)
	}
}
