package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trestle-bridge/trestle/adapters/fake"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/demo"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// ECOSYSTEM 5, SEQ-15, DESIGN 4: the whole first round of the demo in a bubble,
// through the real adapter: an answer, a carried message, a denial, and a cut
// after which nothing is missing and the span shows the gap.
func TestDemoTellsWhatTrestleIsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network, named := new(fake.MemoryNetwork), 0
		var minted atomic.Int64
		client := network.Client()
		defer client.CloseIdleConnections()
		ctx, stop := context.WithCancel(t.Context())
		g, ctx := errgroup.WithContext(ctx)
		stage, err := demo.NewStage(ctx, func(_ context.Context, address string) (net.Listener, error) {
			if address == "" {
				named++
				address = fmt.Sprintf("platform%d.test:80", named)
			}
			return network.Listen(address)
		})
		testutil.OK(t, err)
		g.Go(func() error { return stage.Run(ctx) })
		out := &screen{}
		p := stage0(t).program(nil, out, out)
		p.In = mustOpen(t, os.DevNull)
		s, err := demoCommand{installation{p}}.demoProcess(ctx, stage, t.TempDir(), "")
		testutil.OK(t, err)
		s.Client, s.Mint = client, func() string { return fmt.Sprintf("00000000-0000-7000-8000-%012d", minted.Add(1)) }
		g.Go(func() error {
			return s.RunInMemory(ctx, func(context.Context, *errgroup.Group, http.Handler) error { return nil })
		})
		g.Go(func() error { return demoCommand{installation{p}}.showDemo(ctx, s, stage) })
		<-time.After(39 * time.Second)
		synctest.Wait()
		stop()
		if err := g.Wait(); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		golden(t, "demo", demoTale(t, out.String()))
	})
}

// demoTale returns the lines of a demo without what differs from time to time.
func demoTale(t *testing.T, text string) string {
	t.Helper()
	if first := regexp.MustCompile(`(?m)^  (\d\d:\d\d)  ada +wakes`).FindStringSubmatch(text); first == nil || first[1] > "00:05" {
		t.Errorf("no agent was seen within five seconds (ECOSYSTEM 5):\n%s", text)
	}
	text = regexp.MustCompile(`recovered in \S+`).ReplaceAllString(text, "recovered in N s")
	text = regexp.MustCompile(`frame [0-9,]+ tokens`).ReplaceAllString(text, "frame N tokens")
	text = regexp.MustCompile(`trestle \(devel\)`).ReplaceAllString(text, "trestle VERSION")
	text = regexp.MustCompile(`--data \S+`).ReplaceAllString(text, "--data DIR")
	return regexp.MustCompile(`(?m)^  \d\d:(\d\d)`).ReplaceAllString(text, "  00:NN")
}

// processorTime is how long this process has been at work: what it does takes that
// long however much else there is to do on the machine.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	testutil.OK(t, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// ECOSYSTEM 5: one command, no token: the conversation is visible within five
// seconds, a person can join from another terminal, and nothing is kept.
func TestDemoIsSeenWithinFiveSeconds(t *testing.T) {
	s := stage0(t)
	t.Setenv("TMPDIR", t.TempDir())
	seen := &watch{want: "Ada: \"Friday at half past twelve.", seen: make(chan struct{})}
	out, errs := &screen{}, &screen{}
	p := s.program(strings.NewReader("good morning\n"), io.MultiWriter(out, seen), errs)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	ended := make(chan apperr.ExitCode, 1)
	before := processorTime(t)
	go func() { ended <- p.Run(ctx, []string{"run", "--demo"}) }()
	select {
	case <-seen.seen:
	case <-ctx.Done():
		t.Fatalf("nothing was ever seen:\n%s%s", out, errs)
	}
	if took := processorTime(t) - before; took > 5*time.Second {
		t.Errorf("it took %s of a processor to see the conversation", took)
	}
	folder := regexp.MustCompile(`chat family --data (\S+)`).FindStringSubmatch(out.String())
	link := regexp.MustCompile("`trestle (open .+?)` makes another").FindStringSubmatch(out.String())
	if folder == nil || link == nil {
		t.Fatalf("nobody is told how to join, or to look on:\n%s", out)
	}
	if another := s.done(t, "", strings.Fields(link[1])...); !strings.Contains(another, "/open?k=") {
		t.Errorf("%s: %q", link[1], another)
	}
	answer, _, code := s.do(t, "@Ada are you there?\n", "chat", "family", "--data", folder[1])
	if code != apperr.Done || !strings.Contains(answer, "scripted stand-in") {
		t.Errorf("chat: exit %s: %q", code, answer)
	}
	stop()
	if code := <-ended; code != apperr.Done {
		t.Errorf("the demo ended with %s: %s", code, errs)
	}
	if left, _ := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "trestle-demo-*")); len(left) > 0 {
		t.Errorf("the demo left %v", left)
	}
}

// ECOSYSTEM 5: one command is enough: an address that the demo has found is its own
// from then on, the usual one or, where a person has that, another.
func TestDemoServesTheAddressThatItFound(t *testing.T) {
	for _, where := range []string{"usual", "another"} {
		network := new(fake.MemoryNetwork)
		stage, err := demo.NewStage(t.Context(), func(context.Context, string) (net.Listener, error) { return network.Listen(where + rand.Text()) })
		testutil.OK(t, err)
		p := stage0(t).program(nil, io.Discard, io.Discard)
		p.Lookup = func(string) (string, bool) { return "", false }
		s, err := demoCommand{installation{p}}.demoProcess(t.Context(), stage, t.TempDir(), "")
		testutil.OK(t, err)
		found := s.Config().Listen
		if ln, err := listenLocally(t.Context(), found); !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("somebody else listens on %s: %v, %v", found, ln, err)
		}
		if where == "another" && found == config.DefaultListen {
			t.Errorf("both demos listen on %s", found)
		}
		s.Console = console.New(console.Options{Logger: s.Log}, nil)
		ctx, stop := context.WithCancel(t.Context())
		g := new(errgroup.Group)
		if err := s.Listen(ctx, g); err != nil || s.ListenAt != found {
			t.Errorf("it serves %q, want %q: %v", s.ListenAt, found, err)
		}
		t.Cleanup(func() {
			stop()
			if err := g.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}

// ECOSYSTEM 5: --model puts a real endpoint in the script's place at once; an
// endpoint that was found is offered and not used.
func TestDemoAsksARealEndpointOnlyWhenToldTo(t *testing.T) {
	asked := make(chan string, 16)
	endpoint := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/models" {
			_, _ = rw.Write([]byte(`{"data":[{"id":"small"}]}`))
			return
		}
		if strings.HasSuffix(r.URL.Path, "/chat/completions") {
			select {
			case asked <- r.URL.Path:
			default: // one is enough
			}
		}
		http.Error(rw, `{"error":{"message":"not today"}}`, http.StatusBadRequest)
	}))
	defer endpoint.Close()
	url := endpoint.URL + "/v1"
	for name, test := range map[string]struct {
		args []string
		want string
		asks bool
	}{
		"told to":     {[]string{"run", "--demo", "--model", url}, "model     small at " + url, true},
		"not told to": {[]string{"run", "--demo"}, "found     a model endpoint at " + url + ", not used", false},
	} {
		t.Run(name, func(t *testing.T) {
			for len(asked) > 0 {
				<-asked // of the demo before
			}
			woke := &watch{want: "  ada ", seen: make(chan struct{})}
			out := &screen{}
			p := stage0(t).program(nil, io.MultiWriter(out, woke), out)
			p.In, p.Endpoints = mustOpen(t, os.DevNull), []string{url}
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			ended := make(chan apperr.ExitCode, 1)
			go func() { ended <- p.Run(ctx, test.args) }()
			if test.asks {
				select {
				case <-asked:
				case <-ctx.Done():
					t.Error("the endpoint was never asked")
				}
			} else {
				<-woke.seen
			}
			stop()
			<-ended
			if !strings.Contains(out.String(), test.want) || len(asked) > 0 && !test.asks {
				t.Errorf("%q is not in\n%s", test.want, out)
			}
		})
	}
	if _, errs, code := stage0(t).do(t, "", "run", "--demo", "--model", "http://127.0.0.1:1/v1"); code != apperr.Failed || !strings.Contains(errs, "names no model") {
		t.Errorf("nobody there: exit %s: %s", code, errs)
	}
}
