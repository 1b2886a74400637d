package cli

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
	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/internal/config"
)

// platform is a fake one: what bots call, and what drives it.
type platform struct {
	name    string
	bots    http.Handler
	control http.Handler
}

// fakeCommand answers `trestle fake`.
type fakeCommand struct{ *Environment }

func newFakeCommand(env *Environment) *cobra.Command {
	cmd := fakeCommand{env}
	c := &cobra.Command{Use: "fake", Short: "serve a platform that exists on this machine only"}
	telegram := cmd.fakePlatform("telegram", "serve the Telegram Bot API with a ledger and faults, driven over /control", "127.0.0.1:8081", func() platform {
		t := faketelegram.NewTelegram(faketelegram.Options{})
		return platform{"Telegram", t, t.Control()}
	})
	telegram.Example = drivingTelegram
	c.AddCommand(
		telegram,
		cmd.fakePlatform("slack", "serve Slack's Web API and Socket Mode with a ledger and faults, driven over /control", "127.0.0.1:8082", func() platform {
			s := fakeslack.New(fakeslack.Options{})
			return platform{"Slack", s, s.Control()}
		}),
		cmd.fakePlatform("discord", "serve Discord's API and gateway with a ledger and faults, driven over /control", "127.0.0.1:8083", func() platform {
			d := fakediscord.New(fakediscord.Options{})
			return platform{"Discord", d, d.Control()}
		}),
	)
	return c
}

// drivingTelegram is the help for a fake Telegram: make a bot, serve it from another terminal,
// and have a person write to it.
const drivingTelegram = `  curl -s localhost:8081/control/bots   -d '{"token":"1:a","name":"Ada","username":"ada_bot"}'
  curl -s localhost:8081/control/people -d '{"name":"Maya","username":"maya"}'
  TELEGRAM_BOT_TOKEN=1:a TELEGRAM_API_URL=http://localhost:8081 trestle run
  curl -s localhost:8081/control/says   -d '{"bot":1,"from":5000000001,"text":"hello"}'
  curl -s 'localhost:8081/control/sent?bot=1&from=5000000001'`

// fakePlatform returns the command that serves the platform that open returns.
func (cmd fakeCommand) fakePlatform(use, short, address string, open func() platform) *cobra.Command {
	var listen string
	c := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
		return cmd.serveFake(c.Context(), listen, address, open())
	}}
	c.Flags().StringVar(&listen, "listen", address, "address; its control endpoints belong on loopback")
	return c
}

func (cmd fakeCommand) serveFake(ctx context.Context, listen, usual string, one platform) error {
	host, _, err := net.SplitHostPort(listen)
	if err != nil || !config.IsLoopback(host) {
		return &apperr.Error{What: "the fake platform listens on loopback only", Where: "--listen " + listen, Remedy: "write --listen " + usual, Code: apperr.Usage}
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return &apperr.Error{What: "the address cannot be listened on: " + err.Error(), Where: "--listen " + listen, Remedy: "stop what uses it, or choose another port", Code: apperr.Failed}
	}
	fmt.Fprintf(cmd.Err, "fake %[2]s on http://%[1]s, driven over http://%[1]s/control/\n", ln.Addr(), one.name)
	mux := http.NewServeMux()
	mux.Handle("/", one.bots)
	mux.Handle("/control/", one.control)
	return fake.ServeUntilDone(ctx, ln, mux)
}
