package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/server"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/spaces"
)

// hudAnswer is the context of a mind: its keyframe and the turns since.
type hudAnswer struct {
	Mind     string                  `json:"mind"`
	Keyframe string                  `json:"keyframe,omitempty"`
	Turns    []spaces.TranscriptTurn `json:"turns"`
	Tokens   int                     `json:"tokens"`
	// Runs are the runs that the turns belong to, one for each turn.
	Runs []spaces.CycleID `json:"runs"`
}

// hudCommand answers `trestle hud`.
type hudCommand struct{ installation }

func newHudCommand(env *Environment) *cobra.Command {
	cmd := hudCommand{installation{env}}
	var cycles int
	var which frameChoice
	c := &cobra.Command{
		Annotations: fromAPI(), Use: "hud MIND", Short: "print what a mind (agent/circle) has before it: its keyframe and what it was shown since", Args: cobra.ExactArgs(1),
		Long: "Print what a mind (agent/circle) has before it: its keyframe and what it was shown since. With --at the exact frame of one step: " +
			"a run, by its id or the beginning of it, and its last step, or `RUN:STEP`. --plan tells what the mind's newest frame, or that one, was made of; " +
			"--diff what is different from another. The JSON is then the frame, or an object with `from` and `to`.",
		RunE: func(c *cobra.Command, args []string) error {
			if which != (frameChoice{}) {
				if _, err := server.ParseMindName(args[0]); err != nil {
					return err
				}
				return cmd.frame(c.Context(), args[0], which)
			}
			return cmd.hud(c.Context(), args[0], cycles)
		},
	}
	c.Flags().StringVar(&which.at, "at", "", "the frame of this run, as RUN or RUN:STEP")
	c.Flags().StringVar(&which.against, "diff", "", "what is different from this frame, as RUN or RUN:STEP")
	c.Flags().BoolVar(&which.plan, "plan", false, "what the frame was made of: elements, forms, tokens, and what was left out")
	c.Flags().IntVar(&cycles, "cycles", 10, "newest cycles to print")
	c.MarkFlagsMutuallyExclusive("diff", "plan")
	for _, ofFrame := range []string{"at", "diff", "plan"} {
		c.MarkFlagsMutuallyExclusive(ofFrame, "cycles")
	}
	return c
}

func (cmd hudCommand) hud(ctx context.Context, name string, cycles int) error {
	if _, err := server.ParseMindName(name); err != nil {
		return err
	}
	a, err := consult[hudAnswer](ctx, cmd.installation, "hud", url.Values{"mind": {name}, "cycles": {strconv.Itoa(cycles)}})
	if err != nil {
		return err
	}
	return cmd.answer(a, a.print)
}

// tellHUD answers the context of a mind.
func tellHUD(ctx context.Context, o readContext, q url.Values) (any, error) {
	name := q.Get("mind")
	m, err := server.ParseMindName(name)
	if err != nil {
		return nil, err
	}
	cycles, err := strconv.Atoi(q.Get("cycles"))
	if err != nil || cycles < 1 {
		return nil, &apperr.Error{What: "there is no such number of cycles", Where: "hud --cycles", Remedy: "write 1 or more", Code: apperr.Usage}
	}
	keyframe, turns, err := o.Turns(ctx, m, cycles)
	if err != nil {
		return nil, err
	}
	if keyframe == nil && len(turns) == 0 {
		return nil, shownNothing(name)
	}
	a := hudAnswer{Mind: m.String(), Turns: turns}
	if keyframe != nil {
		a.Keyframe, a.Tokens = keyframe.Text, keyframe.Tokens
	}
	for _, t := range turns {
		a.Tokens += t.Tokens
		a.Runs = append(a.Runs, t.Cycle)
	}
	return a, nil
}

func shownNothing(mind string) *apperr.Error {
	return &apperr.Error{What: "this mind has not been shown anything", Where: "hud " + mind, Remedy: "see trestle status for the minds there are", Code: apperr.Failed}
}

func (a hudAnswer) print(w io.Writer) {
	if a.Keyframe != "" {
		fmt.Fprintf(w, "── keyframe ──\n%s\n", a.Keyframe)
	}
	last := spaces.CycleID("")
	for i, t := range a.Turns {
		if a.Runs[i] != last {
			last = a.Runs[i]
			fmt.Fprintf(w, "── cycle %s ──\n", last)
		}
		fmt.Fprintf(w, "[%s]", t.Role)
		if t.Text != "" {
			fmt.Fprintf(w, " %s", t.Text)
		}
		for _, c := range t.Calls {
			fmt.Fprintf(w, " %s(%s)", c.Name, c.Args)
		}
		fmt.Fprintf(w, "\n")
	}
	if a.Tokens > 0 { // the endpoint may have counted none of it yet
		fmt.Fprintf(w, "── %d tokens ──\n", a.Tokens)
	}
}

// printCut writes how the keyframe of a frame was compacted: how strongly its parts are
// compressed, and what is left of each connection span.
func printCut(w io.Writer, raw json.RawMessage) {
	var plan hud.FramePlan
	if err := json.Unmarshal(raw, &plan); err != nil || len(plan.Items) == 0 {
		return
	}
	fmt.Fprintf(w, "\nkeyframe, cut for %s: %d of %d tokens, and %d of the turns behind it\n", plan.Cause, plan.Tokens, plan.Budget, plan.Kept)
	rows := [][]string{{"LEVEL", "SHOWN", "OF"}}
	for _, l := range plan.Levels {
		rows = append(rows, []string{strconv.Itoa(l.Level), percent(l.Share), l.Of})
	}
	textout.WriteTable(w, rows)
	if len(plan.Bundles) == 0 {
		return
	}
	rows = [][]string{{"SPACE", "SPAN", "FROM", "TO", "AGE", "TALKS", "LINES", "SHOWN", "LEFT"}}
	for _, b := range plan.Bundles {
		span := "earlier"
		if b.Span > 0 {
			span = strconv.FormatInt(b.Span, 10)
		}
		if b.Active {
			span += " (open)"
		}
		rows = append(rows, []string{
			b.Space, span, textout.FormatTime(b.Start), textout.FormatTime(b.End), string(b.Age), strconv.Itoa(b.Talks), strconv.Itoa(b.Lines), strconv.Itoa(b.Shown), percent(b.Ratio),
		})
	}
	textout.WriteTable(w, rows)
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }
