package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/hud"
)

// printCut writes how the keyframe of a frame was cut: how strongly its parts are
// compressed, and what is left of each connection span (SEQ-47, SEQ-71).
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
