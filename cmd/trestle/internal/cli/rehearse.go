package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/server"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/offline"
	"github.com/trestle-bridge/trestle/internal/llm/openai"
	"github.com/trestle-bridge/trestle/internal/store/readmodel"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// A rehearsalOptions is what a rehearsal does differently.
type rehearsalOptions struct {
	model  string // name; empty is that of the agent
	budget int    // tokens of the context; 0 is that of the agent
	prompt string // file with the system message; empty is that of the agent
}

// rehearseCommand answers `trestle rehearse`.
type rehearseCommand struct{ installation }

func newRehearseCommand(env *Environment) *cobra.Command {
	cmd := rehearseCommand{installation{env}}
	var v rehearsalOptions
	c := &cobra.Command{
		Use: "rehearse RUN", Short: "live a past run once more, with another model, budget or prompt, beside what it was", Args: cobra.ExactArgs(1),
		Long: "Live a past run once more: the agent is shown what it was shown then and decides again, with the configuration of now or\n" +
			"what the flags say. What it decides stands beside what it decided then; lines that differ are marked with ≠. Nothing of it\n" +
			"happens: nothing is sent, said, remembered or counted. The model is really asked.",
		RunE: func(c *cobra.Command, args []string) error { return cmd.rehearse(c.Context(), args[0], v) },
	}
	c.Flags().StringVar(&v.model, "model", "", "ask this model of the agent's endpoint")
	c.Flags().IntVar(&v.budget, "budget", 0, "tokens of the context (context_tokens)")
	c.Flags().StringVar(&v.prompt, "prompt", "", "file with the system message to use; explain --frame prints the one in use")
	return c
}

// leastBudget is about what every frame begins with.
const leastBudget = 4000

func (cmd rehearseCommand) rehearse(ctx context.Context, id string, v rehearsalOptions) error {
	if v.budget != 0 && v.budget < leastBudget {
		return &apperr.Error{What: "a budget is a number of tokens that leaves room for a frame", Where: "--budget " + strconv.Itoa(v.budget), Remedy: fmt.Sprintf("give %d or more", leastBudget), Code: apperr.Usage}
	}
	return cmd.look(ctx, func(conf *config.Config, r readmodel.ReadModel) error {
		past, err := r.Past(ctx, id)
		if errors.Is(err, console.ErrUnknown) {
			err = control.ErrNotFound
		}
		if err != nil {
			return noRun(err, id)
		}
		if slices.ContainsFunc(past.Run().Steps, func(s spaces.Step) bool { return s.Expired }) {
			return &apperr.Error{What: "what this run was shown is not kept any more", Where: "run " + id, Remedy: "rehearse a younger one; retention.frames says how long it is kept", Code: apperr.Failed}
		}
		o, err := cmd.stage(ctx, conf, past, v)
		if err != nil {
			return err
		}
		again := shell.Rehearse(ctx, o, past.Wake())
		if err := ctx.Err(); err != nil {
			return err
		}
		a := compare(past.Run(), again, o)
		return cmd.answer(a, a.print)
	})
}

// stage sets up a rehearsal: the agent of the run as the configuration and the
// flags have it, over the past.
func (cmd rehearseCommand) stage(ctx context.Context, conf *config.Config, past *readmodel.HistoricalView, v rehearsalOptions) (shell.Options, error) {
	mind := past.Run().Cycle.Mind
	agent, ok := conf.Agent(string(mind.Agent))
	if !ok {
		return shell.Options{}, &apperr.Error{What: "the agent of this run is not configured any more", Where: "agent " + string(mind.Agent), Remedy: "give it an entry under agents:", Code: apperr.Failed}
	}
	as := shell.Agent{ID: mind.Agent, Name: agent.Name, Persona: agent.Persona}
	if v.prompt != "" {
		text, err := os.ReadFile(v.prompt)
		if err != nil {
			return shell.Options{}, &apperr.Error{What: "the prompt cannot be read", Where: v.prompt, Remedy: "see that the file is there", Code: apperr.Failed}
		}
		as.System = string(text)
	}
	as.Model = offline.EchoModel{}
	if m := agent.Model; !m.Offline {
		client, err := openai.New(openai.Options{BaseURL: m.BaseURL, APIKey: string(m.APIKey)})
		if err != nil {
			return shell.Options{}, &apperr.Error{What: err.Error(), Where: "model of " + agent.Name, Remedy: "see trestle doctor", Code: apperr.Failed}
		}
		as.Model = &llm.RetryingModel{Model: client}
	}
	entry, err := past.Entry(ctx, past.Run().Cycle.Space)
	if err != nil {
		return shell.Options{}, err
	}
	set := server.ShellSettings(agent, conf.SettingsFor(agent.ID, entry))
	set.ModelName = cmp.Or(v.model, set.ModelName)
	if v.budget > 0 {
		set.ContextTokens, set.MaxOutput = v.budget, min(set.MaxOutput, v.budget/4)
	}
	return shell.Options{
		Record: past, Agents: []shell.Agent{as}, Settings: func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings { return set },
		Counter: new(hud.TokenCounter), Holder: "rehearsal", NewID: storeopen.NewID, Nonce: server.NewNonce, Logger: slog.New(slog.DiscardHandler),
	}, nil
}

// rehearsalAnswer is a run and its rehearsal, side by side.
type rehearsalAnswer struct {
	Run    spaces.CycleID `json:"run"`
	Mind   string         `json:"mind"`
	Model  string         `json:"model"`  // that was asked
	Budget int            `json:"budget"` // tokens of its context
	Same   bool           `json:"same"`   // it decided what it had decided
	Was    runOutcome     `json:"was"`
	Now    runOutcome     `json:"now"`
}

// A runOutcome is what one life of a run came to.
type runOutcome struct {
	Lines []transcriptLine  `json:"lines"`
	Said  []string          `json:"said"`
	Stop  spaces.StopReason `json:"stop"`
	Rest  string            `json:"rest"`
	Steps int               `json:"steps"`
	Usage spaces.TokenUsage `json:"usage"`
}

// A transcriptLine is one thing the agent was told or decided.
type transcriptLine struct {
	What string `json:"what"` // shown, says, acts, told
	Text string `json:"text"`
}

func compare(run console.Run, again shell.DryRun, o shell.Options) rehearsalAnswer {
	set := o.Settings("", "")
	was := runOutcome{Stop: run.Cycle.Stop, Rest: run.Cycle.Rest, Usage: run.Cycle.Usage, Lines: stageLines(run.Turns)}
	for _, s := range run.Steps {
		if s.State == spaces.StepDone {
			was.Steps++
		}
	}
	said := map[spaces.EventID]bool{}
	for _, a := range run.Actions {
		if a.Kind == spaces.ActSend && !said[a.Event] {
			said[a.Event] = true
			was.Said = append(was.Said, a.Text)
		}
	}
	now := runOutcome{
		Stop: again.Close.Stop, Rest: again.Close.Rest, Usage: again.Usage, Lines: stageLines(again.Turns),
		Steps: len(again.Steps), Said: again.Said(),
	}
	a := rehearsalAnswer{Run: run.Cycle.ID, Mind: run.Cycle.Mind.String(), Model: set.ModelName, Budget: set.ContextTokens, Was: was, Now: now}
	a.Same = decisions(was) == decisions(now)
	return a
}

// decisions are the acts and the end of a performance, in one text.
func decisions(p runOutcome) string {
	acts := []string{string(p.Stop)}
	for _, l := range p.Lines {
		if l.What == "acts" {
			acts = append(acts, l.Text)
		}
	}
	return strings.Join(acts, "\n")
}

func stageLines(turns []spaces.TranscriptTurn) []transcriptLine {
	var lines []transcriptLine
	for _, t := range turns {
		what := "shown"
		switch t.Role {
		case spaces.RoleAssistant:
			what = "says"
		case spaces.RoleTool:
			what = "told"
		case spaces.RoleUser, spaces.RoleSystem:
		}
		if t.Text != "" {
			lines = append(lines, transcriptLine{what, t.Text})
		}
		for _, call := range t.Calls {
			lines = append(lines, transcriptLine{"acts", call.Name + " " + call.Args})
		}
	}
	return lines
}

// columnWidth is how many characters one column of the answer has.
const columnWidth = 56

func (a rehearsalAnswer) print(w io.Writer) {
	fmt.Fprintf(w, "run %s of %s, rehearsed with %s in %d tokens\n", a.Run, a.Mind, textout.OrDash(a.Model), a.Budget)
	row(w, "", "as it was", "as it would be")
	for _, pair := range alongside(a.Was.Lines, a.Now.Lines) {
		row(w, pair.what, pair.was, pair.now)
	}
	row(w, "ended", string(a.Was.Stop), string(a.Now.Stop))
	row(w, "rest", a.Was.Rest, a.Now.Rest)
	row(w, "tokens", spentBy(a.Was), spentBy(a.Now))
	fmt.Fprintln(w, "nothing of the right column has happened")
}

func spentBy(p runOutcome) string {
	return fmt.Sprintf("%d tokens in, %d out, %d calls", p.Usage.Prompt, p.Usage.Output, p.Usage.Calls)
}
