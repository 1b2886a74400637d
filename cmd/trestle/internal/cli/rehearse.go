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
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/server"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/offline"
	"github.com/trestle-bridge/trestle/internal/store/readmodel"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/shell/prompts"
	"github.com/trestle-bridge/trestle/spaces"
)

// A rehearsalOptions is what a rehearsal does differently.
type rehearsalOptions struct {
	model   string   // name; empty is that of the agent
	budget  int      // tokens of the context; 0 is that of the agent
	prompts []string // versions of sections, or a file with the system message; empty is what the agent is told now
	agent   string   // of the runs that last counts
	worst   int      // how many of the runs that people rated worst, where none is named
	last    int      // how many of the newest runs, where none is named
	// versions is true where prompts may be versions of sections alone, and no file.
	versions bool
}

// rehearseCommand answers `trestle rehearse`.
type rehearseCommand struct{ installation }

func newRehearseCommand(env *Environment) *cobra.Command {
	cmd := rehearseCommand{installation{env}}
	var v rehearsalOptions
	c := &cobra.Command{
		Use: "rehearse [RUN...]", Short: "live past runs once more, with another model, budget or prompt, beside what they were",
		Long: "Live past runs once more: the agent is shown what it was shown then and decides again, with the configuration of now or\n" +
			"what the flags say. What it decides stands beside what it decided then; lines that differ are marked with ≠. Several runs are\n" +
			"compared in a table: calls, tokens, words said, acts. Nothing of it happens: nothing is sent, said, remembered or counted.\n" +
			"The model is really asked.",
		Example: "  trestle rehearse 01J8 --model gpt-5-mini\n  trestle rehearse --last 10 --prompt instructions@2",
		RunE:    func(c *cobra.Command, args []string) error { return cmd.rehearse(c.Context(), args, v) },
	}
	c.Flags().StringVar(&v.model, "model", "", "ask this model of the agent's endpoint")
	c.Flags().IntVar(&v.budget, "budget", 0, "tokens of the context (context_tokens)")
	c.Flags().StringArrayVar(&v.prompts, "prompt", nil, "version of a section to be told, such as instructions@2 (may be repeated), or file with the whole system message; explain --frame prints the one in use")
	c.Flags().IntVar(&v.last, "last", 0, fmt.Sprintf("rehearse the newest runs, this many, at most %d", mostRehearsals))
	c.Flags().IntVar(&v.worst, "worst", 0, "rehearse the runs that people rated worst, this many")
	c.Flags().StringVar(&v.agent, "agent", "", "of --last and --worst, only runs of this agent")
	return c
}

const (
	leastBudget    = 4000 // about what every frame begins with
	mostRehearsals = 100  // each of them asks a model
)

// check returns an error for flags that do not fit.
func (v *rehearsalOptions) check(ids []string) error {
	switch {
	case v.budget != 0 && v.budget < leastBudget:
		return tooSmallBudget("--budget " + strconv.Itoa(v.budget))
	case min(v.last, v.worst) < 0 || max(v.last, v.worst, len(ids)) > mostRehearsals:
		return &apperr.Error{What: fmt.Sprintf("between 1 and %d runs are rehearsed at once", mostRehearsals), Where: "trestle rehearse", Remedy: "name fewer runs", Code: apperr.Usage}
	case v.last > 0 && v.worst > 0, len(ids) == 0 == (v.last+v.worst == 0):
		return &apperr.Error{What: "either runs are named, or their number", Where: "trestle rehearse", Remedy: "give ids of trestle runs, or --last 10, or --worst 10", Code: apperr.Usage}
	}
	return nil
}

func (cmd rehearseCommand) rehearse(ctx context.Context, ids []string, v rehearsalOptions) error {
	if err := v.check(ids); err != nil {
		return err
	}
	if err := cmd.chooseAgent(ctx, v.agent); err != nil {
		return err
	}
	return cmd.look(ctx, func(conf *config.Config, r readmodel.ReadModel) error {
		if len(ids) == 0 {
			var err error
			if ids, err = chosenRuns(ctx, conf, r, v); err != nil {
				return err
			}
		}
		var a rehearsalAnswer
		for _, id := range ids {
			done, err := rehearseRun(ctx, conf, r, id, v)
			if err != nil {
				return noRun(err, id)
			}
			a = a.with(done)
		}
		return cmd.answer(a, a.print)
	})
}

// rehearseRun rehearses one run.
func rehearseRun(ctx context.Context, conf *config.Config, r readmodel.ReadModel, id string, v rehearsalOptions) (done console.RehearsedRun, err error) {
	past, err := r.Past(ctx, id)
	if err != nil {
		return done, err
	}
	if expired(past.Run()) {
		return done, &apperr.Error{What: "what this run was shown is not kept any more", Where: "run " + id, Remedy: "rehearse a younger one; retention.frames says how long it is kept", Code: apperr.Failed}
	}
	o, err := stageRehearsal(ctx, conf, r, past, v)
	if err != nil {
		return done, err
	}
	again := shell.Rehearse(ctx, o, past.Wake())
	if err := ctx.Err(); err != nil {
		return done, err
	}
	return compare(past.Run(), again, o), nil
}

// rehearseForConsole is the [server.Server.Rehearse] of every process that a command starts. It
// reads no file.
func rehearseForConsole(ctx context.Context, s *server.Server, q console.RehearsalRequest) (done console.RehearsedRun, err error) {
	if q.Budget != 0 && q.Budget < leastBudget {
		return done, tooSmallBudget("budget " + strconv.Itoa(q.Budget))
	}
	return rehearseRun(ctx, s.Config(), s.Store.Console(), q.Run, rehearsalOptions{model: q.Model, budget: q.Budget, prompts: q.Prompts, versions: true})
}

// tooSmallBudget is the error for a budget that leaves no room for a frame.
func tooSmallBudget(where string) error {
	return &apperr.Error{What: "a budget is a number of tokens that leaves room for a frame", Where: where, Remedy: fmt.Sprintf("give %d or more", leastBudget), Code: apperr.Usage}
}

// expired reports whether what a run was shown is not kept any more.
func expired(run console.Run) bool {
	return slices.ContainsFunc(run.Steps, func(s spaces.Step) bool { return s.Expired })
}

// chosenRuns returns the runs that flags choose.
func chosenRuns(ctx context.Context, conf *config.Config, r readmodel.ReadModel, v rehearsalOptions) (ids []string, err error) {
	if v.worst == 0 {
		return newestRuns(ctx, conf, r, v)
	}
	worst, err := readmodel.WorstRuns(ctx, r, spaces.AgentID(v.agent), mostRehearsals)
	if err != nil {
		return nil, err
	}
	for _, id := range worst {
		run, err := r.Run(ctx, string(id))
		if errors.Is(err, console.ErrUnknown) {
			continue // it is not kept any more
		}
		if err != nil {
			return nil, err
		}
		if _, configured := conf.Agent(string(run.Cycle.Mind.Agent)); configured && !expired(run) && len(ids) < v.worst {
			ids = append(ids, string(id))
		}
	}
	if len(ids) == 0 {
		return nil, &apperr.Error{What: "no run that can be rehearsed was rated bad", Where: "trestle rehearse --worst", Remedy: "turn on `feedback`, and see trestle runs --feedback bad", Code: apperr.Failed}
	}
	return ids, nil
}

// newestRuns returns the newest runs that can be rehearsed and asked a model, newest first.
func newestRuns(ctx context.Context, conf *config.Config, r readmodel.ReadModel, v rehearsalOptions) (ids []string, err error) {
	f := console.Filter{Agent: spaces.AgentID(v.agent), Limit: mostRehearsals}
	for {
		page, err := r.Runs(ctx, f)
		if err != nil {
			return nil, err
		}
		for _, y := range page {
			f.Before = y.ID
			if _, configured := conf.Agent(string(y.Mind.Agent)); !configured || y.Stop == "" || y.Usage.Calls == 0 {
				continue
			}
			switch run, err := r.Run(ctx, string(y.ID)); {
			case err != nil:
				return nil, err
			case !expired(run):
				ids = append(ids, string(y.ID))
			}
			if len(ids) == v.last {
				return ids, nil
			}
		}
		switch {
		case len(page) == f.Limit:
		case len(ids) == 0:
			return nil, &apperr.Error{What: "there is no run to rehearse", Where: "trestle rehearse --last", Remedy: "see trestle runs; what runs were shown is kept as long as retention.frames says", Code: apperr.Failed}
		default:
			return ids, nil
		}
	}
}

// A toldSet is the versions of the sections that a rehearsed agent is told.
type toldSet struct{ *prompts.PromptSet }

// Set implements [shell.PromptSource].
func (t toldSet) Set(spaces.AgentID) *prompts.PromptSet { return t.PromptSet }

// tell has the agent told what is active, but for what the flags say.
func (v *rehearsalOptions) tell(ctx context.Context, conf *config.Config, r readmodel.ReadModel, as *shell.Agent) (shell.PromptSource, error) {
	book, err := offlinePrompts(conf, r).Book(ctx)
	if err != nil {
		return nil, err
	}
	set := book.Set(as.ID)
	for _, given := range v.prompts {
		section, _, _ := strings.Cut(given, "@")
		if slices.ContainsFunc(prompts.AllSections(), func(p prompts.PromptSection) bool { return p.Name == section }) {
			version, err := book.Find(given)
			if no, ok := errors.AsType[*prompts.SectionError](err); ok {
				return nil, &apperr.Error{What: no.What, Where: "--prompt " + given, Remedy: no.Remedy, Code: apperr.Failed}
			}
			if err != nil {
				return nil, err
			}
			set = set.With(version)
			continue
		}
		var text []byte
		err := errors.New("not a version")
		if !v.versions {
			text, err = os.ReadFile(given)
		}
		if err != nil {
			return nil, &apperr.Error{What: "the prompt is neither a version of a section nor a file that can be read", Where: "--prompt " + given, Remedy: "write one that trestle prompts list names, such as instructions@2, or the path of a file with the whole system message", Code: apperr.Failed}
		}
		as.System = string(text)
	}
	return toldSet{set}, nil
}

// stageRehearsal sets up a rehearsal: the agent of the run as the configuration and the
// flags have it, over the past.
func stageRehearsal(ctx context.Context, conf *config.Config, r readmodel.ReadModel, past *readmodel.HistoricalView, v rehearsalOptions) (shell.Options, error) {
	mind := past.Run().Cycle.Mind
	agent, ok := conf.Agent(string(mind.Agent))
	if !ok {
		return shell.Options{}, &apperr.Error{What: "the agent of this run is not configured any more", Where: "agent " + string(mind.Agent), Remedy: "give it an entry under agents:", Code: apperr.Failed}
	}
	as := shell.Agent{ID: mind.Agent, Name: agent.Name, Persona: agent.Persona}
	told, err := v.tell(ctx, conf, r, &as)
	if err != nil {
		return shell.Options{}, err
	}
	as.Model = offline.EchoModel{}
	if m := agent.Model; !m.Offline {
		client, err := server.NewAccountManager(conf, slog.New(slog.DiscardHandler)).OpenEndpoint(m)
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
	window := v.budget
	if window == 0 && !agent.Model.Offline {
		window = server.WindowNow(ctx, conf, agent, entry, as.Model)
	}
	if window > 0 && window != set.ContextTokens {
		set.ContextTokens, set.MaxOutput = window, min(set.MaxOutput, window/4)
	}
	return shell.Options{
		Record: past, Agents: []shell.Agent{as}, Settings: func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings { return set },
		Prompts: told, Counter: new(hud.TokenCounter), Holder: "rehearsal", NewID: storeopen.NewID, Nonce: server.NewNonce, Logger: slog.New(slog.DiscardHandler),
	}, nil
}

// rehearsalAnswer is past runs and their rehearsals.
type rehearsalAnswer struct {
	Runs []console.RehearsedRun `json:"runs"`
	Was  console.RunFigures     `json:"was"` // of all runs
	Now  console.RunFigures     `json:"now"`
}

// with returns the answer with another run.
func (a rehearsalAnswer) with(r console.RehearsedRun) rehearsalAnswer {
	a.Runs = append(a.Runs, r)
	a.Was.Add(r.Was.RunFigures)
	a.Now.Add(r.Now.RunFigures)
	return a
}

func compare(run console.Run, again shell.DryRun, o shell.Options) console.RehearsedRun {
	set, mind := o.Settings("", ""), run.Cycle.Mind
	was := console.RunOutcome{Stop: run.Cycle.Stop, Rest: run.Cycle.Rest, Prompts: run.Cycle.Prompts, RunFigures: console.RunFigures{Usage: run.Cycle.Usage}, Lines: stageLines(run.Turns)}
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
	now := console.RunOutcome{
		Stop: again.Close.Stop, Rest: again.Close.Rest, Prompts: again.Close.Prompts, RunFigures: console.RunFigures{Usage: again.Usage}, Lines: stageLines(again.Turns),
		Steps: len(again.Steps), Said: again.Said(),
	}
	r := console.RehearsedRun{Run: run.Cycle.ID, Mind: mind.String(), Model: set.ModelName, Budget: set.ContextTokens, Was: was.Counted(), Now: now.Counted()}
	r.Same = decisions(was) == decisions(now)
	return r
}

// decisions are the acts and the end of a performance, in one text.
func decisions(p console.RunOutcome) string {
	acts := []string{string(p.Stop)}
	for _, l := range p.Lines {
		if l.What == "acts" {
			acts = append(acts, l.Text)
		}
	}
	return strings.Join(acts, "\n")
}

func stageLines(turns []spaces.TranscriptTurn) []console.TranscriptLine {
	var lines []console.TranscriptLine
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
			lines = append(lines, console.TranscriptLine{What: what, Text: t.Text})
		}
		for _, call := range t.Calls {
			lines = append(lines, console.TranscriptLine{What: "acts", Text: call.Name + " " + call.Args})
		}
	}
	return lines
}

// columnWidth is how many characters one column of the answer has.
const columnWidth = 56

func (a rehearsalAnswer) print(w io.Writer) {
	if len(a.Runs) == 1 {
		printRehearsal(w, a.Runs[0])
		return
	}
	lines := [][]string{{"RUN", "MIND", "CALLS", "TOKENS IN", "TOKENS OUT", "WORDS", "ACTS", "DECIDED"}}
	same := 0
	for _, r := range a.Runs {
		decided := "otherwise"
		if r.Same {
			decided = "the same"
			same++
		}
		lines = append(lines, append(append([]string{string(r.Run), r.Mind}, figures(r.Was.RunFigures, r.Now.RunFigures)...), decided))
	}
	lines = append(lines, append(append([]string{"all", ""}, figures(a.Was, a.Now)...), fmt.Sprintf("the same in %d of %d", same, len(a.Runs))))
	textout.WriteTable(w, lines)
	fmt.Fprintln(w, "nothing to the right of an arrow has happened")
}

// figures returns the figures of a run as it was and as it would be.
func figures(was, now console.RunFigures) []string {
	var cells []string
	for _, pair := range [][2]int{
		{was.Usage.Calls, now.Usage.Calls}, {was.Usage.Prompt, now.Usage.Prompt}, {was.Usage.Output, now.Usage.Output}, {was.Words, now.Words}, {was.Acts, now.Acts},
	} {
		cells = append(cells, fmt.Sprintf("%d → %d", pair[0], pair[1]))
	}
	return cells
}

func printRehearsal(w io.Writer, r console.RehearsedRun) {
	fmt.Fprintf(w, "run %s of %s, rehearsed with %s in %d tokens\n", r.Run, r.Mind, textout.OrDash(r.Model), r.Budget)
	row(w, "", "as it was", "as it would be")
	for _, pair := range console.PairLines(r.Was.Lines, r.Now.Lines) {
		row(w, pair.What, pair.Was, pair.Now)
	}
	row(w, "ended", string(r.Was.Stop), string(r.Now.Stop))
	row(w, "rest", r.Was.Rest, r.Now.Rest)
	if r.Was.Prompts+r.Now.Prompts != "" {
		row(w, "prompts", cmp.Or(r.Was.Prompts, "built in"), cmp.Or(r.Now.Prompts, "built in"))
	}
	row(w, "tokens", spentBy(r.Was), spentBy(r.Now))
	row(w, "words", strconv.Itoa(r.Was.Words)+" said", strconv.Itoa(r.Now.Words)+" said")
	row(w, "acts", strconv.Itoa(r.Was.Acts), strconv.Itoa(r.Now.Acts))
	fmt.Fprintln(w, "nothing of the right column has happened")
}

func spentBy(p console.RunOutcome) string {
	return fmt.Sprintf("%d tokens in, %d out, %d calls", p.Usage.Prompt, p.Usage.Output, p.Usage.Calls)
}
