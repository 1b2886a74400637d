package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	insertVoice engine.Query = `insert into voices (account, file, at, due, state) values ($1, $2, $3, $4, 'wanted') on conflict do nothing`
	dueVoices   engine.Query = `select a.account, a.file, a.space, a.event, a.kind, a.name, a.hash, a.bytes, a.media, v.tries from voices v
join attachments a on a.account = v.account and a.file = v.file
where v.state = 'wanted' and v.due <= $1 and v.at >= $2 order by v.due, v.file limit $3 + 0`
	settleVoice engine.Query = `update voices set state = $3, tries = tries + 1, due = $4 where account = $1 and file = $2 and state = 'wanted'`
	voiceWaits  engine.Query = `select exists (select 1 from voices where account = $1 and file = $2 and state = 'wanted' and at >= $3)
  or exists (select 1 from attachments where account = $1 and file = $2 and state = 'wanted')`
)

// voice notes a file that may be heard.
func (t *fetchTx) queueTranscription(ctx context.Context, o activity.FetchResult) error {
	if !activity.IsVoice(o.File.Kind) {
		return nil
	}
	return t.Run(ctx, insertVoice, o.File.Account, o.File.ID, engine.ToMillis(o.At), t.SharedMillis(o.At))
}

// Pending implements [activity.Voices].
func (b BridgeStore) Pending(ctx context.Context, at time.Time, limit int) ([]activity.VoiceMessage, error) {
	out, err := engine.AllRows(ctx, b.s.engine, dueVoices, []any{engine.ToMillis(b.s.clock().ToShared(at)), engine.ToMillis(at.Add(-activity.VoiceTTL)), limit}, func(r engine.Row) (v activity.VoiceMessage, err error) {
		return v, r.Scan(&v.Account, &v.ID, &v.Space, &v.Event, &v.Kind, &v.Name, &v.Hash, &v.Bytes, &v.Media, &v.Tries)
	})
	if err != nil {
		return nil, fmt.Errorf("list voices: %w", err)
	}
	return out, nil
}

// Waits implements [activity.Voices].
func (b BridgeStore) Waits(ctx context.Context, account, file string, at time.Time) (waits bool, err error) {
	if waits, err = engine.QueryBool(ctx, b.s.engine, voiceWaits, account, file, engine.ToMillis(at.Add(-activity.VoiceTTL))); err != nil {
		return false, fmt.Errorf("look up voice: %w", err)
	}
	return waits, nil
}

// Complete implements [activity.Voices].
func (b BridgeStore) Complete(ctx context.Context, h activity.TranscriptionResult) error {
	err := b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		n, err := t.Exec(ctx, settleVoice, h.Voice.Account, h.Voice.ID, string(h.State), engine.CeilMillis(t.Clock().ToShared(h.Due)))
		if err != nil {
			return err
		}
		if err := t.usage.addDaily(ctx, h.At, "", h.Voice.Space, h.Usage); err != nil { // whatever became of it
			return err
		}
		if n == 0 || h.State != activity.VoiceHeard || h.Text == "" {
			return nil
		}
		return t.fetch.appendTranscription(ctx, h)
	})
	if err != nil {
		return fmt.Errorf("settle voice of %s: %w", h.Voice.Event, err)
	}
	return nil
}

// heard tells the room what was said in a voice of it.
func (t *fetchTx) appendTranscription(ctx context.Context, h activity.TranscriptionResult) error {
	m, err := eventOf(ctx, t, h.Voice.Event)
	if err != nil || m == nil {
		return err
	}
	said, ok := m.Body.(spaces.Said)
	if !ok {
		return nil
	}
	return t.event.append(ctx, &spaces.Event{
		Space: m.Space, Branch: spaces.Primary, Object: m.Object, Thread: m.Thread, At: h.At, RecvAt: h.At,
		Cause: m.ID, Root: m.Root, Depth: m.Depth, Source: "voice|" + h.Voice.Account + "|" + h.Voice.ID,
		Body: spaces.Transcribed{Target: m.ID, Ref: said.Ref, File: h.Voice.ID, Text: h.Text, Model: h.Model},
	})
}
