package server

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/activity/access"
	"github.com/trestle-bridge/trestle/adapters/fake"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// part returns what health says of one part.
func part(t *testing.T, h console.Health, name string) console.Component {
	t.Helper()
	i := slices.IndexFunc(h.Extensions, func(x console.Component) bool { return x.Name == name })
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
			ended <- w.process.Store.Border().Amend(context.Background(), func(*access.PairingState) { <-release })
		}()
		pass(4 * time.Second)
		if h := w.process.Health(); h.Status != "healthy" {
			t.Errorf("after four seconds: %+v", h)
		}
		pass(2 * time.Second)
		h := w.process.Health()
		if x := part(t, h, "record"); h.Status != "degraded" || x.State != "stuck" || !strings.Contains(x.Reason, "6s") {
			t.Errorf("after six seconds: %s, %+v", h.Status, x)
		}
		close(release)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if h := w.process.Health(); h.Status != "healthy" {
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
		if h := w.process.Health(); h.Status != "healthy" || !h.Deferred.AllHealthy || h.Deferred.ChannelsConnected != 2 || !h.Deferred.SchedulerStarted {
			t.Errorf("at first: %+v", h)
		}
		w.telegram.Fault(fake.CallFault{Do: fake.Hang, Method: "getUpdates", Times: -1})
		pass(60 * time.Second)
		if x := part(t, w.process.Health(), "telegram"); !x.Healthy {
			t.Errorf("after a minute of silence: %+v", x)
		}
		pass(60 * time.Second)
		h := w.process.Health()
		if x := part(t, h, "telegram"); h.Status != "degraded" || x.Healthy || x.Reason == "" {
			t.Errorf("after two minutes of silence: %s, %+v", h.Status, x)
		}
		if x := part(t, h, LocalName); !x.Healthy {
			t.Errorf("the terminal's rooms suffer: %+v", x)
		}
		w.telegram.ClearFaults()
		pass(3 * time.Minute)
		if h := w.process.Health(); h.Status != "healthy" {
			t.Errorf("after the recovery: %+v", h)
		}
	})
}

// DELIVERY 2.2.8, PRD-5.3-4: an endpoint that has not answered for a minute, or refuses
// us, is not healthy until it answers, or no agent uses it any more.
func TestAnEndpointIsHealthyWhileItAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "")
		defer w.stop()
		s := w.process
		failed := func(e *endpointHealth, k llm.ErrorKind) {
			e.saw(llm.ModelRequest{}, llm.ModelResponse{}, &llm.Error{Kind: k, Err: io.ErrClosedPipe})
		}
		e := s.healthOf("model", s.Config().Model)
		failed(e, llm.Unavailable)
		if h := s.Health(); h.Status != "healthy" {
			t.Errorf("at first: %+v", h)
		}
		pass(time.Minute)
		h := s.Health()
		if x := part(t, h, "model"); h.Status != "degraded" || x.State != "down" || x.Healthy || !strings.Contains(x.Reason, "closed pipe") {
			t.Errorf("after a minute: %s, %+v", h.Status, x)
		}
		e.saw(llm.ModelRequest{}, llm.ModelResponse{}, nil)
		if h := s.Health(); h.Status != "healthy" {
			t.Errorf("once it has answered: %+v", h)
		}
		failed(s.healthOf("agents.max.model", config.ModelEndpoint{BaseURL: "http://gone.test"}), llm.Denied)
		if x := part(t, s.Health(), "agents.max.model"); x.State != "refused" || x.Healthy {
			t.Errorf("one that refuses: %+v", x)
		}
		s.agents() // as when the configuration has changed: there is no max
		if h := s.Health(); h.Status != "healthy" {
			t.Errorf("once nobody has it any more: %+v", h)
		}
	})
}

// spy notes how far the start was when a person was called.
type spy struct {
	mu     sync.Mutex // guards early and calls
	early  []string
	calls  int
	report func() console.Boot
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
func (s *spy) Generate(context.Context, llm.ModelRequest) (llm.ModelResponse, error) {
	s.saw("model")
	return llm.ModelResponse{}, &llm.Error{Kind: llm.Unavailable, Err: io.ErrClosedPipe}
}

// PRD-5.3-1, PRD-5.3-2, PRD-5.3-A4, PRD-5.3-A5: before the trust gate no foreign
// program runs and no server is called; without it, never.
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
			over := &textWatch{want: map[bool]string{true: "Bootstrap [ready]", false: "Trust Gate failed"}[test.passes], seen: make(chan struct{})}
			p := NewServer(c, slog.New(slog.DiscardHandler), over, true)
			watcher := &spy{report: p.Boot.Report}
			p.Client = &http.Client{Transport: watcher}
			p.Models = func(config.ModelEndpoint) llm.ChatModel { return watcher }
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- p.Run(ctx, nil) }()
			<-over.seen
			h := p.Health()
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

// textWatch closes seen when the text it waits for was written.
type textWatch struct {
	want string
	seen chan struct{}
	once sync.Once
}

func (w *textWatch) Write(p []byte) (int, error) {
	if strings.Contains(string(p), w.want) {
		w.once.Do(func() { close(w.seen) })
	}
	return len(p), nil
}
