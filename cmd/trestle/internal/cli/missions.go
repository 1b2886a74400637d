package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/server"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/api"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/spaces"
)

// missionsCommand answers `trestle missions`.
type missionsCommand struct{ installation }

func newMissionsCommand(env *Environment) *cobra.Command {
	cmd := missionsCommand{installation{env}}
	limit := 20
	c := &cobra.Command{
		Annotations: fromAPI(), Use: "missions", Short: "list missions, newest first", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return cmd.list(c.Context(), limit) },
	}
	limitFlag(c, &limit, "how many")
	c.AddCommand(&cobra.Command{
		Annotations: fromAPI(), Use: "show ID", Short: "show one mission (its id or number): its tasks, every change of state, and what it used", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return cmd.show(c.Context(), args[0]) },
	})
	c.AddCommand(&cobra.Command{
		Annotations: fromAPI(), Use: "checkpoints ID", Short: "list how a mission stood when its plan took effect and when each task was verified, oldest first", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return cmd.checkpoints(c.Context(), args[0]) },
	})
	for _, verb := range []struct {
		name, short string
		step        spaces.MissionStepKind
	}{
		{"start", "start a mission that is proposed", spaces.MissionStart},
		{"pause", "have a mission wait; its runs end at once", spaces.MissionPause},
		{"resume", "have a paused mission go on; one whose budget is used up may use as much again", spaces.MissionResume},
		{"cancel", "end a mission for good; what was said stays", spaces.MissionCancel},
	} {
		var from string
		sub := &cobra.Command{
			Use: verb.name + " ID", Short: verb.short, Args: cobra.ExactArgs(1),
			RunE: func(c *cobra.Command, args []string) error {
				q := server.MissionRequest{ID: args[0], Step: verb.step}
				if n, ok := spaces.ParseCheckpoint(from); ok {
					q.From = n
				} else if from != "" {
					return &apperr.Error{What: fmt.Sprintf("%q is no checkpoint", from), Where: "missions resume --from", Remedy: "give the number of one, see trestle missions checkpoints " + args[0] + ", or latest", Code: apperr.Usage}
				}
				return cmd.step(c.Context(), q)
			},
		}
		if verb.step == spaces.MissionResume {
			sub.Flags().StringVar(&from, "from", "", "a checkpoint `N` to go on from, or latest; the mission may also run or have ended. What came of other tasks is superseded, and they begin once more")
		}
		c.AddCommand(sub)
	}
	return c
}

// step has the process do a step to a mission, or does it where there is none.
func (cmd missionsCommand) step(ctx context.Context, q server.MissionRequest) error {
	var m spaces.Mission
	err := cmd.change(ctx, mutation{path: "/missions", ask: q, answer: &m, alone: func(ctx context.Context, s *sqlstore.Store) (err error) {
		m, err = server.StepMission(ctx, s, q.ID, spaces.MissionStep{Kind: q.Step, From: q.From})
		return server.MissionError(err, q.ID)
	}})
	if err != nil {
		return err
	}
	return cmd.answer(m, func(w io.Writer) { fmt.Fprintf(w, "mission %s is %s\n", m.Number(), m.State) })
}

func (cmd missionsCommand) list(ctx context.Context, limit int) error {
	var a api.MissionsAnswer
	if err := cmd.ask(ctx, "/api/missions", url.Values{"limit": {strconv.Itoa(limit)}}, &a); err != nil {
		return err
	}
	name, err := cmd.spaceNames(ctx)
	if err != nil {
		return err
	}
	return answerRows(cmd.Environment, a.Missions, func(w io.Writer) {
		if len(a.Missions) == 0 {
			fmt.Fprintln(w, "no mission")
			return
		}
		lines := [][]string{{"NUMBER", "BEGAN", "STATE", "WHY", "SPACE", "LED BY", "TASKS", "GOAL"}}
		for i := range a.Missions {
			m := &a.Missions[i]
			lines = append(lines, []string{
				m.Number(), textout.FormatTime(m.Created), string(m.State), textout.OrDash(string(m.Stop)), name(m.Space), m.Name(m.Coordinator), fmt.Sprintf("%d of %d", m.Verified(), len(m.Tasks)), m.Goal,
			})
		}
		textout.WriteTable(w, lines)
	})
}

func (cmd missionsCommand) checkpoints(ctx context.Context, id string) error {
	var a api.CheckpointsAnswer
	if err := cmd.ask(ctx, "/api/missions/"+url.PathEscape(id)+"/checkpoints", nil, &a); err != nil {
		return nothing(err, fmt.Sprintf("there is no mission %q", id), "missions checkpoints", "see trestle missions")
	}
	return answerRows(cmd.Environment, a.Checkpoints, func(w io.Writer) {
		if len(a.Checkpoints) == 0 {
			fmt.Fprintln(w, "no checkpoint: the mission has not begun")
			return
		}
		lines := [][]string{{"N", "AT", "WHEN", "DONE", "TOKENS", "NOW"}}
		for i := range a.Checkpoints {
			c := &a.Checkpoints[i]
			when, now := "the plan took effect", "counts"
			if c.Task > 0 {
				when = fmt.Sprintf("task %d was verified", c.Task)
			}
			if c.Left {
				now = "superseded"
			}
			lines = append(lines, []string{strconv.Itoa(c.N), textout.FormatTime(c.At), when, fmt.Sprintf("%d of %d", c.Done(), len(c.Tasks)), strconv.Itoa(c.Tokens), now})
		}
		textout.WriteTable(w, lines)
	})
}

func (cmd missionsCommand) show(ctx context.Context, id string) error {
	var m console.MissionRecord
	if err := cmd.ask(ctx, "/api/missions/"+url.PathEscape(id), nil, &m); err != nil {
		return nothing(err, fmt.Sprintf("there is no mission %q", id), "missions show", "see trestle missions")
	}
	name, err := cmd.spaceNames(ctx)
	if err != nil {
		return err
	}
	return cmd.answer(m, func(w io.Writer) { printMission(w, &m, name(m.Mission.Space)) })
}

func printMission(w io.Writer, m *console.MissionRecord, space string) {
	mission := &m.Mission
	fmt.Fprintf(w, "mission %s: %s\n", mission.Number(), mission.Goal)
	fmt.Fprintf(w, "  id       %s\n  in       %s, led by %s, asked for by %s\n", mission.ID, space, mission.Name(mission.Coordinator), textout.OrDash(string(mission.Owner)))
	fmt.Fprintf(w, "  state    %s", mission.State)
	if mission.Stop != "" {
		fmt.Fprintf(w, ", %s", mission.Stop)
	}
	if mission.Detail != "" {
		fmt.Fprintf(w, ": %s", mission.Detail)
	}
	fmt.Fprintln(w)
	line, _ := m.Used()
	fmt.Fprintf(w, "  used     %s, %d runs\n\n", line, m.Runs)
	lines := [][]string{{"TASK", "STATE", "AGENT", "AFTER", "TITLE", "WHY"}}
	for i := range mission.Tasks {
		t := &mission.Tasks[i]
		lines = append(lines, []string{strconv.Itoa(t.N), string(t.State), mission.Name(t.Agent), textout.OrDash(spaces.TaskNumbers(t.After)), t.Title, textout.OrDash(cmp.Or(t.Why, string(t.Stop)))})
	}
	textout.WriteTable(w, lines)
	fmt.Fprintln(w)
	lines = [][]string{{"N", "AT", "TASK", "FROM", "TO", "AGENT", "BY", "WHY"}}
	for _, v := range m.Changes {
		task, by := "-", "the program"
		if v.Task > 0 {
			task = strconv.Itoa(v.Task)
		}
		if v.By != "" {
			by = string(v.By)
		}
		lines = append(lines, []string{strconv.Itoa(v.N), textout.FormatTime(v.At), task, textout.OrDash(v.From), v.To, textout.OrDash(string(v.Agent)), by, textout.OrDash(cmp.Or(v.Why, string(v.Stop)))})
	}
	textout.WriteTable(w, lines)
}
