package terminal

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/readmodel"
	"github.com/trestle-bridge/trestle/spaces"
)

// ChatOptions are the choices of a person who talks in a terminal.
type ChatOptions struct {
	Room string // key of the space; empty is the first
	As   string // the name to speak under; empty is the operator
	Show []string
}

// What a chat can show under an answer.
const (
	showHUD   = "hud"   // what the frame was made of
	showSteps = "steps" // what was decided in it
)

// Check refuses what cannot be shown.
func (c ChatOptions) Check() error {
	for _, what := range c.Show {
		if what != showHUD && what != showSteps {
			return &apperr.Error{What: fmt.Sprintf("chat cannot show %q", what), Where: "--show", Remedy: "write --show hud, --show steps or --show hud,steps", Code: apperr.Usage}
		}
	}
	return nil
}

// TraceView shows how the answers in a room came about, run by run.
type TraceView struct {
	record interface {
		Runs(ctx context.Context, f console.Filter) ([]console.ListedRun, error)
		Run(ctx context.Context, id string) (console.Run, error)
	}
	space spaces.SpaceID
	since time.Time
	show  []string
	told  map[spaces.CycleID]bool
}

// NewTraceView returns what tells of runs in a room of the terminal from now on; nil
// when there is no such room.
func NewTraceView(ctx context.Context, r readmodel.ReadModel, account, room string, show []string) (*TraceView, error) {
	rooms, err := r.Rooms(ctx)
	if err != nil {
		return nil, err
	}
	for _, o := range rooms {
		for _, m := range o.Chats {
			if m.Account == account && m.Chat == room {
				return &TraceView{r, o.Space.ID, time.Now(), show, map[spaces.CycleID]bool{}}, nil
			}
		}
	}
	return nil, nil
}

// News returns lines about every run that has ended since the last call.
func (a *TraceView) News(ctx context.Context) ([]string, error) {
	if a == nil {
		return nil, nil
	}
	found, err := a.record.Runs(ctx, console.Filter{Space: a.space, Since: a.since, Limit: 20})
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, y := range slices.Backward(found) {
		if y.State == spaces.CycleOpen || a.told[y.ID] {
			continue
		}
		a.told[y.ID] = true
		run, err := a.record.Run(ctx, string(y.ID))
		if err != nil {
			return nil, err
		}
		lines = append(lines, a.describeRun(run)...)
	}
	return lines, nil
}

// describeRun returns what there is to show of a run.
func (a *TraceView) describeRun(run console.Run) []string {
	var lines []string
	y := run.Cycle
	if slices.Contains([]spaces.StopReason{spaces.StopModelError, spaces.StopMaxRetries, spaces.StopTimeout, spaces.StopBudget, spaces.StopCoordinator}, y.Stop) {
		lines = append(lines, "  no answer: "+textout.EscapeControls(cmp.Or(y.Detail, string(y.Stop)))+"; see trestle explain "+string(y.ID))
	}
	var plan hud.FramePlan
	if slices.Contains(a.show, showHUD) && json.Unmarshal(y.Plan, &plan) == nil {
		var areas []string
		for _, item := range plan.Items {
			areas = append(areas, fmt.Sprintf("%s %d", item.Area, item.Tokens))
		}
		lines = append(lines, fmt.Sprintf("  hud    %d of %d tokens: %s", plan.Tokens, plan.Budget, strings.Join(areas, ", ")))
	}
	if !slices.Contains(a.show, showSteps) {
		return lines
	}
	for _, s := range run.Steps {
		lines = append(lines, fmt.Sprintf("  step %d %s, %d tokens in, %d out", s.N, s.Phase, s.Usage.Prompt, s.Usage.Output))
		for _, e := range run.Inner {
			if b, ok := e.Body.(spaces.ToolCalled); ok && b.Step == s.N {
				lines = append(lines, "         "+textout.EscapeControls(b.Name+" "+b.Args))
			}
			if b, ok := e.Body.(spaces.ToolReturned); ok && b.Step == s.N && !b.OK {
				lines = append(lines, "         refused"+console.Because(textout.EscapeControls(b.Note)))
			}
		}
	}
	return append(lines, fmt.Sprintf("  ended  %s, %d tokens", y.Stop, y.Usage.Total()))
}

// followRuns writes the news as they come until ctx is done.
func (a *TraceView) followRuns(ctx context.Context, w io.Writer) {
	look := time.NewTicker(200 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		lines, err := a.News(ctx)
		if err != nil && ctx.Err() == nil {
			lines = append(lines, "  "+err.Error())
		}
		for _, l := range lines {
			fmt.Fprintln(w, l)
		}
	}
}
