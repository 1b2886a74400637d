package alerts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"
)

var errAddress = errors.New("the address is no URL")

// A Heartbeat calls a dead man's switch every minute while the process is healthy: a
// dead process can send no alert, so the service alerts when the calls stop.
type Heartbeat struct {
	URL    string
	Client *http.Client
	// Well reports whether there is nothing that an operator would have to be told.
	Well   func(ctx context.Context) bool
	Logger *slog.Logger
}

// Run asks until ctx is done and returns nil.
func (p *Heartbeat) Run(ctx context.Context) error {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		if p.Well(ctx) {
			if err := p.beat(ctx); err != nil && ctx.Err() == nil {
				p.Logger.Warn("dead man's switch not reached", "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (p *Heartbeat) beat(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, hookLimit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL, nil)
	if err != nil {
		return errAddress
	}
	return call(p.Client, r)
}

// call makes a request whose answer does not matter. Its error does not quote
// the address, which may hold a secret.
func call(c *http.Client, r *http.Request) error {
	resp, err := c.Do(r)
	if err != nil {
		if inner := errors.Unwrap(err); inner != nil { // *url.Error quotes the address
			return inner
		}
		return errors.New("no answer")
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // read to the end, the connection is used again
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("answered %s", resp.Status)
	}
	return nil
}
