package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/api"
	"github.com/trestle-bridge/trestle/internal/textformat"
)

// frameChoice says which frames of a mind are wanted: each is a run, by its id or
// the beginning of it, with `:` and a step behind it or its last one.
type frameChoice struct {
	at, against string
	plan        bool
}

// frame prints one frame, its plan, or what is different from another.
func (cmd hudCommand) frame(ctx context.Context, mind string, which frameChoice) error {
	f, err := cmd.frameOf(ctx, mind, which.at)
	if err != nil {
		return err
	}
	if which.against != "" {
		before, err := cmd.frameOf(ctx, mind, which.against)
		if err != nil {
			return err
		}
		d := frameDifference{From: before, To: f}
		return cmd.answer(d, d.print)
	}
	return cmd.answer(f, func(w io.Writer) {
		if which.plan {
			printPlan(w, f)
			return
		}
		for _, line := range frameLines(f) {
			fmt.Fprintln(w, line)
		}
	})
}

// frameOf reads a frame; without a name the mind's newest.
func (cmd hudCommand) frameOf(ctx context.Context, mind, name string) (f api.FrameAnswer, err error) {
	run, step, named := strings.Cut(name, ":")
	if run == "" {
		if run, err = cmd.newestRun(ctx, mind); err != nil {
			return f, err
		}
	}
	a, err := cmd.readRun(ctx, run)
	if err != nil {
		return f, err
	}
	if a.Mind != mind {
		return f, &apperr.Error{What: "that run is not this mind's but " + a.Mind + "'s", Where: "hud " + mind, Remedy: "see trestle runs", Code: apperr.Usage}
	}
	if !named {
		if len(a.Steps) == 0 {
			return f, &apperr.Error{What: "that run has no step yet", Where: "run " + string(a.Run), Remedy: "see trestle runs", Code: apperr.Failed}
		}
		step = strconv.Itoa(a.Steps[len(a.Steps)-1].N)
	}
	err = cmd.ask(ctx, "/api/runs/"+url.PathEscape(string(a.Run))+"/steps/"+url.PathEscape(step), nil, &f)
	return f, nothing(err, "that run has no such step", "run "+string(a.Run)+":"+step, "see trestle explain "+string(a.Run))
}

func (cmd hudCommand) newestRun(ctx context.Context, mind string) (string, error) {
	var a struct {
		Minds []mindRow `json:"minds"`
	}
	if err := cmd.ask(ctx, "/api/minds", nil, &a); err != nil {
		return "", err
	}
	for _, m := range a.Minds {
		if m.Mind == mind && m.Last != nil {
			return string(m.Last.Run), nil
		}
	}
	return "", shownNothing(mind)
}

// frameLines writes a frame as the model was shown it, message by message.
func frameLines(f api.FrameAnswer) []string {
	var lines []string
	for _, m := range f.Messages {
		lines = append(lines, strings.TrimRight(fmt.Sprintf("── %s · %s · %.18s", m.Part, m.Role, m.Run), " ·")+" ──")
		if m.Text != "" {
			lines = append(lines, strings.Split(m.Text, "\n")...)
		}
		for _, c := range m.Calls {
			lines = append(lines, c.Name+" "+c.Args)
		}
	}
	exact := "exactly what was sent"
	switch {
	case f.Expired:
		exact = "what it was made of is not kept any more (retention.frames)"
	case !f.Exact:
		exact = "not exactly what was sent: words were deleted since, or an earlier version did not record it whole"
	}
	return append(lines, fmt.Sprintf("── run %s, step %d: %d tokens reported, %d estimated, %d cached; %s ──", f.Run, f.Step, f.Reported, f.Estimate, f.Cached, exact))
}

// printPlan writes what a frame was made of, and what was left out.
func printPlan(w io.Writer, f api.FrameAnswer) {
	var plan hud.FramePlan
	if err := json.Unmarshal(f.Plan, &plan); err != nil || len(plan.Items) == 0 {
		fmt.Fprintln(w, "no plan was recorded for this frame")
		return
	}
	rows := [][]string{{"FORM", "TOKENS", "AREA", "ELEMENT", "WHY"}}
	for _, i := range plan.Items {
		rows = append(rows, []string{string(i.Form), strconv.Itoa(i.Tokens), textout.OrDash(i.Area), textout.OrDash(i.What), i.Why})
	}
	for _, i := range plan.Shed {
		rows = append(rows, []string{"left out", strconv.Itoa(i.Tokens), textout.OrDash(i.Area), textout.OrDash(i.What), i.Why})
	}
	textout.WriteTable(w, rows)
	fmt.Fprintf(w, "%d of %d tokens, and %d fixed\n", plan.Tokens, plan.Budget, plan.Fixed)
	printCut(w, f.Keyframe)
}

// frameDifference is two frames of a mind beside each other.
type frameDifference struct {
	From api.FrameAnswer `json:"from"`
	To   api.FrameAnswer `json:"to"`
}

// print writes the lines of one frame that the other has not; what they have in
// common is counted.
func (d frameDifference) print(w io.Writer) {
	var was, now []console.TranscriptLine
	for _, line := range frameLines(d.From) {
		was = append(was, console.TranscriptLine{What: line, Text: "-"})
	}
	for _, line := range frameLines(d.To) {
		now = append(now, console.TranscriptLine{What: line, Text: "+"})
	}
	same := 0
	flush := func() {
		if same > 0 {
			fmt.Fprintf(w, "  … %s the same\n", textformat.CountNoun(same, "line"))
		}
		same = 0
	}
	for _, l := range console.PairLines(was, now) {
		if l.Was != "" && l.Now != "" {
			same++
			continue
		}
		flush()
		fmt.Fprintf(w, "%s %s\n", l.Was+l.Now, l.What)
	}
	flush()
}
