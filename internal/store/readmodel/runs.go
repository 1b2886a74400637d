package readmodel

import (
	"context"
	"fmt"
	"math"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	foundColumns engine.QueryText = ` and ($3 = '' or space = $3) and ($4 = '' or agent = $4) and ($5 = '' or stop = $5) and started >= $6
  and (started < $1 or started = $1 and id < $2) order by started desc, id desc limit $7 + 0`
)

// Runs are listed from their newest end. What a list is narrowed to most
// decides along which index it goes; the rest is looked at row by row.
const (
	foundCycles engine.QueryText = `select ` + tables.CycleColumns + ` from cycles where started <= $1` + foundColumns
	foundIn     engine.QueryText = `select ` + tables.CycleColumns + ` from cycles where space = $3 and started <= $1` + foundColumns
	foundStops  engine.QueryText = `select ` + tables.CycleColumns + ` from cycles where stop is not null and stop = $5 and started <= $1` + foundColumns
	foundOf     engine.QueryText = `select ` + tables.CycleColumns + ` from cycles where agent = $4 and circle = $8 and started <= $1` + foundColumns
	foundRated  engine.QueryText = `select ` + tables.CycleColumns + ` from cycles where started <= $1
  and id in (select cycle from feedback where who <> '' and rating = $8) and ($9 = '' or circle = $9)` + foundColumns
	cycleBegan engine.QueryText = `select started from cycles where id = $1`
)

// Runs implements [console.Store].
func (c ReadModel) Runs(ctx context.Context, f console.Filter) ([]console.ListedRun, error) {
	if f.Limit <= 0 {
		f.Limit = 100
	}
	began := int64(math.MaxInt64)
	if f.Before != "" {
		known, err := engine.ScanRow(ctx, c.engine, cycleBegan, []any{string(f.Before)}, &began)
		if err == nil && !known {
			err = console.ErrUnknown
		}
		if err != nil {
			return nil, fmt.Errorf("list runs before %s: %w", f.Before, err)
		}
	}
	q := foundCycles
	switch {
	case f.Stop != "" && f.Stop != spaces.StopCompleted && f.Stop != spaces.StopSilent: // they are seldom
		q = foundStops
	case f.Space != "":
		q = foundIn
	}
	args := []any{began, string(f.Before), string(f.Space), string(f.Agent), string(f.Stop), engine.ToMillis(f.Since), f.Limit}
	switch {
	case f.Rating != "":
		q, args = foundRated, append(args, string(f.Rating), string(f.Circle))
	case f.Circle != "":
		q, args = foundOf, append(args, string(f.Circle))
	}
	var found []console.ListedRun
	err := c.engine.View(ctx, func(ctx context.Context, src engine.QueryReader) (err error) {
		found, err = engine.AllRows(ctx, src, q, args, func(r engine.ResultRow) (l console.ListedRun, err error) {
			l.Cycle, err = tables.ScanCycle(r)
			return l, err
		})
		if err == nil && f.Words {
			err = addWords(ctx, src, found)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	return found, nil
}

// wakingMessage !The message with the reason of the run woke it; where none has it, the newest did.
const wakingMessage engine.QueryText = `select ` + tables.EventColumns + ` from inbox i
join events e on e.space = i.space and e.branch = 'main' and e.seq = i.seq
where i.cycle = $1 and i.cycle <> '' and e.kind = 'said' order by case when i.reason = $2 then 0 else 1 end, i.seq desc limit 1`

// addWords adds to runs who asked, and the words of both, as they may be shown: what was deleted
// in a space is read once for it, and what a mind must not show once for the mind.
func addWords(ctx context.Context, src engine.QueryReader, runs []console.ListedRun) error {
	asked, first := make([]*spaces.Event, len(runs)), map[spaces.SpaceID]int64{}
	hidden, deleted := map[spaces.Mind]tables.Redactor{}, map[spaces.SpaceID]tables.SupersededMessages{}
	for i := range runs {
		y := &runs[i]
		e, err := engine.FirstRow(ctx, src, wakingMessage, []any{string(y.ID), y.Wake}, tables.ScanEvent)
		if err != nil {
			return err
		}
		if asked[i] = e; e != nil && (first[e.Space] == 0 || e.Seq < first[e.Space]) {
			first[e.Space] = e.Seq
		}
		if _, known := hidden[y.Mind]; known {
			continue
		}
		if hidden[y.Mind], err = tables.LoadRedactor(ctx, src, y.Mind); err != nil {
			return err
		}
	}
	for space, seq := range first {
		var err error
		if deleted[space], err = tables.DeletedSince(ctx, src, space, seq); err != nil {
			return err
		}
	}
	for i := range runs {
		y, gone := &runs[i], hidden[runs[i].Mind]
		if e := asked[i]; e != nil {
			shown := gone.Redact(deleted[e.Space].Redact([]spaces.Event{*e}))
			y.Asker, y.Asked = e.Actor, tables.TextOfBody(shown[0].Body)
		}
		actions, err := engine.AllRows(ctx, src, cycleActions, []any{string(y.ID)}, tables.ScanAction)
		if err != nil {
			return err
		}
		for _, o := range actions {
			if o.Kind != spaces.ActSend {
				continue
			}
			if y.Sends++; y.Sends > 1 {
				continue
			}
			if y.Answer = gone.Words.Text(o.Text); gone.Messages[o.Event] || deleted[o.Space][o.Event] {
				y.Answer = "[deleted]"
			}
		}
	}
	return nil
}

const (
	oneStep     engine.QueryText = `select ` + tables.StepColumns + ` from steps where cycle = $1 and n = $2`
	oneKeyframe engine.QueryText = `select ` + tables.KeyframeColumns + ` from keyframes where agent = $1 and circle = $2 and n = $3`
	closedTurns engine.QueryText = `select y.n, t.cycle, t.n, t.body from cycles y join turns t on t.cycle = y.id
where y.agent = $1 and y.circle = $2 and y.n is not null and y.n > $3 and y.n <= $4 order by y.n, t.n`
	frameBefore engine.QueryText = `select s.cycle, s.n from steps s join cycles y on y.id = s.cycle where s.state = 'done'
  and (s.cycle = $1 and s.n < $2 or s.cycle = (select p.id from cycles p where p.agent = $3 and p.circle = $4
    and (p.started < $5 or p.started = $5 and p.id < $1) order by p.started desc, p.id desc limit 1))
order by s.cycle = $1 desc, s.n desc limit 1`
	frameAfter engine.QueryText = `select s.cycle, s.n from steps s join cycles y on y.id = s.cycle where s.state = 'done'
  and (s.cycle = $1 and s.n > $2 or s.cycle = (select p.id from cycles p where p.agent = $3 and p.circle = $4
    and (p.started > $5 or p.started = $5 and p.id > $1) order by p.started, p.id limit 1))
order by s.cycle = $1 desc, s.n limit 1`
)

// Frame implements [console.Store]. The messages are put together from what
// the record kept of them, as [hud.View.Frame] did.
func (c ReadModel) Frame(ctx context.Context, run spaces.CycleID, step int) (console.Frame, error) {
	var f console.Frame
	err := c.engine.View(ctx, func(ctx context.Context, src engine.QueryReader) error {
		cycle, err := engine.FirstRow(ctx, src, tables.SelectCycle, []any{string(run)}, tables.ScanCycle)
		if err != nil {
			return err
		}
		shown, err := engine.FirstRow(ctx, src, oneStep, []any{string(run), step}, tables.ScanStep)
		if err != nil {
			return err
		}
		if cycle == nil || shown == nil {
			return console.ErrUnknown
		}
		f.Run, f.Step = *cycle, *shown
		if err := findNeighbours(ctx, src, &f); err != nil {
			return err
		}
		return rebuildFrame(ctx, src, &f)
	})
	if err != nil {
		return console.Frame{}, fmt.Errorf("read frame %d of %s: %w", step, run, err)
	}
	return f, nil
}

func findNeighbours(ctx context.Context, src engine.QueryReader, f *console.Frame) error {
	y := f.Run
	args := []any{string(y.ID), f.Step.N, string(y.Mind.Agent), string(y.Mind.Circle), engine.ToMillis(y.Started)}
	if _, err := engine.ScanRow(ctx, src, frameBefore, args, &f.Before.Run, &f.Before.Step); err != nil {
		return err
	}
	_, err := engine.ScanRow(ctx, src, frameAfter, args, &f.After.Run, &f.After.Step)
	return err
}

// rebuildFrame puts the messages of a frame together.
func rebuildFrame(ctx context.Context, src engine.QueryReader, f *console.Frame) (err error) {
	made := f.Step.Shown
	if made == nil {
		return nil
	}
	add := func(part string, t spaces.TranscriptTurn) {
		f.Messages = append(f.Messages, console.Message{Part: part, TranscriptTurn: t})
	}
	add("system", spaces.TranscriptTurn{Role: spaces.RoleSystem, Text: made.System})
	y := f.Run
	mind := []any{string(y.Mind.Agent), string(y.Mind.Circle)}
	if made.Keyframe > 0 {
		if f.Keyframe, err = engine.FirstRow(ctx, src, oneKeyframe, append(mind, made.Keyframe), tables.ScanKeyframe); err != nil {
			return err
		}
	}
	for _, t := range made.Whole {
		add("log", t)
	}
	if made.Whole == nil {
		if err := addTurns(ctx, src, f, mind); err != nil {
			return err
		}
		add("tail", spaces.TranscriptTurn{Role: spaces.RoleUser, Text: made.Tail})
	}
	f.Exact = hud.Hash(promptOf(f.Messages)) == f.Step.Request
	return nil
}

// addTurns adds the keyframe, the closed cycles behind it, and the turns of the
// frame's own cycle.
func addTurns(ctx context.Context, src engine.QueryReader, f *console.Frame, mind []any) error {
	var upto int64
	if k := f.Keyframe; k != nil {
		upto = k.Upto
		if k.Text != "" {
			f.Messages = append(f.Messages, console.Message{Part: "keyframe", TranscriptTurn: spaces.TranscriptTurn{Role: spaces.RoleUser, Text: k.Text}})
		}
	}
	earlier, err := engine.AllRows(ctx, src, closedTurns, append(mind, upto, f.Run.Base), func(r engine.ResultRow) (m console.Message, err error) {
		m.Part = "log"
		m.TranscriptTurn, err = tables.ScanTurn(numbered{r, &m.N})
		m.Run = m.Cycle
		return m, err
	})
	if err != nil {
		return err
	}
	f.Messages = append(f.Messages, earlier...)
	own, err := tables.TurnsOfCycle(ctx, src, f.Run.ID)
	if err != nil {
		return err
	}
	for _, t := range own[:min(f.Step.Shown.Turns, len(own))] {
		f.Messages = append(f.Messages, console.Message{Part: "cycle", Run: f.Run.ID, N: f.Run.N, TranscriptTurn: t})
	}
	return nil
}

// numbered is a row with a number before what is scanned from it.
type numbered struct {
	engine.ResultRow
	n *int64
}

// Scan implements row.
func (r numbered) Scan(dest ...any) error { return r.ResultRow.Scan(append([]any{r.n}, dest...)...) }

func promptOf(ms []console.Message) []hud.FrameMessage {
	out := make([]hud.FrameMessage, len(ms))
	for i, m := range ms {
		out[i] = hud.FrameMessage{Role: m.Role, Text: m.Text, Calls: m.Calls, CallID: m.CallID}
	}
	return out
}

const (
	allSteps  engine.QueryText = `select ` + tables.StepColumns + ` from steps where cycle = $1 order by n`
	runsWaits engine.QueryText = `select ` + tables.WaitColumns + ` from waits w where w.cycle = $1 or (w.woke = $1 and w.woke <> '') order by w.started, w.cycle`
)
