package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/server"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
)

// A firstStep is one of three steps that a new installation needs.
type firstStep struct {
	name string
	how  string // while it is not done
	done func(h console.Health) string
}

// firstSteps are what makes a process useful, each with a function that returns "" until it is
// done. unused is what unusedTokens returns.
func firstSteps(unused string) []firstStep {
	return []firstStep{
		{"a model", "set OPENAI_BASE_URL, OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, or model: in trestle.yaml, or start Ollama; until then a stand-in answers", func(h console.Health) string {
			for _, x := range h.Extensions {
				if x.Kind == "model" && x.Healthy && x.State != "offline" {
					return "configured"
				}
			}
			return ""
		}},
		{"a room", "", func(console.Health) string { return server.HomeRoom + " is here already: trestle chat" }},
		{"a platform", cmp.Or(unused, "trestle init asks for one, or set TELEGRAM_BOT_TOKEN"), func(h console.Health) string {
			for _, x := range h.Extensions {
				if x.Kind == "adapter" && x.Name != server.LocalName && x.Healthy {
					return x.Name + " connected as " + x.Handle
				}
			}
			return ""
		}},
	}
}

// unusedTokens says which tokens of the environment no account uses, and what to write; empty
// when there is none.
func unusedTokens(c *config.Config) string {
	var all []string
	for _, w := range c.Warnings {
		if w.UnusedPlatform != "" {
			all = append(all, w.Err.What+"; "+w.Err.Remedy)
		}
	}
	return strings.Join(all, "\n")
}

// announce prints that everything runs, and the addresses, and waits until ctx is done.
func (cmd runCommand) announce(ctx context.Context, s *server.Server) error {
	select {
	case <-s.Ready:
		if !cmd.quiet {
			fmt.Fprintln(cmd.Out, s.Banner())
		}
		<-ctx.Done()
	case <-ctx.Done():
	}
	return nil
}

// guideTick is the time between two looks at the three steps.
const guideTick = time.Second

// guide prints the three steps for a person who started with nothing configured, and a line for
// each that is done later. It waits until ctx is done.
func (cmd runCommand) guide(ctx context.Context, s *server.Server) error {
	select {
	case <-s.Ready:
	case <-ctx.Done():
		return nil
	}
	fmt.Fprintln(cmd.Out, s.Banner()+"   nothing is configured yet")
	steps, done := firstSteps(unusedTokens(s.Config())), map[int]bool{}
	cmd.showSteps(s.Health(), steps, done, true)
	tick := time.NewTicker(guideTick)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			cmd.showSteps(s.Health(), steps, done, false)
		}
	}
}

// showSteps writes a line for each step that has been done since the last time,
// and on the first time for the others, too.
func (cmd runCommand) showSteps(h console.Health, steps []firstStep, done map[int]bool, first bool) {
	for i, step := range steps {
		how := step.done(h)
		if done[i] || (how == "" && !first) {
			continue
		}
		mark, text := "[ ]", step.how
		if how != "" {
			mark, text, done[i] = "[x]", how, true
		}
		fmt.Fprintf(cmd.Out, "  %s %d %-11s %s\n", mark, i+1, step.name, text)
	}
}
