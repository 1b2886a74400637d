package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
)

// A doorway is how the platforms call the program of a world whose configuration says
// "telegram calls", "slack calls" or "hook calls" in its first line: the proxy that an operator has
// before webhook_listen. A nil one is none.
type doorway struct {
	telegram, slack, hook bool // who calls

	mu     sync.Mutex // guards what follows
	dial   func(ctx context.Context, network, name string) (net.Conn, error)
	rng    *rand.Rand
	worse  bool     // what passes is lost and doubled
	passed []func() // calls, to be made again

	replies strings.Builder // what was posted to the address for replies
}

// doorName is what the program listens on.
const doorName = "trestle.test"

func newDoorway(w *world, first string) *doorway {
	if !strings.Contains(first, " calls") {
		return nil
	}
	return &doorway{
		telegram: strings.Contains(first, "telegram calls"), slack: strings.Contains(first, "slack calls"), hook: strings.Contains(first, "hook calls"),
		dial: w.network.DialContext, rng: rand.New(rand.NewPCG(0, 11)),
	}
}

// listens has the program serve what calls it.
func (d *doorway) listens(ctx context.Context, g *errgroup.Group, w *world, h http.Handler) error {
	if d == nil {
		return nil
	}
	ln, err := w.network.Listen(doorName)
	if err != nil {
		return err
	}
	g.Go(func() error { return control.ServeHTTP(ctx, ln, h) })
	return nil
}

// config is the line at the top of trestle.yaml.
func (d *doorway) config() string {
	if d == nil {
		return ""
	}
	return "webhook_listen: 127.0.0.1:8443\n"
}

// address is what the lines of accounts say of being called.
func (d *doorway) address() string {
	if d == nil || !d.telegram {
		return ""
	}
	return ", webhook_url: \"https://bots.example/tg/ada\""
}

// hookToken is the bearer token of the hook "ci".
const hookToken = "token-of-the-build-server"

// hooks is the line of the hook under adapters.
func (d *doorway) hooks() string {
	if d == nil || !d.hook {
		return ""
	}
	return "  ci: {type: hook, token: " + hookToken + ", reply_url: \"http://replies.test/ci\", reply_secret: secret-of-the-replies}\n"
}

// takes notes a reply.
func (d *doorway) takes(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Header.Get("Webhook-Signature") == "" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	_, text, _ := bytes.Cut(body, []byte(`,`)) // the id is another each time
	d.replies.Write(append(text, '\n'))
}

// posts has a program post an event, and returns what it is answered.
func (d *doorway) posts(ctx context.Context, hook, key, body string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://bots.example/hooks/"+hook, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	r.Header.Set("Authorization", "Bearer "+hookToken)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", key)
	resp, err := d.client().Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	return resp.Status + " " + string(said), err
}

// calls has the fake Telegram call, if it is told to, until the test is over.
func (d *doorway) calls(w *world) {
	if d == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.t.Context()))
	var calling sync.WaitGroup
	calling.Go(func() { w.telegram.Call(ctx, d.client()) })
	w.t.Cleanup(func() { cancel(); calling.Wait() })
}

// client is what the platforms call with.
func (d *doorway) client() *http.Client { return &http.Client{Transport: d, Timeout: time.Minute} }

var errDoor = errors.New("lost on the way to the program")

// RoundTrip implements [http.RoundTripper]: it takes what is called over https at any
// host, and passes it on without.
func (d *doorway) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	fate := 3
	if d.worse {
		fate = d.rng.IntN(8)
	}
	d.mu.Unlock()
	if fate == 0 {
		return nil, errDoor
	}
	resp, err := d.pass(r, body)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.passed = append(d.passed[max(0, len(d.passed)-100):], func() { d.again(r, body) })
	d.mu.Unlock()
	switch fate {
	case 1: // the answer does not arrive
		return nil, errors.Join(errDoor, resp.Body.Close())
	case 2: // it comes twice
		d.again(r, body)
	}
	return resp, nil
}

// pass makes a call of the program.
func (d *doorway) pass(r *http.Request, body []byte) (*http.Response, error) {
	d.mu.Lock()
	dial := d.dial
	d.mu.Unlock()
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host, r.Body = "http", doorName, io.NopCloser(bytes.NewReader(body))
	return (&http.Transport{DialContext: dial, DisableKeepAlives: true}).RoundTrip(r)
}

// again passes a call once more and ignores the answer.
func (d *doorway) again(r *http.Request, body []byte) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), time.Minute)
	defer cancel()
	if resp, err := d.pass(r.WithContext(ctx), body); err == nil {
		_ = resp.Body.Close()
	}
}

// leadsTo has what passes go another way from now on.
func (d *doorway) leadsTo(dial func(ctx context.Context, network, name string) (net.Conn, error), rng *rand.Rand) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dial, d.rng = dial, rng
}

// worsens has what passes be lost and doubled from now on, or no longer.
func (d *doorway) worsens(yes bool) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.worse = yes
}

// repeats passes the last n calls again.
func (d *doorway) repeats(n int) {
	if d == nil {
		return
	}
	d.mu.Lock()
	last := slices.Clone(d.passed[max(0, len(d.passed)-n):])
	d.mu.Unlock()
	for _, again := range last {
		again()
	}
}
