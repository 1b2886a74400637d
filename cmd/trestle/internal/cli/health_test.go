package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

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
	address := "http://" + answerOf[statusAnswer](t, s, "status", "-o", "json").Health.Listen
	token, _, _ := s.do(t, "", "token", "add", "test", "-q")
	token = strings.TrimSpace(token)
	h := fetched[console.Health](t, address+"/health", token)
	if h.Status != "degraded" || !h.CoreReady || !h.TrustPassed || h.Deferred.AllHealthy || h.Deferred.ChannelsConnected != 2 {
		t.Errorf("health is %+v", h)
	}
	for name, healthy := range map[string]bool{"good": true, "local": true, "dead": false, "adapters.none": false, "scheduler": true, "model": true} {
		if x := componentNamed(t, h, name); x.Healthy != healthy || !healthy && x.Reason == "" {
			t.Errorf("%s: %+v, want healthy %v", name, x, healthy)
		}
	}
	b := fetched[console.Boot](t, address+"/health/bootstrap", token)
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

// componentNamed returns the part of that name of a health answer.
func componentNamed(t *testing.T, h console.Health, name string) console.Component {
	t.Helper()
	i := slices.IndexFunc(h.Extensions, func(x console.Component) bool { return x.Name == name })
	if i < 0 {
		t.Fatalf("health does not name %s: %+v", name, h.Extensions)
	}
	return h.Extensions[i]
}
