package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/activity/access"
	"github.com/trestle-bridge/trestle/activity/commands"
	"github.com/trestle-bridge/trestle/activity/media"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/readmodel"
	"github.com/trestle-bridge/trestle/shell"
)

// Options say what a record gets from outside.
type Options struct {
	// NewID mints an id that is unique for ever; ids that rise with time keep the
	// tables compact.
	NewID func() string
	// Now is the clock for what the store notes of its own: spans it closes and
	// opens again when it is opened and closed. Default: time.Now.
	Now func() time.Time
	// Logger gets one line a decision. Default: nothing is logged.
	Logger *slog.Logger
	// Idle is how long nothing happens in a space before the next event counts as
	// a new stretch of presence there (spans.idle). Default: 12 hours.
	Idle time.Duration
	// Lives says that agents live while the record is open: it notes in each of their
	// spaces that they are connected from now on, and at the end that they were until
	// then. Default: the record is only looked after, and says nothing of them.
	Lives bool
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Idle = cmp.Or(o.Idle, 12*time.Hour)
	return o
}

// A Store is an open database. Its methods and those of its views may be called
// concurrently.
type Store struct {
	engine   engine.DatabaseEngine
	opts     Options
	writer   *engine.GroupWriter // nil: read only
	tx       *storeTx
	close    sync.Once
	closeErr error // result of Close
}

// Open begins to write the record that e keeps, and gives back what an earlier
// process left leased when it died, and with o.Lives what it left connected. The
// schema is up to date. The store owns e from here on: it is closed with it, also
// when Open fails.
func Open(ctx context.Context, e engine.DatabaseEngine, o Options) (*Store, error) {
	s := &Store{engine: e, opts: o.withDefaults()}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.release())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) (err error) {
	s.writer, err = engine.StartWriter(ctx, s.engine, s.opts.Logger, func(t *engine.WriteTx) engine.TableCache {
		s.tx = newStoreTx(t, s.opts)
		return s.tx
	})
	if err != nil {
		return err
	}
	return s.write(ctx, func(ctx context.Context, t *storeTx) error {
		if c, several := s.engine.(engine.ClusterEngine); several {
			if err := t.recovery.removeDead(ctx, c, true); err != nil {
				return err
			}
		}
		return t.recovery.start(ctx, s.opts.Lives)
	})
}

// Close gives back what this process has leased, ends the open connection spans
// if it is the last one in which agents lived, waits for writes under way, refuses
// new ones and closes the engine. Later calls return what the first did.
func (s *Store) Close(ctx context.Context) error {
	s.close.Do(func() {
		// A full disk must not keep the process from ending: the next start then
		// closes the spans as crashed.
		if err := s.write(ctx, s.leave); err != nil {
			s.opts.Logger.Warn("spans and leases left open", "error", err)
		}
		s.closeErr = s.release()
	})
	return s.closeErr
}

// leave is the last write of a clean stop: what this process has leased is free for
// the others at once.
func (s *Store) leave(ctx context.Context, t *storeTx) error {
	id := s.Process()
	if err := t.recovery.uncountCrashes(ctx, id); err != nil {
		return err
	}
	if id != "" {
		if err := t.recovery.releaseLeases(ctx, id); err != nil {
			return err
		}
	}
	if !s.opts.Lives {
		return nil
	}
	return t.recovery.stop(ctx)
}

// Crash ends the store as the end of its process would: nothing is put in order.
// Tests use it to see what the next process finds.
func (s *Store) Crash(context.Context) error {
	s.close.Do(func() { s.closeErr = s.release() })
	return s.closeErr
}

func (s *Store) release() error {
	var errs []error
	if s.writer != nil {
		errs = append(errs, s.writer.Stop())
	}
	return errors.Join(append(errs, s.engine.Close())...)
}

// Console returns the read model of the store. It needs no Close.
func (s *Store) Console() readmodel.ReadModel { return readmodel.OpenReadOnly(s.engine) }

// Prompts returns the store of activated versions of prompts. It needs no Close.
func (s *Store) Prompts() PromptStore { return PromptStore{s.Console(), s} }

// Figures returns the store of figures. It needs no Close.
func (s *Store) Figures() FigureStore { return FigureStore{readmodel.NewFigureTable(s.engine), s} }

// Audit returns every violation of an invariant that it finds in the database.
func (s *Store) Audit(ctx context.Context, at time.Time) ([]readmodel.Violation, error) {
	return readmodel.AuditDatabase(ctx, s.engine, at)
}

// Size returns how many bytes the record takes.
func (s *Store) Size(ctx context.Context) (int64, error) { return s.engine.Size(ctx) }

// Commits returns the number of groups of writes committed so far.
func (s *Store) Commits() int64 { return s.writer.Commits() }

// BusyFor returns how long the running commit has taken so far; 0 while there is none.
// It does not query the database, which may not respond.
func (s *Store) BusyFor() time.Duration { return s.writer.BusyFor() }

// Failing returns why nothing is committed and since when; the zero value while commits
// succeed.
func (s *Store) Failing() engine.WriteFailure { return s.writer.Failing() }

// FullAt returns when a write last found the disk full; zero for never.
func (s *Store) FullAt() time.Time { return s.writer.FullAt() }

// clock returns the clock of the last transaction.
func (s *Store) clock() engine.DatabaseClock { return s.writer.Clock() }

// A writeFunc is one write: stored whole or not at all.
type writeFunc func(ctx context.Context, t *storeTx) error

// write runs do in a transaction that is committed when write returns nil. It stops
// waiting when ctx ends, but not once do has begun.
func (s *Store) write(ctx context.Context, do writeFunc) error {
	if s.writer == nil {
		return engine.ErrClosed
	}
	return s.writer.Write(ctx, func(ctx context.Context, _ *engine.WriteTx) error {
		s.tx.cache.recent = newRecentState()
		return do(ctx, s.tx)
	})
}

// writeFrequent is write for what every message needs; see [Writer.WriteFrequent].
func (s *Store) writeFrequent(ctx context.Context, do writeFunc) error {
	if s.writer == nil {
		return engine.ErrClosed
	}
	return s.writer.WriteFrequent(ctx, func(ctx context.Context, _ *engine.WriteTx) error { return do(ctx, s.tx) })
}

// A BridgeStore implements the ports of package activity.
type BridgeStore struct {
	readmodel.RoomInspector
	ChatStore
	IngestStore
	OutboxStore
	FileStore
}

// A ChatStore stores spaces, their chats, agents and people, and the state of the
// connections of accounts.
type ChatStore struct{ s *Store }

// An IngestStore stores received events.
type IngestStore struct{ s *Store }

// An OutboxStore stores the actions that are to be sent, drafts and notices.
type OutboxStore struct{ s *Store }

// A FileStore stores the state of files and of their transcription.
type FileStore struct{ s *Store }

var (
	_ activity.ChatDirectory   = BridgeStore{}
	_ activity.EventLog        = BridgeStore{}
	_ activity.Outbox          = BridgeStore{}
	_ activity.ChatLister      = BridgeStore{}
	_ activity.NoticeStore     = BridgeStore{}
	_ access.PairingStore      = BridgeStore{}
	_ commands.RoleLookup      = BridgeStore{}
	_ commands.RoomInspector   = BridgeStore{}
	_ media.FileIndex          = BridgeStore{}
	_ media.TranscriptionQueue = BridgeStore{}
)

// Border returns the ports of package activity.
func (s *Store) Border() BridgeStore {
	return BridgeStore{readmodel.NewRoomInspector(s.engine), ChatStore{s}, IngestStore{s}, OutboxStore{s}, FileStore{s}}
}

// An AgentStore implements the ports of package shell.
type AgentStore struct {
	readmodel.LogReader
	WakeStore
	RunStore
	MemoryStore
	ToolRunStore
}

// A WakeStore stores inbox rows, leases and timers.
type WakeStore struct{ s *Store }

// A RunStore stores the steps of cycles, and what people change of runs.
type RunStore struct{ s *Store }

// A MemoryStore stores what minds remember beside their logs: keyframes, summaries,
// embeddings. It also removes deleted words from it.
type MemoryStore struct{ s *Store }

var (
	_ shell.WakeQueue  = AgentStore{}
	_ shell.CycleStore = AgentStore{}
	_ shell.LogReader  = AgentStore{}
	_ shell.RunStopper = AgentStore{}
)

// Links returns the store of linked accounts.
func (s *Store) Links() LinkStore { return LinkStore{s} }

// Shell returns the ports of package shell.
func (s *Store) Shell() AgentStore {
	return AgentStore{readmodel.NewLogReader(s.engine), WakeStore{s}, RunStore{s}, MemoryStore{s}, ToolRunStore{s}}
}
