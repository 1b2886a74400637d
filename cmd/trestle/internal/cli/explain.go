package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/api"
	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

// explainCommand answers `trestle explain`.
type explainCommand struct{ installation }

func newExplainCommand(env *Environment) *cobra.Command {
	cmd := explainCommand{installation{env}}
	silence, frame := false, false
	c := &cobra.Command{
		Annotations: fromAPI(), Use: "explain RUN", Short: "say why a run happened, what it saw and decided, and what became of it",
		Long: "Tell a run: what woke it, what it was shown, what its frame was made of, each step with its acts and their results, what\n" +
			"was refused, what was sent, and what it cost. With --silence SPACE EVENT: why nobody answered an event.",
		Args: func(c *cobra.Command, args []string) error {
			switch {
			case silence && len(args) != 2:
				return misuse(c, "--silence needs SPACE EVENT", "")
			case silence:
				return nil
			}
			return cobra.ExactArgs(1)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if silence {
				return cmd.explainSilence(c.Context(), args[0], args[1])
			}
			if frame || strings.Contains(args[0], ":") { // who names a step asks for it
				return cmd.explainWithFrame(c.Context(), args[0])
			}
			return cmd.explain(c.Context(), args[0])
		},
	}
	c.Flags().BoolVar(&silence, "silence", false, "why did nobody answer this? takes a space and the number of an event in it")
	c.Flags().BoolVar(&frame, "frame", false, "print the frame of its last step as well: the exact bytes the model was sent. RUN:STEP prints that of another step")
	c.MarkFlagsMutuallyExclusive("silence", "frame")
	return c
}

// explainWithFrame explains a run and prints one of its frames: of RUN:STEP, or
// of its last step.
func (cmd explainCommand) explainWithFrame(ctx context.Context, where string) error {
	run, _, _ := strings.Cut(where, ":")
	a, err := cmd.readRun(ctx, run)
	if err != nil {
		return err
	}
	f, err := hudCommand(cmd).frameOf(ctx, a.Mind, where)
	if err != nil {
		return err
	}
	if cmd.output == "text" {
		if err := cmd.explain(ctx, string(f.Run)); err != nil {
			return err
		}
	}
	return cmd.answer(f, func(w io.Writer) {
		for _, line := range frameLines(f) {
			fmt.Fprintln(w, line)
		}
	})
}

// readRun reads one run from the API.
func (in installation) readRun(ctx context.Context, id string) (a api.RunAnswer, err error) {
	err = in.ask(ctx, "/api/runs/"+url.PathEscape(id), nil, &a)
	return a, noRun(err, id)
}

// noRun replaces errNothing by the error for an unknown run. An id that could be that of
// several lists them.
func noRun(err error, id string) error {
	if several, ok := errors.AsType[console.AmbiguousNameError](err); ok {
		return ambiguous(several)
	}
	return nothing(err, "there is no such run", "run "+id, "see trestle runs; the beginning of an id is enough if no other begins so")
}

func (cmd explainCommand) explain(ctx context.Context, id string) error {
	a, err := cmd.readRun(ctx, id)
	if err != nil {
		return err
	}
	said, err := consult[map[spaces.EventID]string](ctx, cmd.installation, "explain", url.Values{"run": {string(a.Run)}})
	if err != nil {
		return err
	}
	return cmd.answer(a, func(w io.Writer) { explain(w, a, said) })
}

// tellSaid answers the texts and authors of the events that a run was shown.
func tellSaid(ctx context.Context, o readContext, q url.Values) (any, error) {
	run, err := o.Run(ctx, q.Get("run"))
	if err != nil {
		return nil, err
	}
	names, err := o.Names(ctx, console.Actors(run.Events))
	said := map[spaces.EventID]string{}
	for _, e := range run.Events {
		said[e.ID] = textout.OrDash(cmp.Or(names[e.Actor].Name, string(e.Actor))) + ": " + saidIn(e.Body)
	}
	return said, err
}

// explain prints a run: wake, frame, steps, tool calls, receipts, end.
func explain(w io.Writer, a api.RunAnswer, said map[spaces.EventID]string) {
	fmt.Fprintf(w, "run %s of %s in %s, woken by %s at %s\n", a.Run, a.Mind, textout.OrDash(string(a.Space)), a.Wake, textout.FormatTime(a.Started))
	for _, row := range a.Shown {
		what := cmp.Or(said[row.Event], textout.OrDash(string(row.Actor))+" "+string(row.Kind))
		fmt.Fprintf(w, "  shown    #%d %s %s\n", row.Seq, textout.OrDash(row.Reason), what)
	}
	explainFrame(w, a.Plan)
	if a.Prompts != "" {
		fmt.Fprintf(w, "  prompts  %s\n", a.Prompts)
	}
	for _, s := range a.Steps {
		fmt.Fprintf(w, "  step %-3d %s, %s, %d tokens in (%d cached), %d out%s\n", s.N, s.Phase, textout.OrDash(s.Finish), s.Usage.Prompt, s.Usage.Cached, s.Usage.Output, answeredBy(s.Model))
		if s.Thought != "" {
			fmt.Fprintf(w, "  thought  %s\n", textformat.ClipRunes(strings.Join(strings.Fields(s.Thought), " "), 300))
		}
		for _, act := range s.Acts {
			fmt.Fprintf(w, "  act      %s %s\n", act.Name, compact(act.Args))
			outcome := "ok"
			if !act.OK {
				outcome = "refused"
			}
			fmt.Fprintf(w, "  result   %s%s%s\n", outcome, console.Because(act.Note), costOfAct(act.ExecutionMS, act.Usage))
		}
	}
	for _, d := range a.Denials {
		fmt.Fprintf(w, "  denied   %s: %s (%s) %s\n", d.Act, d.Reason, d.Code, d.Hint)
	}
	for _, d := range a.Deliveries {
		fmt.Fprintf(w, "  %-8s %s to %s/%s%s%s\n", d.State, d.Kind, d.Account, d.Chat, receipts(d.Receipts), console.Because(strings.TrimSpace(d.Code+" "+d.Problem)))
	}
	for _, x := range a.Lost {
		fmt.Fprintf(w, "  lost     its beginning may stand in %s/%s, with a … at its end: nobody can tell, and it is not taken back\n", x.Account, x.Chat)
	}
	for _, x := range a.Waits {
		what := "waits"
		if x.Run != a.Run {
			what = "awaited"
		}
		fmt.Fprintf(w, "  %-8s %s, of #%d in %s that run %s asked%s\n", what, cmp.Or(string(x.Outcome), "until "+textout.FormatTime(x.Due)), x.Seq, x.Space, x.Run, answersOf(x.Answers))
	}
	for _, x := range a.Feedback {
		fmt.Fprintf(w, "  rated    %s by %s at %s%s\n", x.Rating, cmp.Or(x.Who.Name, string(x.Who.ID)), textout.FormatTime(x.At), console.Because(x.Why))
	}
	fmt.Fprintf(w, "  ended    %s%s, %d tokens, %s, %d calls, %d denials\n",
		stopOf(a.RunRow), console.Because(a.Detail), a.Tokens, costOf(a), a.Calls, len(a.Denials))
	if a.Rest != "" {
		fmt.Fprintf(w, "  rest     %s\n", a.Rest)
	}
}

// answersOf writes the answer of each who was asked.
func answersOf(answers []spaces.WaitAnswer) string {
	var each []string
	for _, x := range answers {
		each = append(each, strings.TrimSpace(textout.OrDash(string(x.Who))+" "+string(x.Outcome)+" "+string(x.Event)))
	}
	return console.Because(strings.Join(each, ", "))
}

// explainFrame writes the elements of the last frame.
func explainFrame(w io.Writer, raw json.RawMessage) {
	var plan hud.FramePlan
	if json.Unmarshal(raw, &plan) != nil || len(plan.Items) == 0 {
		return
	}
	fmt.Fprintf(w, "  frame    %d of %d tokens\n", plan.Tokens, plan.Budget)
	for _, item := range plan.Items {
		fmt.Fprintf(w, "           %-8s %6d  %s\n", item.Form, item.Tokens, strings.TrimSpace(strings.Join([]string{item.Area, item.What, item.Why}, " ")))
	}
	for _, item := range plan.Shed {
		fmt.Fprintf(w, "           left out %6d  %s\n", item.Tokens, strings.TrimSpace(strings.Join([]string{item.Area, item.What, item.Why}, " ")))
	}
}

// answeredBy names the model that answered in place of the agent's own, if one did.
func answeredBy(model string) string {
	if model == "" {
		return ""
	}
	return ", answered by " + model
}

// receipts name the messages that a platform made of an action.
func receipts(refs []spaces.MessageRef) string {
	var all []string
	for _, r := range refs {
		all = append(all, r.Message)
	}
	if len(all) == 0 {
		return ""
	}
	return ", message " + strings.Join(all, " ")
}

func stopOf(r api.RunRow) string {
	if r.Stop == "" {
		return "still " + string(r.State)
	}
	return string(r.Stop)
}

// costOf returns what a run cost, or that no price was known.
func costOf(a api.RunAnswer) string {
	if a.Cost == nil {
		return "price unknown (set price.input and price.output)"
	}
	return "cost " + strconv.FormatFloat(*a.Cost, 'f', 6, 64) + " " + a.Currency
}

// costOfAct writes how long a tool call took and the cost of a model that it asked; nothing
// where it took no time.
func costOfAct(took int64, u spaces.TokenUsage) (text string) {
	if took > 0 {
		text = fmt.Sprintf(", took %d ms", took)
	}
	if u.Calls > 0 {
		text += fmt.Sprintf(", %d tokens in (%d cached), %d out", u.Prompt, u.Cached, u.Output)
	}
	return text
}

// compact is JSON in one line.
func compact(raw json.RawMessage) string {
	var line bytes.Buffer
	if json.Compact(&line, raw) != nil {
		return string(raw)
	}
	return line.String()
}
