package record

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/trestle-bridge/trestle/spaces"
)

const (
	// A cycle that shows the words in one turn may repeat them in the others.
	cyclesShowing query = `select y.id from cycles y where y.agent = $1 and y.circle = $2
  and (exists (select 1 from turns t where t.cycle = y.id and replace(t.refs, $3, '') <> t.refs)
    or exists (select 1 from steps s where s.cycle = y.id and replace(s.refs, $3, '') <> s.refs)) order by y.started, y.id`
	keyframesShowing query = `select ` + keyframeColumns + ` from keyframes where agent = $1 and circle = $2 and replace(refs, $3, '') <> refs order by n`
	redactTurn       query = `update turns set body = $3, tokens = $4 where cycle = $1 and n = $2`
	redactKeyframe   query = `update keyframes set body = $4, tokens = 0 where agent = $1 and circle = $2 and n = $3`
	selectRest       query = `select rest from cycles where id = $1`
	redactRest       query = `update cycles set rest = $2 where id = $1`
)

// Redact implements [shell.Journal]. What is looked for is looked for beside the
// writer; a cycle's turns are then changed in one transaction each.
func (s Shell) Redact(ctx context.Context, m spaces.Mind, e spaces.EventID, redact func(string) string) error {
	args := []any{string(m.Agent), string(m.Circle), `"` + string(e) + `"`}
	cycles, err := all(ctx, s.s.engine, cyclesShowing, args, func(r row) (id spaces.CycleID, err error) { return id, r.Scan(&id) })
	if err != nil {
		return fmt.Errorf("find turns that show %s: %w", e, err)
	}
	frames, err := all(ctx, s.s.engine, keyframesShowing, args, scanKeyframe)
	if err != nil {
		return fmt.Errorf("find keyframes that show %s: %w", e, err)
	}
	if len(cycles)+len(frames) > 0 {
		err := s.s.write(ctx, func(ctx context.Context, t *tx) error { return t.takeBack(ctx, m, e, s.s.opts.Now()) })
		if err != nil {
			return fmt.Errorf("take back %s in %s: %w", e, m, err)
		}
	}
	for _, id := range cycles {
		if err := s.s.write(ctx, func(ctx context.Context, t *tx) error { return t.redactCycle(ctx, id, redact) }); err != nil {
			return fmt.Errorf("redact cycle %s: %w", id, err)
		}
	}
	for _, k := range frames {
		text := redact(k.Text)
		if text == k.Text {
			continue
		}
		err := s.s.write(ctx, func(ctx context.Context, t *tx) error {
			return t.run(ctx, redactKeyframe, string(m.Agent), string(m.Circle), k.N, []byte(text))
		})
		if err != nil {
			return fmt.Errorf("redact keyframe %d of %s: %w", k.N, m, err)
		}
	}
	return nil
}

func (t *tx) redactCycle(ctx context.Context, id spaces.CycleID, redact func(string) string) error {
	turns, err := turnsOf(ctx, t, id)
	if err != nil {
		return err
	}
	for _, turn := range turns {
		before, err := json.Marshal(turn)
		if err != nil {
			return err
		}
		redactTurnText(&turn, redact)
		after, err := json.Marshal(turn)
		if err != nil {
			return err
		}
		if string(before) == string(after) {
			continue
		}
		turn.Tokens = 0 // nobody has counted the new rendering
		if after, err = json.Marshal(turn); err != nil {
			return err
		}
		if err := t.run(ctx, redactTurn, string(id), turn.N, after, turn.Tokens); err != nil {
			return err
		}
	}
	if err := t.redactFrames(ctx, id, redact); err != nil {
		return err
	}
	var rest string
	if _, err := one(ctx, t, selectRest, []any{string(id)}, &rest); err != nil {
		return err
	}
	if said := redact(rest); said != rest {
		return t.run(ctx, redactRest, string(id), said)
	}
	return nil
}
