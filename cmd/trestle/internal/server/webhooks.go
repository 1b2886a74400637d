package server

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
)

// webhookMux passes calls of platforms to accounts by their path. It is everything that is
// served at webhook_listen: any other path is 404. Its zero value has no accounts.
type webhookMux struct {
	mu sync.RWMutex // guards at
	at map[string]adapters.WebhookReceiver
}

// callRead is the time within which a call must arrive.
const callRead = 20 * time.Second

// add registers an adapter that platforms call; it ignores any other.
func (h *webhookMux) add(ad adapters.Adapter) error {
	hook, ok := ad.(adapters.WebhookReceiver)
	if !ok || hook.HookPath() == "" {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, taken := h.at[hook.HookPath()]; taken {
		return fmt.Errorf("another account is called at the path %s", hook.HookPath())
	}
	if h.at == nil {
		h.at = map[string]adapters.WebhookReceiver{}
	}
	h.at[hook.HookPath()] = hook
	return nil
}

// drop removes an adapter.
func (h *webhookMux) drop(ad adapters.Adapter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	maps.DeleteFunc(h.at, func(_ string, hook adapters.WebhookReceiver) bool { return adapters.Adapter(hook) == ad })
}

// ServeHTTP passes a call to the account of its path, which verifies it.
func (h *webhookMux) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.RLock()
	hook, ok := h.at[r.URL.Path]
	h.mu.RUnlock()
	if !ok {
		http.NotFound(w, r)
		return
	}
	// A server that cannot set a deadline is one in memory, whose callers are not slow.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(callRead))
	hook.ServeHTTP(w, r)
}

// serveHooks listens for calls of platforms. An address that cannot be listened on is a fault
// of that entry: the rest runs. It listens also without an account that is called, since one
// may be added later.
func (s *Server) serveHooks(ctx context.Context, g *errgroup.Group) {
	if s.Config().WebhookListen == "" || s.conns.added == nil {
		return
	}
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", s.Config().WebhookListen)
	if err != nil {
		s.addFault("webhook_listen", &apperr.Error{What: "the address cannot be listened on: " + err.Error(), Remedy: "stop what uses it, or set webhook_listen to another port"})
		s.Log.Error("platforms cannot call us", "listen", s.Config().WebhookListen, "error", err)
		return
	}
	s.Log.Info("platforms may call us", "listen", ln.Addr().String())
	g.Go(func() error { return control.ServeHTTP(ctx, ln, &s.webhooks) })
}
