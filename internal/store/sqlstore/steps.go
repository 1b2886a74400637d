package sqlstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	storeStep engine.QueryText = `insert into steps (cycle, n, phase, state, request, finish, prompt, cached, output, estimated, calls, cost, at, frame, shown, refs, system, model)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
on conflict (cycle, n) do update set phase = excluded.phase, state = excluded.state, request = excluded.request,
  finish = excluded.finish, prompt = excluded.prompt, cached = excluded.cached, output = excluded.output,
  estimated = excluded.estimated, calls = excluded.calls, cost = excluded.cost, at = excluded.at, frame = excluded.frame,
  shown = excluded.shown, refs = excluded.refs, system = excluded.system, model = excluded.model`
	doneSteps engine.QueryText = `select ` + tables.StepColumns + ` from steps where cycle = $1 and state = 'done' order by n`

	dropSteps  engine.QueryText = `update steps set state = 'unknown' where cycle = $1 and state = 'started'`
	insertTurn engine.QueryText = `insert into turns (cycle, n, refs, tokens, body) values ($1, $2, $3, 0, $4)`
)

// startStep stores that a step has begun.
func (t *writeTx) startStep(ctx context.Context, id spaces.CycleID, n int, phase spaces.Phase, at time.Time) error {
	return t.Add(ctx, stepRows, string(id), n, string(phase), "started", "", "", 0, 0, 0, 0, 0, int64(0), engine.ToMillis(at), nil, nil, "[]", "", "")
}

// A cycleTx numbers and abandons cycles.
type cycleTx struct {
	*writeTx
	branch *branchTx
	inner  *innerTx
	outbox *outboxTx
}

const (
	// insertSystem !A system text is stored once for all frames with it.
	insertSystem engine.QueryText = `insert into systems (hash, text) values ($1, $2) on conflict (hash) do nothing`
	shownSteps   engine.QueryText = `select n, shown from steps where cycle = $1 and shown is not null order by n`
	// redactShown redacts the cycles and keyframes that were shown an event, if there
	// are any, and returns where the words may be repeated.
	redactShown engine.QueryText = `update steps set shown = $3 where cycle = $1 and n = $2`
)

// frameColumns returns the columns of a step's frame: its sources, the events that it
// shows beside its keyframe and turns, and the hash of its system text.
func (k *stepTx) frameColumns(ctx context.Context, f *spaces.FrameSources) ([]any, error) {
	if f == nil {
		return []any{nil, "[]", ""}, nil
	}
	hash, known := k.cache.systems[f.System]
	if !known {
		sum := sha256.Sum256([]byte(f.System))
		hash = hex.EncodeToString(sum[:16])
		if err := k.Run(ctx, insertSystem, hash, f.System); err != nil {
			return nil, fmt.Errorf("store system text: %w", err)
		}
		k.cache.systems[f.System] = hash
	}
	return []any{k.stored.shown, engine.EncodeList(f.Refs), hash}, nil
}

// redactFrames redacts the stored frames of a cycle.
func (t *frameTx) redactFrames(ctx context.Context, id spaces.CycleID, redact func(string) string) error {
	frames, err := engine.AllRows(ctx, t, shownSteps, []any{string(id)}, scanShown)
	if err != nil {
		return err
	}
	for _, f := range frames {
		changed := redactText(&f.shown.Tail, redact)
		for i := range f.shown.Whole {
			changed = redactTurnText(&f.shown.Whole[i], redact) || changed
		}
		if !changed {
			continue
		}
		body, err := json.Marshal(f.shown)
		if err != nil {
			return err
		}
		if err := t.Run(ctx, redactShown, string(id), f.n, body); err != nil {
			return err
		}
	}
	return nil
}

// A shownStep is the stored frame of a step.
type shownStep struct {
	n     int
	shown spaces.FrameSources
}

func scanShown(r engine.ResultRow) (f shownStep, err error) {
	var body []byte
	if err = r.Scan(&f.n, &body); err != nil {
		return f, err
	}
	if f.shown, err = tables.DecodeFrame(body); err != nil {
		return f, fmt.Errorf("read frame of step %d: %w", f.n, err)
	}
	return f, nil
}

// redactTurnText redacts a turn and reports whether anything changed.
func redactTurnText(t *spaces.TranscriptTurn, redact func(string) string) (changed bool) {
	changed = redactText(&t.Text, redact)
	for i := range t.Calls {
		changed = redactText(&t.Calls[i].Args, redact) || changed
	}
	return changed
}

func redactText(text *string, redact func(string) string) (changed bool) {
	was := *text
	*text = redact(was)
	return *text != was
}

const (
	// noteOffered !A manifest without a body gets one when it is offered again.
	noteOffered engine.QueryText = `insert into manifests (hash, first_used, last_used, body) values ($1, $2, $2, $3)
on conflict (hash) do update set body = coalesce(manifests.body, excluded.body),
  last_used = case when manifests.last_used < excluded.last_used then excluded.last_used else manifests.last_used end`
)

// noteEvery is the interval, in milliseconds, at which the use of a manifest is stored.
const noteEvery = int64(time.Hour / time.Millisecond)

// storeManifest stores the tools that the cycle was offered, with the time of first and,
// at intervals, of last use.
func (k *stepTx) storeManifest(ctx context.Context, m spaces.ToolManifest) error {
	now := engine.ToMillis(k.commit.At)
	if noted, known := k.cache.manifests[m.Hash]; m.Hash == "" || known && now < noted+noteEvery {
		return nil
	}
	var body any
	if m.Acts != nil {
		text, err := json.Marshal(m.Acts)
		if err != nil {
			return fmt.Errorf("encode tools: %w", err)
		}
		body = text
	}
	if err := k.Run(ctx, noteOffered, m.Hash, now, body); err != nil {
		return fmt.Errorf("store tools %s: %w", m.Hash, err)
	}
	k.cache.manifests[m.Hash] = now
	return nil
}

const (
	insertDenial engine.QueryText = `insert into denials (agent, circle, act, code, reason, hint, space, cycle, phase, tier, risk, at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`
)

func (t *cycleTx) storeDenial(ctx context.Context, m spaces.Mind, d spaces.Denial) error {
	err := t.Run(ctx, insertDenial, string(d.Agent), string(m.Circle), d.Act, d.Code, d.Reason, d.Hint, string(d.Space), string(d.Cycle),
		d.Phase, string(d.Tier), string(d.Risk), engine.ToMillis(d.At))
	if err != nil {
		return fmt.Errorf("store denial of %s: %w", d.Act, err)
	}
	return nil
}
