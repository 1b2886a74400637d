package activity

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/trestle-bridge/trestle/activity/media"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/retry"
	"github.com/trestle-bridge/trestle/spaces"
)

// errStopping is why a send in hand is cut off at the end of the grace period.
var errStopping = errors.New("the process is stopping")

const (
	poll         = time.Second // the slow look at the outbox behind the doorbell
	storeTimeout = 10 * time.Second
)

// Egress sends one account's decided actions. What is to be sent, in which order,
// and what became of it are rows of the outbox; Egress holds nothing that a
// crash could lose.
type Egress struct {
	stepBuilder
	mapping *SpaceMapping
	limits  accountLimits
	backlog backlogThrottle
	clock   wallClock

	wake     retry.WakeSignal
	empty    atomic.Bool // nothing waited when the outbox was last read; who changes that rings
	inflight inflightSends
	drafts   draftTracker
	runs     runTracker

	outage outageTracker
	panics panicCounter
	heard  func() time.Time // when the platform was last heard on the way in; nil: not known
}

// EgressOptions are the limits of an egress.
type EgressOptions struct {
	// Unpaced sends as fast as the platform takes it; a platform that says wait is
	// still obeyed. Default: false, the adapter's own limits.
	Unpaced bool
	// AccountLimit is the pace of the account over all chats. Default: 30 a second.
	AccountLimit adapters.RateLimit
	// SharedLimiter is the budget that other processes send from, too. Default: there are
	// none.
	SharedLimiter SharedLimiter
	// MaxInFlight is how many actions are carried at once. Default: 64.
	MaxInFlight int
	// Patience is how long an action may be held in hand for its turn; beyond that
	// it goes back to the outbox. Default: 1 s.
	Patience time.Duration
	// SendLimit ends a call to the platform that does not end by itself. Default: 1 min.
	SendLimit time.Duration
	// Backlog is how many messages that were decided before a recovery may go to one
	// chat within a minute. Default: 5; without pace no bound.
	Backlog int
	// Grace is what sends in hand have to finish after a stop. Default: 10 s.
	Grace time.Duration
	// Drafts keeps drafts that are messages. Default: none are, only what fades by
	// itself is shown of what is not decided yet.
	Drafts DraftStore
	// Acks keeps the reactions that show people that their message is worked on. Default:
	// none are shown.
	Acks AckStore
	// Files and Cupboard are where files that were seen stand. Default: there are
	// none, and only their names are told.
	Files media.FileIndex
	Blobs media.BlobStore
	// Speaker makes recordings of what agents say. Default: nothing is spoken.
	Speaker MessageSpeaker
	// OwnsAccount reports whether the account is still this process's to send for: one that
	// stood still may have been given up by others and not have heard of it. While it
	// is not, nothing leaves. Default: it always is.
	OwnsAccount func() bool
	// Stopped reports whether a person has stopped a run with all that it has not sent yet:
	// nothing more of it is sent then, not even the rest of a message. Default: none was.
	Stopped func(context.Context, spaces.CycleID) (bool, error)
	// Persona returns how an agent appears where it can have a face of its own.
	// Default: none, all agents look like the account.
	Persona func(spaces.AgentID) adapters.AgentPersona
	// IdentityLookup returns a person's identity on this account's platform. Default: no
	// identities are linked.
	IdentityLookup IdentityLookup
	// Logger takes one line an action. Default: none are written.
	Logger *slog.Logger
}

// withDefaults returns o with every field set.
func (o EgressOptions) withDefaults() EgressOptions {
	if o.AccountLimit == (adapters.RateLimit{}) {
		o.AccountLimit = adapters.RateLimit{Every: time.Second / 30, Burst: 30}
	}
	if o.Backlog <= 0 {
		o.Backlog = 5
	}
	if o.Unpaced {
		o.AccountLimit, o.Backlog = adapters.RateLimit{}, 0
	}
	if o.MaxInFlight <= 0 {
		o.MaxInFlight = 64
	}
	if o.Patience <= 0 {
		o.Patience = time.Second
	}
	if o.SendLimit <= 0 {
		o.SendLimit = time.Minute
	}
	if o.Grace <= 0 {
		o.Grace = 10 * time.Second
	}
	if o.Stopped == nil {
		o.Stopped = func(context.Context, spaces.CycleID) (bool, error) { return false, nil }
	}
	if o.OwnsAccount == nil {
		o.OwnsAccount = func() bool { return true }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// NewEgress returns the way out for an account, which uses whatever the adapter
// can do beyond sending.
func NewEgress(a adapters.BotAccount, ad adapters.Adapter, box Outbox, m *SpaceMapping, o EgressOptions) *Egress {
	o = o.withDefaults()
	e := &Egress{
		stepBuilder: stepBuilder{account: a, adapter: ad, box: box, o: o, logger: o.Logger.With("account", a.Key())},
		mapping:     m,
		wake:        retry.NewWakeSignal(),
		backlog:     backlogThrottle{most: o.Backlog},
		limits:      accountLimits{perAccount: o.AccountLimit, shared: o.SharedLimiter, patience: o.Patience},
	}
	e.editor, _ = ad.(adapters.MessageEditor)
	e.deleter, _ = ad.(adapters.MessageDeleter)
	e.reactor, _ = ad.(adapters.ReactionSetter)
	e.typer, _ = ad.(adapters.TypingNotifier)
	e.chooser, _ = ad.(adapters.ChoiceOfferer)
	e.finder, _ = ad.(adapters.DeliveryChecker)
	e.draftShower, _ = ad.(adapters.DraftShower)
	e.stopper, _ = ad.(adapters.Stopper)
	e.fileSender, _ = ad.(adapters.FileSender)
	e.private, _ = ad.(adapters.PrivateSender)
	e.personaSender, _ = ad.(adapters.PersonaSender)
	e.broadcaster, _ = ad.(adapters.ThreadBroadcaster)
	e.threader, _ = ad.(adapters.ThreadOpener)
	e.statusShower, _ = ad.(adapters.StatusShower)
	pacer, paced := ad.(adapters.RateLimitReporter)
	if !paced || o.Unpaced {
		e.limits.perChat = newRateLimits(adapters.RateLimit{}, func(string) adapters.RateLimit { return adapters.RateLimit{} })
		return e
	}
	e.limits.perChat = newRateLimits(o.AccountLimit, func(chat string) adapters.RateLimit { return pacer.Pace(adapters.Chat{ID: chat}) })
	return e
}

// catchPanic is [adapters.CatchPanic] for a call to the platform, and counts.
func (e *Egress) catchPanic(op string, f func() error) error {
	err := adapters.CatchPanic(e.logger, op, f)
	if errors.Is(err, adapters.ErrPanicked) {
		e.panics.note(op, time.Now())
	}
	return err
}

// Account returns the key of the account that it sends for.
func (e *Egress) Account() string { return e.account.Key() }

// Ring tells that the outbox may have something new. It never blocks; a lost
// ring costs the time of a poll.
func (e *Egress) Ring() { e.wake.Set() }

// Run sends until ctx is done, then lets the sends in hand finish within the
// grace period and returns nil. It fails only when what an earlier process left
// cannot be put back.
func (e *Egress) Run(ctx context.Context) error {
	if err := e.box.Recover(ctx, e.account.Key(), time.Now(), nil, e.resendTime()); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("recover outbox of %s: %w", e.account.Key(), err)
	}
	e.backlog.begin(time.Now())
	work, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cut(nil)
	e.inflight.open(func(a spaces.Action) { e.begin(ctx, work, a) })
	e.drafts.rows = e.editsDrafts() // what an earlier process left
	if acknowledges(e) {
		e.acks.expect()
	}
	e.drafts.open(func(g *liveDraft) {
		e.inflight.busy.Go(func() {
			_ = e.catchPanic("draft", func() error { e.followDraft(ctx, work, g); return nil })
		})
	})
	e.runs.open(func(g *liveRun) {
		e.inflight.busy.Go(func() {
			_ = e.catchPanic("show run", func() error { e.followRun(ctx, work, g); return nil })
		})
	})
	for ctx.Err() == nil {
		retry.WaitFor(ctx, e.wake, e.round(ctx, work))
	}
	e.inflight.open(nil)
	e.drafts.open(nil)
	e.runs.open(nil)
	grace := time.AfterFunc(e.o.Grace, func() { cut(errStopping) })
	defer grace.Stop()
	e.inflight.busy.Wait()
	return nil
}

// round takes what is due in hand and returns how long nothing more can be due.
// stop ends the taking of new work, work the work in hand.
func (e *Egress) round(stop, work context.Context) time.Duration {
	if !e.o.OwnsAccount() {
		return poll
	}
	now := time.Now()
	if e.inflight.missing() {
		if err := e.box.Recover(stop, e.account.Key(), now, e.inflight.all, e.resendTime()); err != nil {
			e.Release("", true)
			return e.delayed(stop, "outbox cannot be recovered", err)
		}
	}
	if err := e.correctClock(stop, now); err != nil {
		return e.delayed(stop, "outbox cannot be hurried", err)
	}
	if until := e.outage.pausedUntil(); until.After(now) {
		return until.Sub(now)
	}
	if e.drafts.untidy() {
		e.inflight.busy.Go(func() {
			_ = e.catchPanic("delete drafts", func() error { e.deleteLeftDrafts(work); return nil })
		})
	}
	if acknowledges(e) && e.acks.untidy() {
		e.inflight.busy.Go(func() {
			defer e.acks.tidied()
			_ = e.catchPanic("take acknowledgements back", func() error { takeAcksBack(work, e); return nil })
		})
	}
	free := e.o.MaxInFlight - len(e.inflight.all())
	if free <= 0 {
		return poll
	}
	due, waiting, err := e.box.Next(stop, e.account.Key())
	if err != nil {
		return e.delayed(stop, "outbox cannot be read", err)
	}
	e.empty.Store(!waiting)
	if !waiting {
		return poll
	}
	if due.After(now) {
		return min(due.Sub(now), poll)
	}
	actions, err := e.box.Claim(stop, e.account.Key(), now, free)
	if err != nil {
		return e.delayed(stop, "outbox cannot be claimed from", err)
	}
	e.inflight.hold(actions)
	for _, a := range actions {
		e.begin(stop, work, a)
	}
	return poll
}

// begin carries an action in hand until it is settled. Then its lane is free, and so
// is a hand: whatever waits may be next, the action itself among it.
func (e *Egress) begin(stop, work context.Context, a spaces.Action) {
	e.inflight.busy.Go(func() {
		sent := false
		defer func() {
			e.inflight.drop(a.ID)
			if !sent || !e.empty.Load() {
				e.Ring()
			}
		}()
		sent = e.deliver(work, stop.Done(), a)
	})
}

// delayed says that the record is out of reach. The outbox keeps what is there.
func (e *Egress) delayed(ctx context.Context, what string, err error) time.Duration {
	if ctx.Err() == nil {
		e.logger.Error("sending is delayed", "what", what, "err", err)
	}
	return poll
}

// Typing shows that something is being written, as [adapters.TypingNotifier] says, if the
// chat's budget has room for it beside a send; otherwise it does nothing. It never delays a
// send, and its failure is ignored.
func (e *Egress) Typing(ctx context.Context, at adapters.MessageRef) {
	ctx, cancel := context.WithTimeout(ctx, e.o.SendLimit)
	defer cancel()
	if e.typer == nil || !e.spare(ctx, at.Chat) {
		return
	}
	err := e.catchPanic("typing", func() error { return e.typer.Typing(ctx, at) })
	e.limits.noteLimit(ctx, at.Chat, err)
	e.noteAnswer(err)
}

// Paused returns why nothing is sent for the moment; empty when sending works.
func (e *Egress) Paused() string { return e.outage.reason() }

// Failing returns why messages have not been delivered for half a minute; empty while they
// are.
func (e *Egress) Failing() string { return e.outage.failing(time.Now()) }

// Resume ends a pause, after the credentials were accepted again.
func (e *Egress) Resume() {
	if e.outage.end(time.Now()) {
		e.backlog.begin(time.Now())
	}
	e.Ring()
}

// Recover ends an outage of the account, and a pause with it: messages decided before
// are sent slowly.
func (e *Egress) Recover() {
	e.backlog.begin(time.Now())
	e.Resume()
}

// correctClock has what waits in the outbox leave after as long as was asked for, when
// the clock by which it is stored was put back meanwhile. What a platform told us to
// wait is held here as well, by what passes.
func (e *Egress) correctClock(ctx context.Context, now time.Time) error {
	by := e.clock.setBack(now)
	if by == 0 {
		return nil
	}
	e.logger.Warn("the clock was put back", "by", by.String())
	err := e.box.ShiftDue(ctx, e.account.Key(), by, now)
	if err != nil {
		e.clock.retryLater(by)
	}
	return err
}
