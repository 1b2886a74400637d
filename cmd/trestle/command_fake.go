package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/adapters/fake"
	"github.com/trestle-bridge/trestle/internal/config"
)

func fakeCommand(p *program) *cobra.Command {
	c := &cobra.Command{Use: "fake", Short: "serve a platform that exists on this machine only", Args: cobra.NoArgs, RunE: needsSubcommand}
	var listen string
	telegram := &cobra.Command{
		Use: "telegram", Short: "serve the Telegram Bot API with a ledger and faults, driven over /control", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return p.fakeTelegram(c.Context(), listen) },
	}
	telegram.Flags().StringVar(&listen, "listen", "127.0.0.1:8081", "address; its control endpoints belong on loopback")
	c.AddCommand(telegram)
	return c
}

func (p *program) fakeTelegram(ctx context.Context, listen string) error {
	host, _, err := net.SplitHostPort(listen)
	if err != nil || !config.IsLoopback(host) {
		return &failure{what: "the fake platform listens on loopback only", where: "--listen " + listen, todo: "write --listen 127.0.0.1:8081", code: exitUsage}
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return &failure{what: "the address cannot be listened on: " + err.Error(), where: "--listen " + listen, todo: "stop what uses it, or choose another port", code: exitFailed}
	}
	fmt.Fprintf(p.errs, "fake Telegram on http://%[1]s, driven over http://%[1]s/control/\n", ln.Addr())
	telegram := fake.NewTelegram(fake.Options{})
	mux := http.NewServeMux()
	mux.Handle("/", telegram)
	mux.Handle("/control/", telegram.Control())
	return fake.Serve(ctx, ln, mux)
}
