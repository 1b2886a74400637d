package tables

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	// CycleColumns lists the columns that CycleFields scans.
	CycleColumns engine.QueryText = `id, agent, circle, space, epoch, state, wake, active, upto, base, coalesce(n, 0), coalesce(stop, ''), detail, rest,
  prompt, cached, output, estimated, calls, cost, denials, manifest, prompts, plan, started, ended, authority`
	// SelectCycle selects a cycle by its id.
	SelectCycle engine.QueryText = `select ` + CycleColumns + ` from cycles where id = $1`
	// StepColumns lists the columns that ScanStep scans.
	StepColumns engine.QueryText = `cycle, n, phase, state, request, finish, prompt, cached, output, estimated, calls, cost, at, frame, shown,
  coalesce((select y.text from systems y where y.hash = steps.system), ''), model`
	cycleTurns engine.QueryText = `select cycle, n, body from turns where cycle = $1 order by n`
	// KeyframeColumns lists the columns that ScanKeyframe scans.
	KeyframeColumns engine.QueryText = `agent, circle, n, refs, tokens, upto, cause, at, body, plan`
	// NewestKeyframe selects the newest keyframe of a mind.
	NewestKeyframe engine.QueryText = `select ` + KeyframeColumns + ` from keyframes where agent = $1 and circle = $2 order by n desc limit 1`
	// SummaryColumns lists the columns that ScanSummary scans.
	SummaryColumns engine.QueryText = `agent, circle, first, last, body, sources, readers, model, at`
	// SummariesOfMind selects the cycle summaries of a mind, oldest first.
	SummariesOfMind engine.QueryText = `select ` + SummaryColumns + ` from digests where agent = $1 and circle = $2 order by first`
)

// CycleFields returns the scan destinations for CycleColumns.
func CycleFields(y *spaces.Cycle) []any {
	return []any{
		&y.ID, &y.Mind.Agent, &y.Mind.Circle, &y.Space, &y.Epoch, &y.State, &y.Wake, &y.Active, &y.Upto, &y.Base, &y.N,
		&y.Stop, &y.Detail, &y.Rest, &y.Usage.Prompt, &y.Usage.Cached, &y.Usage.Output, &y.Usage.Estimated, &y.Usage.Calls, &y.Usage.Cost,
		&y.Denials, &y.Manifest, &y.Prompts, &y.Plan,
		engine.ScanTime(&y.Started),
		engine.ScanTime(&y.Ended),
		&y.Authority,
	}
}

// ScanCycle scans the columns CycleColumns.
func ScanCycle(r engine.ResultRow) (y spaces.Cycle, err error) { return y, r.Scan(CycleFields(&y)...) }

// ScanStep scans the columns StepColumns.
func ScanStep(r engine.ResultRow) (s spaces.Step, err error) {
	var shown []byte
	var system string
	err = r.Scan(&s.Cycle, &s.N, &s.Phase, &s.State, &s.Request, &s.Finish, &s.Usage.Prompt, &s.Usage.Cached,
		&s.Usage.Output, &s.Usage.Estimated, &s.Usage.Calls, &s.Usage.Cost, engine.ScanTime(&s.At), &s.Frame, &shown, &system, &s.Model)
	if err != nil || shown == nil {
		s.Expired = system != ""
		return s, err
	}
	made, err := DecodeFrame(shown)
	if err != nil {
		return s, fmt.Errorf("read frame of step %d of %s: %w", s.N, s.Cycle, err)
	}
	made.System = system
	s.Shown = &made
	return s, nil
}

// DecodeFrame decodes the sources of a frame, without its system text.
func DecodeFrame(stored []byte) (made spaces.FrameSources, err error) {
	return made, json.Unmarshal(stored, &made)
}

// TurnsOfCycle returns the turns of a cycle in order.
func TurnsOfCycle(ctx context.Context, src engine.QueryReader, id spaces.CycleID) ([]spaces.TranscriptTurn, error) {
	return engine.AllRows(ctx, src, cycleTurns, []any{string(id)}, ScanTurn)
}

// ScanTurn scans the cycle, the number and the body of a turn.
func ScanTurn(r engine.ResultRow) (t spaces.TranscriptTurn, err error) {
	var body []byte
	var cycle spaces.CycleID
	var n int
	if err := r.Scan(&cycle, &n, &body); err != nil {
		return t, err
	}
	if err := json.Unmarshal(body, &t); err != nil {
		return t, fmt.Errorf("read turn %d of %s: %w", n, cycle, err)
	}
	t.Cycle, t.N = cycle, n
	return t, nil
}

// ScanKeyframe scans the columns KeyframeColumns.
func ScanKeyframe(r engine.ResultRow) (k spaces.Keyframe, err error) {
	var body []byte
	err = r.Scan(&k.Mind.Agent, &k.Mind.Circle, &k.N, engine.ScanList(&k.Refs), &k.Tokens, &k.Upto, &k.Cause, engine.ScanTime(&k.At), &body, &k.Plan)
	k.Text = string(body)
	return k, err
}

// ScanSummary scans the columns SummaryColumns.
func ScanSummary(r engine.ResultRow) (d spaces.CycleSummary, err error) {
	return d, r.Scan(&d.Mind.Agent, &d.Mind.Circle, &d.First, &d.Last, &d.Text, engine.ScanList(&d.Sources),
		engine.ScanList(&d.Readers), &d.Model, engine.ScanTime(&d.At))
}
