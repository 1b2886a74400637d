package sqlstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	// sinceItCame !Keyframes that are up to a day older than the message are searched
	// too, because clocks differ.
	sinceItCame                       = `coalesce((select recv_at from events where id = $4) - 86400000, 0)`
	keyframesShowing engine.QueryText = `select ` + tables.KeyframeColumns + ` from keyframes
where agent = $1 and circle = $2 and at >= ` + sinceItCame + ` and replace(refs, $3, '') <> refs order by n`
	cyclesSince engine.QueryText = `select y.id, y.started, y.ended, y.inner_from from cycles y
where y.agent = $1 and y.circle = $2 and y.started >= $3 order by y.started, y.id`
	textsOfCycle engine.QueryText = `select body from turns where cycle = $1 union all select shown from steps where cycle = $1 and shown is not null`
	argsOfCycle  engine.QueryText = `select id, args, result, input from tool_runs where cycle = $1 order by id`
	// redactToolRun !A call that has not begun is cancelled: its redacted arguments were
	// not approved.
	redactToolRun engine.QueryText = `update tool_runs set args = $2, result = $3, input = '[]', state = case when state in ('awaiting_approval', 'ready') then 'cancelled' else state end,
  ended = case when state in ('awaiting_approval', 'ready') then proposed else ended end where id = $1`
	keyframesSince engine.QueryText = `select ` + tables.KeyframeColumns + ` from keyframes where agent = $1 and circle = $2 and at >= $3 order by n`
	redactTurn     engine.QueryText = `update turns set body = $3 where cycle = $1 and n = $2`
	redactKeyframe engine.QueryText = `update keyframes set body = $4, tokens = 0 where agent = $1 and circle = $2 and n = $3`
	selectRest     engine.QueryText = `select rest from cycles where id = $1`
	redactRest     engine.QueryText = `update cycles set rest = $2 where id = $1`
)

// Redact implements [shell.CycleStore]. It searches outside the writer and changes each
// cycle in a transaction of its own.
func (s MemoryStore) Redact(ctx context.Context, m spaces.Mind, es ...shell.RedactionRequest) error {
	var left []redactionScope
	var digests []spaces.CycleSummary
	for _, e := range es {
		x, found, err := s.redactShown(ctx, m, e)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		made, err := s.digestsOf(ctx, m, e.Event)
		if err != nil {
			return err
		}
		left, digests = append(left, x), append(digests, made...)
	}
	for _, d := range digests {
		left = append(left, redactionScope{by: hud.NewRedaction(d.Text), since: engine.ToMillis(d.At)})
	}
	if err := s.redactLater(ctx, m, left); err != nil {
		return err
	}
	return s.undigest(ctx, digests)
}

// clocksApart is the largest expected difference between two clocks, in milliseconds.
const clocksApart = int64(24 * time.Hour / time.Millisecond)

// A redactionScope is where a mind may repeat words that it was shown.
type redactionScope struct {
	by    hud.TextRedaction
	since int64        // earliest time
	from  int64        // earliest position in the inner log, independent of clocks; 0 if unknown
	done  []cycleTimes // redacted already
}

// reaches reports whether what was stored at that time may repeat the words.
func (x redactionScope) reaches(at int64) bool { return len(x.by) > 0 && at >= x.since }

// within reports whether a cycle may repeat the words.
func (x redactionScope) within(c cycleTimes) bool {
	return len(x.by) > 0 && (c.started >= x.since || x.from > 0 && c.from > x.from) && !slices.Contains(x.done, c)
}

// redactShown redacts the cycles and keyframes that were shown an event, if there are
// any, and returns where the words may be repeated.
func (s MemoryStore) redactShown(ctx context.Context, m spaces.Mind, e shell.RedactionRequest) (x redactionScope, found bool, err error) {
	cycles, err := cyclesShownEvent(ctx, s.s, cyclesShown, m, e.Event, scanBegun)
	if err != nil {
		return x, false, fmt.Errorf("find turns that show %s: %w", e.Event, err)
	}
	args := []any{string(m.Agent), string(m.Circle), `"` + string(e.Event) + `"`, string(e.Event)}
	frames, err := engine.AllRows(ctx, s.s.engine, keyframesShowing, args, tables.ScanKeyframe)
	if err != nil {
		return x, false, fmt.Errorf("find keyframes that show %s: %w", e.Event, err)
	}
	if len(cycles)+len(frames) == 0 {
		return x, false, nil
	}
	back, err := s.ledTo(ctx, m, e.Event)
	if err == nil {
		err = s.s.write(ctx, func(ctx context.Context, t *storeTx) error {
			return t.frame.hideMessage(ctx, m, back, s.s.opts.Now())
		})
	}
	if err != nil {
		return x, false, fmt.Errorf("hide %s from %s: %w", e.Event, m, err)
	}
	from := int64(0)
	if !e.Since.IsZero() {
		from = engine.ToMillis(e.Since.Add(-time.Minute))
	}
	x = redactionScope{by: e.Repeated, since: math.MaxInt64, done: cycles}
	for _, c := range cycles {
		x.since = min(x.since, c.started)
		if from == 0 && (x.from == 0 || c.from < x.from) {
			x.from = c.from
		}
		if c.ended > 0 && c.ended < from {
			continue
		}
		if err := s.redactCycle(ctx, c.id, e.Shown.Text); err != nil {
			return x, false, err
		}
	}
	for _, k := range frames {
		x.since = min(x.since, engine.ToMillis(k.At))
		if err := s.redactKeyframe(ctx, k, e.Shown); err != nil {
			return x, false, err
		}
	}
	x.since = max(x.since, from)
	return x, true, nil
}

// ShownTo implements [shell.CycleStore].
func (s MemoryStore) ShownTo(ctx context.Context, m spaces.Mind, e spaces.EventID) ([]spaces.Mind, error) {
	found, err := cyclesShownEvent(ctx, s.s, mindsShown, m, e, func(r engine.ResultRow) (spaces.Mind, error) {
		other := spaces.Mind{Agent: m.Agent}
		return other, r.Scan(&other.Circle)
	})
	if err != nil {
		return nil, fmt.Errorf("find who was shown %s: %w", e, err)
	}
	return found, nil
}

// redactLater redacts the cycles and keyframes that a mind stored after it was shown the
// words.
func (s MemoryStore) redactLater(ctx context.Context, m spaces.Mind, left []redactionScope) error {
	since := int64(math.MaxInt64)
	for _, x := range left {
		if len(x.by) > 0 {
			since = min(since, x.since)
		}
	}
	if since == math.MaxInt64 {
		return nil
	}
	mind := []any{string(m.Agent), string(m.Circle)}
	cycles, err := engine.AllRows(ctx, s.s.engine, cyclesSince, append(slices.Clip(mind), since-clocksApart), scanBegun)
	if err != nil {
		return fmt.Errorf("find cycles of %s: %w", m, err)
	}
	var by hud.TextRedaction
	for _, c := range cycles {
		by = by[:0]
		for _, x := range left {
			if x.within(c) {
				by = append(by, x.by...)
			}
		}
		if len(by) == 0 {
			continue
		}
		repeats, err := s.repeats(ctx, c.id, by)
		if err == nil && repeats {
			err = s.redactCycle(ctx, c.id, by.Text)
		}
		if err != nil {
			return err
		}
	}
	frames, err := engine.AllRows(ctx, s.s.engine, keyframesSince, append(slices.Clip(mind), since), tables.ScanKeyframe)
	if err != nil {
		return fmt.Errorf("find keyframes of %s: %w", m, err)
	}
	for _, k := range frames {
		by = by[:0]
		for _, x := range left {
			if x.reaches(engine.ToMillis(k.At)) {
				by = append(by, x.by...)
			}
		}
		if err := s.redactKeyframe(ctx, k, by); err != nil {
			return err
		}
	}
	return nil
}

// repeats reports whether the stored text of a cycle may have words to redact. It does
// not decode the text.
func (s MemoryStore) repeats(ctx context.Context, id spaces.CycleID, by hud.TextRedaction) (bool, error) {
	found := false
	err := engine.EachRow(ctx, s.s.engine, textsOfCycle, []any{string(id)}, func(r engine.ResultRow) error {
		var stored []byte
		err := r.Scan(&stored)
		found = found || by.Traces(stored)
		return err
	})
	if err != nil || found {
		return found, err
	}
	runs, err := engine.AllRows(ctx, s.s.engine, argsOfCycle, []any{string(id)}, scanToolText)
	if err != nil {
		return false, err
	}
	for _, run := range runs {
		found = found || by.Traces([]byte(run.args)) || by.Traces([]byte(run.result))
	}
	var rest string
	_, err = engine.ScanRow(ctx, s.s.engine, selectRest, []any{string(id)}, &rest)
	return found || by.Traces([]byte(rest)), err
}

// A cycleTimes is a cycle with the times of its start and end.
type cycleTimes struct {
	id             spaces.CycleID
	started, ended int64 // ended is 0 while it is open
	from           int64 // seq of its first event in the inner log
}

func scanBegun(r engine.ResultRow) (c cycleTimes, err error) {
	return c, r.Scan(&c.id, &c.started, &c.ended, &c.from)
}

func (s MemoryStore) redactCycle(ctx context.Context, id spaces.CycleID, redact func(string) string) error {
	if err := s.s.write(ctx, func(ctx context.Context, t *storeTx) error { return t.frame.redactCycle(ctx, id, redact) }); err != nil {
		return fmt.Errorf("redact cycle %s: %w", id, err)
	}
	return nil
}

func (s MemoryStore) redactKeyframe(ctx context.Context, k spaces.Keyframe, by hud.TextRedaction) error {
	text := by.Text(k.Text)
	if text == k.Text {
		return nil
	}
	err := s.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		return t.Run(ctx, redactKeyframe, string(k.Mind.Agent), string(k.Mind.Circle), k.N, []byte(text))
	})
	if err != nil {
		return fmt.Errorf("redact keyframe %d of %s: %w", k.N, k.Mind, err)
	}
	return nil
}

// A frameTx drops old frames, removes deleted text from what minds were shown, and
// indexes which cycle was shown which message.
type frameTx struct {
	*writeTx
	inner *innerTx
}

func (t *frameTx) redactCycle(ctx context.Context, id spaces.CycleID, redact func(string) string) error {
	turns, err := tables.TurnsOfCycle(ctx, t, id)
	if err != nil {
		return err
	}
	for _, turn := range turns {
		if !redactTurnText(&turn, redact) {
			continue
		}
		turn.Tokens = 0 // not counted for the redacted text
		body, err := json.Marshal(turn)
		if err != nil {
			return err
		}
		if err := t.Run(ctx, redactTurn, string(id), turn.N, body); err != nil {
			return err
		}
	}
	if err := t.redactFrames(ctx, id, redact); err != nil {
		return err
	}
	if err := errors.Join(t.redactToolRuns(ctx, id, redact), t.redactOptions(ctx, id, redact)); err != nil {
		return err
	}
	var rest string
	if _, err := engine.ScanRow(ctx, t, selectRest, []any{string(id)}, &rest); err != nil {
		return err
	}
	if said := redact(rest); said != rest {
		return t.Run(ctx, redactRest, string(id), said)
	}
	return nil
}

// A toolText is what is stored of a tool run in words.
type toolText struct{ id, args, result, input string }

func scanToolText(r engine.ResultRow) (x toolText, err error) {
	return x, r.Scan(&x.id, &x.args, &x.result, &x.input)
}

// redactToolRuns removes deleted words from what a cycle gave to outside tools, as it is
// stored, and from what they answered.
func (t *frameTx) redactToolRuns(ctx context.Context, id spaces.CycleID, redact func(string) string) error {
	runs, err := engine.AllRows(ctx, t, argsOfCycle, []any{string(id)}, scanToolText)
	if err != nil {
		return err
	}
	for _, x := range runs {
		args, result := redact(x.args), redact(x.result)
		if args == x.args && result == x.result && redact(x.input) == x.input {
			continue
		}
		if err := t.Run(ctx, redactToolRun, x.id, args, result); err != nil {
			return err
		}
	}
	return nil
}

// The log is never changed: deleted words are removed whenever it is read.

const (
	insertRedacted engine.QueryText = `insert into redacted (agent, circle, event) values ($1, $2, $3) on conflict (agent, circle, event) do nothing`
)

// A derivedFrom holds what was derived from a message.
type derivedFrom struct {
	words    []spaces.EventID // the message, its edits and transcripts
	memories []string         // with the message as a source
}

// ledTo returns what was derived from a message. It reads outside the writer, because
// logs are long.
func (s MemoryStore) ledTo(ctx context.Context, m spaces.Mind, message spaces.EventID) (c derivedFrom, err error) {
	gone, err := tables.EventByID(ctx, s.s.engine, message)
	if err != nil || gone == nil {
		return c, err
	}
	later, err := engine.AllRows(ctx, s.s.engine, tables.TextChangesAfter, []any{string(gone.Space), gone.Seq}, tables.ScanEvent)
	if err != nil {
		return c, err
	}
	c.words = []spaces.EventID{message}
	said, _ := gone.Body.(spaces.MessagePosted)
	for _, e := range later {
		if target, ref := spaces.Target(e.Body); target == message || target == "" && !ref.IsZero() && ref == said.Ref {
			c.words = append(c.words, e.ID)
		}
	}
	var self spaces.InnerState
	err = engine.EachRow(ctx, s.s.engine, tables.SelectOwnEvents, []any{string(m.Inner()), string(m.Branch())}, func(r engine.ResultRow) error {
		e, err := tables.ScanEvent(r)
		self.Apply(e)
		return err
	})
	for _, x := range self.Memories.All {
		if slices.Contains(x.Sources, message) {
			c.memories = append(c.memories, x.ID)
		}
	}
	return c, err
}

// hideMessage stores that a mind must not be shown a message any more, and forgets the
// memories that were derived from it.
func (t *frameTx) hideMessage(ctx context.Context, m spaces.Mind, c derivedFrom, at time.Time) error {
	for _, id := range c.words {
		if err := t.Run(ctx, insertRedacted, string(m.Agent), string(m.Circle), string(id)); err != nil {
			return fmt.Errorf("store that %s is deleted: %w", id, err)
		}
	}
	for _, id := range c.memories {
		if err := t.inner.append(ctx, m, at, spaces.MemoryRemoved{ID: id}); err != nil {
			return err
		}
	}
	return nil
}
