package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	cycleColumns engine.Query = `id, agent, circle, space, epoch, state, wake, active, upto, base, coalesce(n, 0), coalesce(stop, ''), detail, rest,
  prompt, cached, output, estimated, calls, denials, manifest, plan, started, ended, authority`
	selectCycle engine.Query = `select ` + cycleColumns + ` from cycles where id = $1`
	stepColumns engine.Query = `cycle, n, phase, state, request, finish, prompt, cached, output, estimated, calls, at, frame, shown,
  coalesce((select y.text from systems y where y.hash = steps.system), '')`
	startStep  engine.Query = `insert into steps (cycle, n, phase, state, at) values ($1, $2, $3, 'started', $4)`
	finishStep engine.Query = thisStep + overStarted
	// The next step is the newest of its cycle: it meets no other.
	finishAndStart engine.Query = thisStep + `,
  ($1, $2 + 1, 'engagement', 'started', '', '', 0, 0, 0, 0, 0, $17, null, null, '[]', '')` + overStarted
	thisStep = `insert into steps (cycle, n, phase, state, request, finish, prompt, cached, output, estimated, calls, at, frame, shown, refs, system)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`
	overStarted = `
on conflict (cycle, n) do update set phase = excluded.phase, state = excluded.state, request = excluded.request,
  finish = excluded.finish, prompt = excluded.prompt, cached = excluded.cached, output = excluded.output,
  estimated = excluded.estimated, calls = excluded.calls, at = excluded.at, frame = excluded.frame,
  shown = excluded.shown, refs = excluded.refs, system = excluded.system`
	doneSteps  engine.Query = `select ` + stepColumns + ` from steps where cycle = $1 and state = 'done' order by n`
	allSteps   engine.Query = `select ` + stepColumns + ` from steps where cycle = $1 order by n`
	dropSteps  engine.Query = `update steps set state = 'unknown' where cycle = $1 and state = 'started'`
	insertTurn engine.Query = `insert into turns (cycle, n, refs, tokens, body) values ($1, $2, $3, 0, $4)`
	twoTurns                = insertTurn + `, ($1, $5, $6, 0, $7)`
	threeTurns              = twoTurns + `, ($1, $8, $9, 0, $10)`
	cycleTurns engine.Query = `select cycle, n, body from turns where cycle = $1 order by n`
)

// insertTurns insert as many turns of a cycle as their place says. How many tokens a
// turn has stands in its body; nobody asks the column.
var insertTurns = [...]engine.Query{insertTurn, twoTurns, threeTurns}

func cycleFields(y *spaces.Cycle) []any {
	return []any{
		&y.ID, &y.Mind.Agent, &y.Mind.Circle, &y.Space, &y.Epoch, &y.State, &y.Wake, &y.Active, &y.Upto, &y.Base, &y.N,
		&y.Stop, &y.Detail, &y.Rest, &y.Usage.Prompt, &y.Usage.Cached, &y.Usage.Output, &y.Usage.Estimated, &y.Usage.Calls,
		&y.Denials, &y.Manifest, &y.Plan,
		engine.ScanTime(&y.Started),
		engine.ScanTime(&y.Ended),
		&y.Authority,
	}
}

func scanCycle(r engine.Row) (y spaces.Cycle, err error) { return y, r.Scan(cycleFields(&y)...) }

func scanStep(r engine.Row) (s spaces.Step, err error) {
	var shown []byte
	var system string
	err = r.Scan(&s.Cycle, &s.N, &s.Phase, &s.State, &s.Request, &s.Finish, &s.Usage.Prompt, &s.Usage.Cached,
		&s.Usage.Output, &s.Usage.Estimated, &s.Usage.Calls, engine.ScanTime(&s.At), &s.Frame, &shown, &system)
	if err != nil || shown == nil {
		s.Expired = system != ""
		return s, err
	}
	made, err := readShown(shown)
	if err != nil {
		return s, fmt.Errorf("read frame of step %d of %s: %w", s.N, s.Cycle, err)
	}
	made.System = system
	s.Shown = &made
	return s, nil
}

// readShown reads what a frame was made of, but for its system text.
func readShown(stored []byte) (made spaces.FrameSources, err error) {
	return made, json.Unmarshal(stored, &made)
}

// turnsOf reads the turns of a cycle in order.
func turnsOf(ctx context.Context, src engine.Reader, id spaces.CycleID) ([]spaces.TranscriptTurn, error) {
	return engine.AllRows(ctx, src, cycleTurns, []any{string(id)}, scanTurn)
}

func scanTurn(r engine.Row) (t spaces.TranscriptTurn, err error) {
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

// A cycleTx numbers and abandons cycles.
type cycleTx struct {
	*writeTx
	branch *branchTx
	inner  *innerTx
}
