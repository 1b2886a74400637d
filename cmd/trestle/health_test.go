package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/activity/access"
	"github.com/trestle-bridge/trestle/adapters/fake"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// part returns what health says of one part.
func part(t *testing.T, h health, name string) extension {
	t.Helper()
	i := slices.IndexFunc(h.Extensions, func(x extension) bool { return x.Name == name })
	if i < 0 {
		t.Fatalf("health does not name %s: %+v", name, h.Extensions)
	}
	return h.Extensions[i]
}

// TRS-R03: a commit that does not come to its end is said while it lasts, without
// asking the record.
func TestACommitThatDoesNotEndIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "")
		defer w.stop()
		release, ended := make(chan struct{}), make(chan error)
		go func() {
			ended <- w.process.store.Border().Amend(context.Background(), func(*access.PairingState) { <-release })
		}()
		pass(4 * time.Second)
		if h := w.process.health(); h.Status != "healthy" {
			t.Errorf("after four seconds: %+v", h)
		}
		pass(2 * time.Second)
		h := w.process.health()
		if x := part(t, h, "record"); h.Status != "degraded" || x.State != "stuck" || !strings.Contains(x.Reason, "6s") {
			t.Errorf("after six seconds: %s, %+v", h.Status, x)
		}
		close(release)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if h := w.process.health(); h.Status != "healthy" {
			t.Errorf("when it has ended: %+v", h)
		}
	})
}

// I13, PRD-5.4-R1, PRD-5.3-A3, PRD-12-4: an account is healthy while it is heard, for 90 s;
// it comes back by itself, and nothing else suffers meanwhile.
func TestHealthIsWhatIsHeardAndComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "")
		defer w.stop()
		if h := w.process.health(); h.Status != "healthy" || !h.Deferred.AllHealthy || h.Deferred.ChannelsConnected != 2 || !h.Deferred.SchedulerStarted {
			t.Errorf("at first: %+v", h)
		}
		w.telegram.Fault(fake.Fault{Do: fake.Hang, Method: "getUpdates", Times: -1})
		pass(60 * time.Second)
		if x := part(t, w.process.health(), "telegram"); !x.Healthy {
			t.Errorf("after a minute of silence: %+v", x)
		}
		pass(60 * time.Second)
		h := w.process.health()
		if x := part(t, h, "telegram"); h.Status != "degraded" || x.Healthy || x.Reason == "" {
			t.Errorf("after two minutes of silence: %s, %+v", h.Status, x)
		}
		if x := part(t, h, localName); !x.Healthy {
			t.Errorf("the terminal's rooms suffer: %+v", x)
		}
		w.telegram.ClearFaults()
		pass(3 * time.Minute)
		if h := w.process.health(); h.Status != "healthy" {
			t.Errorf("after the recovery: %+v", h)
		}
	})
}

// DELIVERY 2.2.8, PRD-5.3-4: an endpoint that has not answered for a minute, or refuses
// us, is not healthy until it answers, or nobody has it any more.
func TestAnEndpointIsHealthyWhileItAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "")
		defer w.stop()
		s := w.process
		failed := func(e *endpointHealth, k llm.ErrorKind) {
			e.saw(llm.Request{}, llm.Response{}, &llm.Error{Kind: k, Err: io.ErrClosedPipe})
		}
		e := s.sense("model", s.config().Model)
		failed(e, llm.Unavailable)
		if h := s.health(); h.Status != "healthy" {
			t.Errorf("at first: %+v", h)
		}
		pass(time.Minute)
		h := s.health()
		if x := part(t, h, "model"); h.Status != "degraded" || x.State != "down" || x.Healthy || !strings.Contains(x.Reason, "closed pipe") {
			t.Errorf("after a minute: %s, %+v", h.Status, x)
		}
		e.saw(llm.Request{}, llm.Response{}, nil)
		if h := s.health(); h.Status != "healthy" {
			t.Errorf("once it has answered: %+v", h)
		}
		failed(s.sense("agents.max.model", config.ModelEndpoint{BaseURL: "http://gone.test"}), llm.Denied)
		if x := part(t, s.health(), "agents.max.model"); x.State != "refused" || x.Healthy {
			t.Errorf("one that refuses: %+v", x)
		}
		s.agents() // as when the configuration has changed: there is no max
		if h := s.health(); h.Status != "healthy" {
			t.Errorf("once nobody has it any more: %+v", h)
		}
	})
}

// fetched reads a page of the running process.
func fetched[T any](t *testing.T, url, token string) (v T) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	testutil.OK(t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(r)
	testutil.OK(t, err)
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("%s answers %s", url, resp.Status)
	}
	testutil.OK(t, json.NewDecoder(resp.Body).Decode(&v))
	return v
}

// PRD-5.3-A1, PRD-5.3-A2, PRD-5.3-A3, PRD-5.3-4, PRD-5.3-5, PRD-5.4-2, PRD-5.4-3,
// PRD-5.4-A2, PRD-5.4-A3, PRD-5.4-A4, PRD-9-I2, PRD-10-8, PRD-11-8: a dead credential, and one that is none,
// leave the rest running; health and the report of the start name them.
func TestFailingAccountLeavesTheRestRunning(t *testing.T) {
	_, url := onTelegram(t, "7001:right")
	s := stage{folder: t.TempDir()}
	s.write(t, fmt.Sprintf(`
adapters:
  good: {type: telegram, token: "7001:right", api_url: %q}
  dead: {type: telegram, token: "7002:revoked", api_url: %q}
  none: {type: telegram, token: "no token at all", api_url: %q}
`, url, url, url), 0o600)
	s.serve(t)
	console := "http://" + answerOf[statusAnswer](t, s, "status", "-o", "json").Health.Listen
	token, _, _ := s.do(t, "", "token", "add", "test", "-q")
	token = strings.TrimSpace(token)
	h := fetched[health](t, console+"/health", token)
	if h.Status != "degraded" || !h.CoreReady || !h.TrustPassed || h.Deferred.AllHealthy || h.Deferred.ChannelsConnected != 2 {
		t.Errorf("health is %+v", h)
	}
	for name, healthy := range map[string]bool{"good": true, "local": true, "dead": false, "adapters.none": false, "scheduler": true, "model": true} {
		if x := part(t, h, name); x.Healthy != healthy || !healthy && x.Reason == "" {
			t.Errorf("%s: %+v, want healthy %v", name, x, healthy)
		}
	}
	b := fetched[bootReport](t, console+"/health/bootstrap", token)
	if !slices.Equal(b.Failed, []string{"adapter_dead", "channel_connect"}) || b.ReadyAt == nil || b.TotalDurationMS != b.ReadyAt.Sub(b.StartedAt).Milliseconds() {
		t.Errorf("report is %+v", b)
	}
	var names []string
	for _, st := range b.Stages {
		names = append(names, st.Stage)
		if failed := slices.Contains(b.Failed, st.Stage); failed != (st.Error != "") || failed != (st.Status == "failed") || st.DurationMS < 0 {
			t.Errorf("stage %+v", st)
		}
	}
	for _, want := range []string{
		"config_load", "database_init", "schema_migration", "seed_system_data", "trust_gate", "skill_sources", "tool_sync",
		"semantic_embeddings", "scheduler_init", "adapter_good", "adapter_dead", "channel_connect", "ready",
	} {
		if !slices.Contains(names, want) {
			t.Errorf("there is no stage %s in %v", want, names)
		}
	}
	if out, _, code := s.do(t, "still there?\n", "chat"); code != apperr.Done || !strings.Contains(out, "still there?") {
		t.Errorf("the terminal: exit %s: %s", code, out)
	}
}

// spy notes how far the start was when somebody was called.
type spy struct {
	mu     sync.Mutex // guards early and calls
	early  []string
	calls  int
	report func() bootReport
}

func (s *spy) saw(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if r := s.report(); !r.TrustPassed || !r.CoreReady {
		s.early = append(s.early, what)
	}
}

func (s *spy) RoundTrip(r *http.Request) (*http.Response, error) {
	s.saw(r.URL.Path)
	return nil, io.ErrClosedPipe
}

// Generate has never an answer.
func (s *spy) Generate(context.Context, llm.Request) (llm.Response, error) {
	s.saw("model")
	return llm.Response{}, &llm.Error{Kind: llm.Unavailable, Err: io.ErrClosedPipe}
}

// PRD-5.3-1, PRD-5.3-2, PRD-5.3-A4, PRD-5.3-A5: nothing of others runs and
// nobody is called before the gate; without the gate, never.
func TestNobodyIsCalledBeforeTheGate(t *testing.T) {
	for _, test := range []struct {
		name, agents string
		passes       bool
	}{
		{"passed", "{ada: {}}", true}, {"shut", "{ada: {phases: seven}}", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := t.TempDir()
			text := "listen: \"\"\nadapters: {telegram: {type: telegram, token: \"7001:right\", api_url: \"http://telegram.test\"}}\nagents: " + test.agents
			testutil.OK(t, os.WriteFile(filepath.Join(folder, "trestle.yaml"), []byte(text), 0o600))
			c, err := config.Load(config.LoadOptions{Folder: folder, Data: filepath.Join(folder, "data"), Lookup: func(string) (string, bool) { return "", false }})
			testutil.OK(t, err)
			over := &watch{want: map[bool]string{true: "Bootstrap [ready]", false: "Trust Gate failed"}[test.passes], seen: make(chan struct{})}
			p := newProcess(c, slog.New(slog.DiscardHandler), over, true)
			watcher := &spy{report: p.boot.Report}
			p.client = &http.Client{Transport: watcher}
			p.models = func(config.ModelEndpoint) llm.Model { return watcher }
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- p.run(ctx, nil) }()
			<-over.seen
			h := p.health()
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			if len(watcher.early) > 0 || (watcher.calls > 0) != test.passes {
				t.Errorf("%d calls, before the gate: %v", watcher.calls, watcher.early)
			}
			if h.TrustPassed != test.passes || !h.CoreReady || h.Status != "degraded" {
				t.Errorf("health is %+v", h)
			}
		})
	}
}

// DELIVERY, issue 3: a stop drains what is in hand, then closes the spans.
func TestStopClosesTheSpansBehindTheWork(t *testing.T) {
	folder := t.TempDir()
	s := stage{folder: folder}
	if _, errs, code := s.do(t, "remember this\n", "run"); code != apperr.Done {
		t.Fatalf("exit %s: %s", code, errs)
	}
	store, err := sqlite.Open(t.Context(), sqlite.Options{Dir: filepath.Join(folder, "data"), NewID: storeopen.NewID})
	testutil.OK(t, err)
	defer func() {
		if err := store.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	m := spaces.Mind{Agent: "ada", Circle: "home"}
	ups, err := store.Shell().Uplinks(t.Context(), m)
	if err != nil || len(ups) == 0 {
		t.Fatalf("uplinks: %v, %v", ups, err)
	}
	spans, err := store.Shell().Spans(t.Context(), m, ups[0].Space, 10)
	testutil.OK(t, err)
	found := slices.ContainsFunc(spans, func(p spaces.ConnectionSpan) bool { return p.Closer == spaces.SpanStopped && p.To > 1 })
	if !found || slices.ContainsFunc(spans, func(p spaces.ConnectionSpan) bool { return p.Closer == spaces.SpanCrashed }) {
		t.Errorf("spans are %+v, want one that a stop closed behind the answer", spans)
	}
}

// childEnv makes the test's own program a child that is stopped.
const childEnv = "TRESTLE_TEST_STOPPED_CHILD"

// Issue 3: the first signal asks, the second one ends the program at once.
func TestSecondSignalEndsTheProgramAtOnce(t *testing.T) {
	if os.Getenv(childEnv) != "" {
		ctx, stop := stoppable(t.Context())
		defer stop()
		fmt.Println("running")
		<-ctx.Done()
		fmt.Println("stopping")
		<-t.Context().Done() // work that does not end
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), childEnv+"=1")
	out, err := child.StdoutPipe()
	testutil.OK(t, err)
	testutil.OK(t, child.Start())
	lines := bufio.NewScanner(out)
	for _, want := range []string{"running", "stopping"} {
		if !lines.Scan() || lines.Text() != want {
			t.Fatalf("the child says %q, want %q", lines.Text(), want)
		}
		testutil.OK(t, child.Process.Signal(syscall.SIGTERM))
	}
	err = child.Wait() // its work does not end
	if code := child.ProcessState.ExitCode(); code != int(apperr.Interrupted) {
		t.Errorf("the child ended with %v", err)
	}
}
