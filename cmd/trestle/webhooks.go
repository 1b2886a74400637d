package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/config"
)

// hooks are the accounts whose platforms call us, by the path they call. It is
// the whole of what is served at webhook_listen: any other path is 404.
type hooks map[string]adapters.Hook

// callRead is how long one call may take to arrive.
const callRead = 20 * time.Second

// add serves an adapter that is configured to be called; any other is left alone.
func (h hooks) add(ad adapters.Adapter) error {
	hook, ok := ad.(adapters.Hook)
	if !ok || hook.HookPath() == "" {
		return nil
	}
	if _, taken := h[hook.HookPath()]; taken {
		return fmt.Errorf("another account is called at the path %s", hook.HookPath())
	}
	h[hook.HookPath()] = hook
	return nil
}

// ServeHTTP passes a call to the account of its path, which proves it.
func (h hooks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	hook, ok := h[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	// A server that cannot set a deadline is one in memory, whose callers are not slow.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(callRead))
	hook.ServeHTTP(w, r)
}

// serveHooks listens for the platforms that call us. An address that cannot be
// listened on is a problem of its own: the rest runs.
func (s *process) serveHooks(ctx context.Context, g *errgroup.Group) {
	if len(s.hooks) == 0 {
		return
	}
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", s.config().WebhookListen)
	if err != nil {
		s.config().Problems = append(s.config().Problems, config.Problem{Entry: "webhook_listen", Fault: config.Fault{
			What: "the address cannot be listened on: " + err.Error(), Todo: "stop what uses it, or set webhook_listen to another port",
		}})
		s.log.Error("platforms cannot call us", "listen", s.config().WebhookListen, "error", err)
		return
	}
	s.log.Info("platforms may call us", "listen", ln.Addr().String(), "accounts", len(s.hooks))
	g.Go(func() error { return serveHTTP(ctx, ln, s.hooks, time.Second) })
}
