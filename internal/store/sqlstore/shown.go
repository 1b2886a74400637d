package sqlstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	// The same text serves thousands of frames: it is kept once.
	insertSystem engine.Query = `insert into systems (hash, text) values ($1, $2) on conflict (hash) do nothing`
	shownSteps   engine.Query = `select n, shown from steps where cycle = $1 and shown is not null order by n`
	redactShown  engine.Query = `update steps set shown = $3 where cycle = $1 and n = $2`
)

// frameColumns returns the columns of what a step's frame was made of: it, the remote
// events it shows beside its keyframe and turns, and the name of its system text.
func (k *stepTx) frameColumns(ctx context.Context, f *spaces.FrameSources) ([]any, error) {
	if f == nil {
		return []any{nil, "[]", ""}, nil
	}
	hash, known := k.cache.systems[f.System]
	if !known {
		sum := sha256.Sum256([]byte(f.System))
		hash = hex.EncodeToString(sum[:16])
		if err := k.Run(ctx, insertSystem, hash, f.System); err != nil {
			return nil, fmt.Errorf("keep system text: %w", err)
		}
		k.cache.systems[f.System] = hash
	}
	return []any{k.stored.shown, engine.EncodeList(f.Refs), hash}, nil
}

// redactFrames passes what the frames of a cycle were made of through redact.
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

// A shownStep is what the frame of a step was made of.
type shownStep struct {
	n     int
	shown spaces.FrameSources
}

func scanShown(r engine.Row) (f shownStep, err error) {
	var body []byte
	if err = r.Scan(&f.n, &body); err != nil {
		return f, err
	}
	if f.shown, err = readShown(body); err != nil {
		return f, fmt.Errorf("read frame of step %d: %w", f.n, err)
	}
	return f, nil
}

// redactTurnText reports whether anything of the turn had to be redacted.
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
