package tables

import (
	"context"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	// ToolRunColumns lists the columns that ScanToolRun scans.
	ToolRunColumns engine.QueryText = `id, cycle, step, call, agent, circle, space, thread, asker, tool, server, args, risk, repeats, state, code, approvers, expires,
  decided_by, holder, until, attempts, proposed, started, ended, result, detail, readers, parked, shown, input`
	toolRunByID engine.QueryText = `select ` + ToolRunColumns + ` from tool_runs where id = $1`
	// ToolRunsOfCycle selects the tool runs of a cycle, in the order of their calls.
	ToolRunsOfCycle engine.QueryText = `select ` + ToolRunColumns + ` from tool_runs where cycle = $1 order by step, proposed, id`
)

// ScanToolRun scans the columns ToolRunColumns.
func ScanToolRun(r engine.ResultRow) (run spaces.ToolRun, err error) {
	var input []spaces.ToolInput
	err = r.Scan(&run.ID, &run.Cycle, &run.Step, &run.Call, &run.Mind.Agent, &run.Mind.Circle, &run.Space, &run.Thread, &run.Asker, &run.Tool, &run.Server,
		&run.Args, &run.Risk, &run.Repeats, &run.State, &run.Code, engine.ScanList(&run.Approvers), engine.ScanTime(&run.Expires),
		&run.DecidedBy, &run.Holder, engine.ScanTime(&run.Until), &run.Attempt, engine.ScanTime(&run.Proposed), engine.ScanTime(&run.Started), engine.ScanTime(&run.Ended),
		&run.Result, &run.Detail, engine.ScanList(&run.Readers), &run.Parked, &run.Shown, engine.ScanList(&input))
	if len(input) > 0 {
		run.Input = input[0]
	}
	return run, err
}

// ToolRunByID returns a tool run; nil if there is none.
func ToolRunByID(ctx context.Context, src engine.QueryReader, id string) (*spaces.ToolRun, error) {
	return engine.FirstRow(ctx, src, toolRunByID, []any{id}, ScanToolRun)
}
