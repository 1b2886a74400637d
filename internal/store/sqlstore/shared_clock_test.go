package sqlstore

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/activity/media"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// A recordingSession stores nothing but the arguments of its statements.
type recordingSession struct {
	engine.WriteSession
	turn engine.WriteTurn
	args []any
}

func (s *recordingSession) Begin(context.Context) (engine.WriteTurn, error) { return s.turn, nil }
func (*recordingSession) Commit(context.Context) error                      { return nil }
func (*recordingSession) Rest(context.Context) error                        { return nil }
func (*recordingSession) Close() error                                      { return nil }
func (*recordingSession) Kind(err error) error                              { return err }

// Run implements [Session].
func (s *recordingSession) Run(_ context.Context, _ string, args ...any) error {
	s.args = append(s.args, args...)
	return nil
}

// A recordingEngine has a recordingSession.
type recordingEngine struct {
	engine.DatabaseEngine
	session *recordingSession
}

func (e *recordingEngine) Session(context.Context) (engine.WriteSession, error) {
	return e.session, nil
}

// F43: a file and a voice message are due at once by the clock that all processes share,
// however far ahead the clock of the receiving process is.
func TestFilesAreDueByTheSharedClock(t *testing.T) {
	own := time.Now()
	written := &recordingSession{turn: engine.WriteTurn{Now: own.Add(-time.Hour).Round(0)}}
	s := &Store{engine: &recordingEngine{session: written}}
	var err error
	s.writer, err = engine.StartWriter(t.Context(), s.engine, nil, func(tx *engine.WriteTx) engine.TableCache {
		s.tx = newStoreTx(tx, Options{})
		return s.tx
	})
	testutil.OK(t, err)
	defer func() { testutil.OK(t, s.writer.Stop()) }()
	due := func(n int64) bool {
		return slices.ContainsFunc(written.args, func(v any) bool { at, ok := v.(int64); return ok && at-n < 60_000 && n-at < 60_000 })
	}
	said := spaces.MessagePosted{Ref: spaces.MessageRef{Account: "telegram:42", Chat: "1", Message: "2"}, Attachments: []spaces.FileAttachment{{Kind: "photo", ID: "f1"}}}
	err = s.write(t.Context(), func(ctx context.Context, x *storeTx) error {
		return x.file.addWanted(ctx, spaces.Event{ID: "e", Space: "s", RecvAt: own}, said)
	})
	testutil.OK(t, err)
	shared := engine.ToMillis(own.Add(-time.Hour))
	if !due(shared) || due(engine.ToMillis(own)) {
		t.Errorf("a file is stored with %v, want it due at %d", written.args, shared)
	}
	written.args = nil
	err = s.write(t.Context(), func(ctx context.Context, x *storeTx) error {
		return x.fetch.queueTranscription(ctx, media.FetchResult{File: media.PendingFile{Account: "telegram:42", ID: "f2", Kind: "voice"}, At: own})
	})
	testutil.OK(t, err)
	if at, ok := written.args[3].(int64); len(written.args) != 4 || !ok || at-shared > 60_000 {
		t.Errorf("a voice message is stored with %v, want it due at %d", written.args, shared)
	}
}
