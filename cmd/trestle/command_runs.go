package main

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/spaces"
)

// runRow is one line of `trestle runs`.
type runRow = console.RunRow

func runsCommand(p *program) *cobra.Command {
	var space, agent, stop, since string
	var limit int
	c := &cobra.Command{
		Use: "runs", Short: "list what the agents did, newest first", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			from, err := sinceFlag(since)
			if err != nil {
				return err
			}
			return p.runs(c.Context(), console.Filter{
				Space: spaces.SpaceID(space), Agent: spaces.AgentID(agent), Stop: spaces.StopReason(stop), Since: from, Limit: limit,
			})
		},
	}
	c.Flags().StringVar(&space, "space", "", "only in this space (its id)")
	c.Flags().StringVar(&agent, "agent", "", "only of this agent")
	c.Flags().StringVar(&stop, "stop", "", "only those that ended so: completed, silent, budget_exhausted, …")
	c.Flags().StringVar(&since, "since", "", "only newer ones, such as 2h or 7d")
	c.Flags().IntVar(&limit, "limit", 50, "at most this many")
	return c
}

func (p *program) runs(ctx context.Context, f console.Filter) error {
	return p.look(ctx, func(_ *config.Config, r console.Record) error {
		found, err := r.Runs(ctx, f)
		if err != nil {
			return err
		}
		rows := make([]runRow, 0, len(found))
		for _, y := range found {
			rows = append(rows, console.RowOf(y))
		}
		return answerRows(p, rows, func(w io.Writer) { printRuns(w, rows) })
	})
}

func printRuns(w io.Writer, rows []runRow) {
	lines := [][]string{{"RUN", "MIND", "SPACE", "WAKE", "STOP", "CALLS", "TOKENS", "DENIALS", "STARTED", "SECONDS"}}
	for _, r := range rows {
		stop := string(r.Stop)
		if stop == "" {
			stop = string(r.State)
		}
		lines = append(lines, []string{
			string(r.Run), r.Mind, dash(string(r.Space)), r.Wake, stop, strconv.Itoa(r.Calls), strconv.Itoa(r.Tokens),
			strconv.Itoa(r.Denials), when(r.Started), strconv.FormatFloat(r.Seconds, 'f', 2, 64),
		})
	}
	table(w, lines)
}

func explainCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "explain RUN", Short: "say why a run happened, what it saw and decided, and what became of it", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return p.look(c.Context(), func(_ *config.Config, r console.Record) error {
				run, err := r.Run(c.Context(), args[0])
				if err != nil {
					return unknown(err, "there is no such run", "explain "+args[0], "see trestle runs; the beginning of an id is enough if no other begins so")
				}
				names, err := r.Names(c.Context(), actors(run.Events))
				if err != nil {
					return err
				}
				return p.answer(run, func(w io.Writer) { explain(w, run, names) })
			})
		},
	}
}

// actors returns who is named by events, each once.
func actors(events []spaces.Event) []spaces.EntityID {
	seen := map[spaces.EntityID]bool{}
	var ids []spaces.EntityID
	for _, e := range events {
		if e.Actor != "" && !seen[e.Actor] {
			seen[e.Actor] = true
			ids = append(ids, e.Actor)
		}
	}
	return ids
}

// explain tells the story of a run: wake, steps, acts, receipts, end.
func explain(w io.Writer, run console.Run, names map[spaces.EntityID]spaces.Entity) {
	y := run.Cycle
	fmt.Fprintf(w, "run %s of %s in %s, woken by %s at %s\n", y.ID, y.Mind, dash(string(y.Space)), y.Wake, when(y.Started))
	for i, row := range run.Rows {
		fmt.Fprintf(w, "  shown    #%d %s %s: %s\n", row.Seq, row.Reason, speaker(run.Events[i], names), saidIn(run.Events[i].Body))
	}
	for _, s := range run.Steps {
		fmt.Fprintf(w, "  step %-3d %s, %s, %d tokens in (%d cached), %d out\n", s.N, s.Phase, dash(s.Finish), s.Usage.Prompt, s.Usage.Cached, s.Usage.Output)
		for _, e := range run.Inner {
			explainStep(w, e.Body, s.N)
		}
	}
	for _, e := range run.Inner {
		if d, ok := e.Body.(spaces.Denied); ok {
			fmt.Fprintf(w, "  denied   %s: %s (%s) %s\n", d.Denial.Act, plain(d.Denial.Reason), d.Denial.Code, plain(d.Denial.Hint))
		}
	}
	for _, a := range run.Actions {
		fmt.Fprintf(w, "  %-8s %s to %s/%s after %d attempts%s\n", a.State, a.Kind, a.Account, a.Chat, a.Attempts, because(a.Code))
	}
	stop := string(y.Stop)
	if stop == "" {
		stop = "still " + string(y.State)
	}
	fmt.Fprintf(w, "  ended    %s%s, %d tokens, %d calls, %d denials\n", stop, because(plain(y.Detail)), y.Usage.Total(), y.Usage.Calls, y.Denials)
	if y.Rest != "" {
		fmt.Fprintf(w, "  rest     %s\n", plain(y.Rest))
	}
}

// explainStep writes the acts of one step with what came of them.
func explainStep(w io.Writer, b spaces.Body, step int) {
	if act, ok := b.(spaces.Acted); ok && act.Step == step {
		fmt.Fprintf(w, "  act      %s %s\n", act.Name, plain(act.Args))
	}
	if came, ok := b.(spaces.Result); ok && came.Step == step {
		outcome := "ok"
		if !came.OK {
			outcome = "refused"
		}
		fmt.Fprintf(w, "  result   %s%s\n", outcome, because(plain(came.Note)))
	}
}

func because(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

func speaker(e spaces.Event, names map[spaces.EntityID]spaces.Entity) string {
	if known, ok := names[e.Actor]; ok && known.Name != "" {
		return plain(known.Name)
	}
	return dash(string(e.Actor))
}

// saidIn returns the words of an event, or its kind.
func saidIn(b spaces.Body) string {
	switch b := b.(type) {
	case spaces.Said:
		return strconv.Quote(b.Text)
	case spaces.Edited:
		return "edited to " + strconv.Quote(b.Text)
	case spaces.Reacted:
		return "reacted " + plain(b.Emoji)
	case spaces.Renamed:
		return "renamed to " + strconv.Quote(b.Title)
	case spaces.Failed:
		return string(b.State) + because(plain(b.Reason))
	case spaces.Gap:
		return "gap" + because(plain(b.Reason))
	case spaces.Unreadable:
		return "unreadable" + because(plain(b.Reason))
	case spaces.Deleted, spaces.Unreacted, spaces.Joined, spaces.Left, spaces.Pinned, spaces.Unpinned, spaces.Migrated,
		spaces.Linked, spaces.Unlinked, spaces.Delivered, spaces.Noted, spaces.Bookmarked, spaces.Woke, spaces.Thought,
		spaces.Acted, spaces.Result, spaces.Summed, spaces.Goal, spaces.Remembered, spaces.Forgot, spaces.Denied,
		spaces.Transitioned, spaces.Compacted, spaces.Stopped, spaces.Spanned:
		return string(b.Kind())
	}
	panic("explain: an unknown body")
}
