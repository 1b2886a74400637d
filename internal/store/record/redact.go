package record

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/trestle-bridge/trestle/spaces"
)

const (
	// Nothing shows a message before it came, and the history before that is not looked
	// through. The clocks of two processes may be a minute apart.
	sinceItCame = `coalesce((select recv_at from events where id = $4) - 60000, 0)`
	// A cycle that shows the words in one turn may repeat them in the others.
	shows = `(y.ended = 0 or y.ended >= ` + sinceItCame + `)
  and (exists (select 1 from turns t where t.cycle = y.id and replace(t.refs, $3, '') <> t.refs)
    or exists (select 1 from steps s where s.cycle = y.id and replace(s.refs, $3, '') <> s.refs))`
	cyclesShowing    query = `select y.id, y.started from cycles y where y.agent = $1 and y.circle = $2 and ` + shows + ` order by y.started, y.id`
	mindsShown       query = `select distinct y.circle from cycles y where y.agent = $1 and y.circle <> $2 and ` + shows + ` order by y.circle`
	keyframesShowing query = `select ` + keyframeColumns + ` from keyframes
where agent = $1 and circle = $2 and at >= ` + sinceItCame + ` and replace(refs, $3, '') <> refs order by n`
	cyclesSince    query = `select y.id, y.started from cycles y where y.agent = $1 and y.circle = $2 and y.started >= $3 order by y.started, y.id`
	keyframesSince query = `select ` + keyframeColumns + ` from keyframes where agent = $1 and circle = $2 and at >= $3 order by n`
	redactTurn     query = `update turns set body = $3, tokens = $4 where cycle = $1 and n = $2`
	redactKeyframe query = `update keyframes set body = $4, tokens = 0 where agent = $1 and circle = $2 and n = $3`
	selectRest     query = `select rest from cycles where id = $1`
	redactRest     query = `update cycles set rest = $2 where id = $1`
)

// Redact implements [shell.Journal]. What is looked for is looked for beside the
// writer; a cycle's turns are then changed in one transaction each.
func (s Shell) Redact(ctx context.Context, m spaces.Mind, e spaces.EventID, shown, repeated func(string) string) error {
	args := []any{string(m.Agent), string(m.Circle), `"` + string(e) + `"`, string(e)}
	cycles, err := all(ctx, s.s.engine, cyclesShowing, args, scanBegun)
	if err != nil {
		return fmt.Errorf("find turns that show %s: %w", e, err)
	}
	frames, err := all(ctx, s.s.engine, keyframesShowing, args, scanKeyframe)
	if err != nil {
		return fmt.Errorf("find keyframes that show %s: %w", e, err)
	}
	if len(cycles)+len(frames) == 0 {
		return nil
	}
	back, err := s.ledTo(ctx, m, e)
	if err == nil {
		err = s.s.write(ctx, func(ctx context.Context, t *tx) error { return t.takeBack(ctx, m, back, s.s.opts.Now()) })
	}
	if err != nil {
		return fmt.Errorf("take back %s in %s: %w", e, m, err)
	}
	since := int64(math.MaxInt64)
	for _, c := range cycles {
		since = min(since, c.started)
		if err := s.redactCycle(ctx, c.id, shown); err != nil {
			return err
		}
	}
	for _, k := range frames {
		since = min(since, ms(k.At))
		if err := s.redactKeyframe(ctx, k, shown); err != nil {
			return err
		}
	}
	if repeated != nil {
		if err := s.redactLater(ctx, m, since, cycles, repeated); err != nil {
			return err
		}
	}
	return s.undigest(ctx, m, e)
}

// ShownTo implements [shell.Journal].
func (s Shell) ShownTo(ctx context.Context, m spaces.Mind, e spaces.EventID) ([]spaces.Mind, error) {
	args := []any{string(m.Agent), string(m.Circle), `"` + string(e) + `"`, string(e)}
	found, err := all(ctx, s.s.engine, mindsShown, args, func(r row) (spaces.Mind, error) {
		other := spaces.Mind{Agent: m.Agent}
		return other, r.Scan(&other.Circle)
	})
	if err != nil {
		return nil, fmt.Errorf("find who was shown %s: %w", e, err)
	}
	return found, nil
}

// redactLater passes what a mind has stored since then through redact: what it was
// shown once it may have repeated in any turn, and so in any keyframe.
func (s Shell) redactLater(ctx context.Context, m spaces.Mind, since int64, done []begun, redact func(string) string) error {
	args := []any{string(m.Agent), string(m.Circle), since}
	cycles, err := all(ctx, s.s.engine, cyclesSince, args, scanBegun)
	if err != nil {
		return fmt.Errorf("find cycles of %s: %w", m, err)
	}
	for _, c := range cycles {
		if slices.Contains(done, c) {
			continue
		}
		if repeats, err := s.repeats(ctx, c.id, redact); err != nil || !repeats {
			if err != nil {
				return err
			}
			continue
		}
		if err := s.redactCycle(ctx, c.id, redact); err != nil {
			return err
		}
	}
	frames, err := all(ctx, s.s.engine, keyframesSince, args, scanKeyframe)
	if err != nil {
		return fmt.Errorf("find keyframes of %s: %w", m, err)
	}
	for _, k := range frames {
		if err := s.redactKeyframe(ctx, k, redact); err != nil {
			return err
		}
	}
	return nil
}

// repeats reports whether redact would change what is stored of a cycle.
func (s Shell) repeats(ctx context.Context, id spaces.CycleID, redact func(string) string) (bool, error) {
	turns, err := turnsOf(ctx, s.s.engine, id)
	if err != nil {
		return false, err
	}
	frames, err := all(ctx, s.s.engine, shownSteps, []any{string(id)}, scanShown)
	if err != nil {
		return false, err
	}
	var rest string
	if _, err := one(ctx, s.s.engine, selectRest, []any{string(id)}, &rest); err != nil {
		return false, err
	}
	texts := []string{rest}
	for _, f := range frames {
		texts = append(texts, f.shown.Tail)
		turns = append(turns, f.shown.Whole...)
	}
	for _, t := range turns {
		texts = append(texts, t.Text)
		for _, c := range t.Calls {
			texts = append(texts, c.Args)
		}
	}
	return slices.ContainsFunc(texts, func(text string) bool { return redact(text) != text }), nil
}

// A begun is a cycle with when it began.
type begun struct {
	id      spaces.CycleID
	started int64
}

func scanBegun(r row) (c begun, err error) { return c, r.Scan(&c.id, &c.started) }

func (s Shell) redactCycle(ctx context.Context, id spaces.CycleID, redact func(string) string) error {
	if err := s.s.write(ctx, func(ctx context.Context, t *tx) error { return t.redactCycle(ctx, id, redact) }); err != nil {
		return fmt.Errorf("redact cycle %s: %w", id, err)
	}
	return nil
}

func (s Shell) redactKeyframe(ctx context.Context, k spaces.Keyframe, redact func(string) string) error {
	text := redact(k.Text)
	if text == k.Text {
		return nil
	}
	err := s.s.write(ctx, func(ctx context.Context, t *tx) error {
		return t.run(ctx, redactKeyframe, string(k.Mind.Agent), string(k.Mind.Circle), k.N, []byte(text))
	})
	if err != nil {
		return fmt.Errorf("redact keyframe %d of %s: %w", k.N, k.Mind, err)
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
