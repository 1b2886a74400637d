package server

import (
	"context"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/trestle-bridge/trestle/internal/config"
)

// ECOSYSTEM 4: the problem that a webhook's address is taken survives a changed file,
// and a reload does not write to the configuration that other goroutines read.
func TestWebhookAddressThatIsTakenStaysAProblemOverAReload(t *testing.T) {
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	c := &config.Config{WebhookListen: ln.Addr().String()}
	s := NewServer(c, slog.New(slog.DiscardHandler), io.Discard, true)
	s.conns.added = make(chan *accountConn)
	g, ctx := errgroup.WithContext(context.WithoutCancel(t.Context()))
	s.serveHooks(ctx, g)
	if len(c.Problems) != 0 {
		t.Errorf("written into the configuration: %+v", c.Problems)
	}
	s.Current.Store((&config.Config{}).KeepStartValues(c))
	all := s.entryFaults()
	if len(all) != 1 || all[0].Entry != "webhook_listen" || !strings.Contains(all[0].Err.Remedy, "another port") {
		t.Errorf("after a reload the problems are %+v", all)
	}
}
