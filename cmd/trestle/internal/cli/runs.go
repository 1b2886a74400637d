package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/api"
	"github.com/trestle-bridge/trestle/spaces"
)

// runsCommand answers `trestle runs`.
type runsCommand struct{ installation }

func newRunsCommand(env *Environment) *cobra.Command {
	cmd := runsCommand{installation{env}}
	var by apiFilter
	var stop, rated string
	c := &cobra.Command{
		Annotations: fromAPI(), Use: "runs", Short: "list what the agents did, newest first", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := chooseStop(c, stop); err != nil {
				return err
			}
			if err := choose(c, rated, "no message is rated", spaces.AnswerRatings()); err != nil {
				return err
			}
			q, err := by.query(c.Context(), cmd.installation)
			if err != nil {
				return err
			}
			q.Set("stop", stop)
			q.Set("feedback", rated)
			return cmd.runs(c.Context(), q)
		},
	}
	by.flags(c)
	by.spaceFlag(c)
	by.agentFlag(c)
	c.Flags().StringVar(&stop, "stop", "", "only those that ended so: completed, silent, budget_exhausted, …")
	c.Flags().StringVar(&rated, "feedback", "", "only those with a message that a person rated so: good, bad")
	c.AddCommand(&cobra.Command{
		Annotations: fromAPI(), Use: "show RUN", Short: "show the figures of one run; explain tells its story", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			a, err := cmd.readRun(c.Context(), args[0])
			if err != nil {
				return err
			}
			return cmd.answer(a, func(w io.Writer) { printRun(w, a) })
		},
	})
	return c
}

func (cmd runsCommand) runs(ctx context.Context, q url.Values) error {
	var a struct {
		Runs []api.RunRow `json:"runs"`
	}
	if err := cmd.ask(ctx, "/api/runs", q, &a); err != nil {
		return err
	}
	called, err := cmd.spaceNames(ctx)
	if err != nil {
		return err
	}
	return answerRows(cmd.Environment, a.Runs, func(w io.Writer) { printRuns(w, a.Runs, called) })
}

// printRun writes the figures of a run.
func printRun(w io.Writer, a api.RunAnswer) {
	budget := "no limit"
	if a.Budget > 0 {
		budget = strconv.Itoa(a.Budget)
	}
	textout.WriteTable(w, [][]string{
		{"run", string(a.Run)},
		{"mind", a.Mind},
		{"space", textout.OrDash(string(a.Space))},
		{"woken by", a.Wake},
		{"stop", stopOf(a.RunRow) + console.Because(a.Detail)},
		{"started", textout.FormatTime(a.Started)},
		{"ended", textout.FormatTime(a.Ended)},
		{"seconds", strconv.FormatFloat(a.Seconds, 'f', 2, 64)},
		{"calls", strconv.Itoa(a.Calls)},
		{"tokens", fmt.Sprintf("%d: %d in, of which %d cached; %d out; budget %s", a.Tokens, a.Usage.Prompt, a.Usage.Cached, a.Usage.Output, budget)},
		{"cost", costOf(a)},
		{"denials", strconv.Itoa(len(a.Denials))},
		{"sent", strconv.Itoa(len(a.Deliveries))},
		{"tools", textout.OrDash(a.Manifest)},
		{"rest", textout.OrDash(a.Rest)},
	})
}

func printRuns(w io.Writer, rows []api.RunRow, called func(spaces.SpaceID) string) {
	if len(rows) == 0 {
		fmt.Fprintln(w, "no run")
		return
	}
	lines := [][]string{{"RUN", "MIND", "SPACE", "WAKE", "STOP", "CALLS", "TOKENS", "DENIALS", "STARTED", "SECONDS"}}
	for _, r := range rows {
		lines = append(lines, []string{
			string(r.Run), r.Mind, called(r.Space), r.Wake, cmp.Or(string(r.Stop), string(r.State)), strconv.Itoa(r.Calls), strconv.Itoa(r.Tokens),
			strconv.Itoa(r.Denials), textout.FormatTime(r.Started), strconv.FormatFloat(r.Seconds, 'f', 2, 64),
		})
	}
	textout.WriteTable(w, lines)
}

// saidIn returns the words of an event, or its kind.
func saidIn(b spaces.EventBody) string {
	switch b := b.(type) {
	case spaces.MessagePosted:
		return strconv.Quote(b.Text)
	case spaces.MessageEdited:
		return "edited to " + strconv.Quote(b.Text)
	case spaces.VoiceTranscribed:
		return "heard " + strconv.Quote(b.Text)
	case spaces.ReactionAdded:
		return "reacted " + b.Emoji
	case spaces.SpaceRenamed:
		return "renamed to " + strconv.Quote(b.Title)
	case spaces.SendFailed:
		return string(b.State) + console.Because(b.Reason)
	case spaces.HistoryGap:
		return "gap" + console.Because(b.Reason)
	case spaces.UnreadableUpdate:
		return "unreadable" + console.Because(b.Reason)
	case spaces.MessageDeleted, spaces.ReactionRemoved, spaces.MemberJoined, spaces.MemberLeft, spaces.MessagePinned, spaces.MessageUnpinned, spaces.ChatMigrated,
		spaces.ChatLinked, spaces.ChatUnlinked, spaces.ActionDelivered, spaces.NoteAdded, spaces.BookmarkSet, spaces.CycleStarted, spaces.ThoughtRecorded,
		spaces.ToolCalled, spaces.ToolReturned, spaces.CycleSummarised, spaces.GoalSet, spaces.MemoryAdded, spaces.MemoryRemoved, spaces.CallDenied,
		spaces.StatesChanged, spaces.ContextCompacted, spaces.CycleStopped, spaces.SpanChanged:
		return string(b.Kind())
	}
	panic("explain: an unknown body")
}
