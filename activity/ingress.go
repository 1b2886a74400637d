package activity

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trestle-bridge/trestle/activity/access"
	"github.com/trestle-bridge/trestle/activity/commands"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/failpoint"
	"github.com/trestle-bridge/trestle/internal/retry"
	"github.com/trestle-bridge/trestle/spaces"
)

// Ingress takes what one account received into the record. It is the account's
// [adapters.Sink] and safe for concurrent use.
type Ingress struct {
	account adapters.BotAccount
	mapping *SpaceMapping
	log     EventLog
	notices NoticeStore
	guard   *access.AdmissionGuard
	options atomic.Pointer[IngressOptions] // replaced whole, never changed
	logger  *slog.Logger

	heard    atomic.Pointer[time.Time] // when the platform last proved to be there; nil for never
	live     atomic.Pointer[time.Time] // when an update last came as it happened; nil for never
	hearing  retry.WakeSignal          // doorbell for the line: heard has moved
	counters ingressCounters

	unsealing sync.Mutex // held by Unseal

	senders access.SenderRateLimiter
	presses adapters.ChoiceOfferer // nil: the platform has no buttons
	stopper adapters.Stopper       // nil: the platform shows no runs
}

var _ adapters.UpdateSink = (*Ingress)(nil)

// IngressOptions says who may talk through an account, and to whom.
type IngressOptions struct {
	// Admit is who may talk in chats that are not named. Default: AdmitPairing.
	Admit access.AdmissionMode
	// Named are the rooms of the configuration with their agents, the one that
	// speaks for the account first. Their members are all admitted. Default: none.
	Named map[spaces.SpaceID][]spaces.AgentID
	// Servers are groups of chats, by the platform's id of the group, each of whose
	// chats becomes a space of this form and admits its members. Default: none.
	Servers map[string]spaces.RoomDefaults
	// Room is the form of a space for a chat let in without being named. Default:
	// a circle of its own, no agents.
	Room spaces.RoomDefaults
	// Name is how the configuration calls the account. Default: its platform.
	Name string
	// Allow are the senders that the configuration lists: people for AdmitAllowlist,
	// programs for every mode. Default: none.
	Allow []access.SenderID
	// Commands answers chat commands. Default: commands are recorded like other
	// messages, and wake no agent.
	Commands *commands.CommandHandler
	// Operators are the chats of those who run the program, where it tells of
	// problems and is answered. Default: none.
	Operators []string
	// Files is true when a [FileFetcher] fetches the files of this account's messages.
	// Default: false; other chats of a room are told their names alone.
	Files bool
	// Remember is for how long what people write who wait to be let in is kept, to be answered
	// after that. Default: nothing is kept.
	Remember time.Duration
	// SenderPerMinute is how many messages of one sender may wake agents within a
	// minute; further ones are kept and seen, and wake no agent. Default: no bound.
	SenderPerMinute int
	// Ours are all accounts that are connected, so that a mention of one is known
	// for what it is on another. It must not block. Default: this one alone.
	Ours func() []adapters.BotAccount
	// Notify is told after each record of something new which minds now have
	// something to do. There may be none, and yet a relay to send. It must not
	// block. Default: no call; shell and egress poll.
	Notify func([]spaces.PendingWork)
	// OfServer is told of the space of a chat of a named server, before anything that
	// comes from there is recorded. With an error nothing is. Default: no call.
	OfServer func(ctx context.Context, group string, space spaces.SpaceID) error
	// RestoredUntil is until when what a platform has kept for us counts as dealt with,
	// because the record is a restored one and lacks what became of it. Default: nothing
	// does.
	RestoredUntil time.Time
	// Now tells when something is taken; a replay has its own time. Default: time.Now.
	Now func() time.Time
	// Random is where pairing codes come from. Default: crypto/rand.
	Random io.Reader
	// Logger takes one line a decision. Default: none are written.
	Logger *slog.Logger

	policy access.AdmissionPolicy // made of the above by Reconfigure
}

// NewIngress returns the way in for an account.
func NewIngress(a adapters.BotAccount, m *SpaceMapping, l EventLog, n NoticeStore, p access.PairingStore, o IngressOptions) *Ingress {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	in := &Ingress{
		account: a, mapping: m, log: l, notices: n,
		logger:  o.Logger.With("account", a.Key()),
		hearing: retry.NewWakeSignal(),
	}
	in.guard = access.NewGuard(a.Key(), p, n, in.logger)
	in.Reconfigure(o)
	return in
}

// Reconfigure replaces who may talk, and to whom, for what is taken from now on;
// the logger stays. It may be called while updates are accepted.
func (in *Ingress) Reconfigure(o IngressOptions) {
	o.Admit, o.Name = cmp.Or(o.Admit, access.AdmitPairing), cmp.Or(o.Name, in.account.Platform)
	if o.OfServer == nil {
		o.OfServer = func(context.Context, string, spaces.SpaceID) error { return nil }
	}
	if o.Notify == nil {
		o.Notify = func([]spaces.PendingWork) {}
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.policy = access.AdmissionPolicy{Mode: o.Admit, Entry: o.Name, Allow: o.Allow, Random: o.Random, Remember: o.Remember}
	if o.Commands != nil {
		o.policy.Role = o.Commands.Roles.Role
	}
	before := in.options.Swap(&o)
	if o.Admit == access.AdmitOpen && (before == nil || before.Admit != o.Admit) {
		in.logger.Warn("everybody may talk here", "admit", string(o.Admit))
	}
}

// Accept records a batch. A nil result means that every update of it is
// durable, by this call or an earlier one, or was refused for good, and that the
// cursor is stored, so the platform may forget the batch. Accept may be called
// concurrently; the updates of one chat must arrive in order.
func (in *Ingress) Accept(ctx context.Context, b adapters.UpdateBatch) error {
	if err := failpoint.Point("ingest.received"); err != nil {
		return fmt.Errorf("take batch: %w", err)
	}
	at := in.options.Load().Now()
	in.Alive(at)
	if slices.ContainsFunc(b.Updates, func(u adapters.Update) bool { return !u.Kept }) {
		in.live.Store(&at)
	}
	in.unseal(ctx) // it was written before
	return in.accept(ctx, b, at)
}

// accept is Accept of what the platform need not have delivered just now.
func (in *Ingress) accept(ctx context.Context, b adapters.UpdateBatch, at time.Time) error {
	taken := spaces.IngestBatch{Account: in.account.Key(), At: at, Files: in.options.Load().Files}
	for _, u := range b.Updates {
		u = in.read(u)
		if acts(u) {
			// What came before it must be in the log first: it acts at once.
			if err := in.record(ctx, &taken); err != nil {
				return err
			}
		}
		if err := in.processGuarded(ctx, u, at, &taken); err != nil {
			return fmt.Errorf("take update %s: %w", u.ID, err)
		}
	}
	taken.Cursor = b.Cursor
	return in.record(ctx, &taken)
}

// Alive notes that the platform proved to be there. It never blocks.
func (in *Ingress) Alive(at time.Time) {
	in.heard.Store(&at)
	in.hearing.Set()
}

// LastHeard returns when the platform last proved to be there; zero if never. What
// has passed since is right whatever the clock was set to meanwhile.
func (in *Ingress) LastHeard() time.Time {
	if at := in.heard.Load(); at != nil {
		return *at
	}
	return time.Time{}
}

// lastLive returns when an update last came as it happened, and not by history; zero if
// never.
func (in *Ingress) lastLive() time.Time {
	if at := in.live.Load(); at != nil {
		return *at
	}
	return time.Time{}
}

// read completes an update by what only the bridge knows. Text without a sender cannot
// be admitted: of such a message only the fact that it existed is kept.
func (in *Ingress) read(u adapters.Update) adapters.Update {
	m, said := u.Body.(adapters.IncomingMessage)
	_, edited := u.Body.(adapters.MessageEdit)
	switch {
	case u.From.ID == "" && (said || edited):
		u.Body, u.Raw = adapters.UnreadableUpdate{Kind: bodyName(u.Body), Reason: "it does not say who wrote it"}, nil
	case said && in.isBeforeRestore(u):
		m.ToUs, m.Command = false, nil
		u.Body = m
	case said:
		m.Command = commands.ParseCommand(in.account, m)
		if m.Command == nil && slices.Contains(in.options.Load().Operators, u.Chat.ID) {
			m.Command = commands.ParseAcknowledgement(m.Text)
		}
		u.Body = m
	}
	return u
}

// acts reports whether an update does more than say something: it changes which
// chats there are, or it may be an order to the program.
func acts(u adapters.Update) bool {
	_, picked := u.Body.(adapters.ChoicePicked)
	return u.Chat.ID != "" && changesMap(u.Body) || hasCommand(u) || picked
}

// hasCommand reports whether u is a message that begins with a command.
func hasCommand(u adapters.Update) bool {
	m, ok := u.Body.(adapters.IncomingMessage)
	return ok && m.Command != nil
}

// process admits one update, does what needs no mind, and adds its events-to-be, or
// its refusal, to what is recorded.
func (in *Ingress) process(ctx context.Context, u adapters.Update, at time.Time, taken *spaces.IngestBatch) error {
	if isEcho(in.account, u) {
		in.counters.echoes.Add(1)
		return nil
	}
	if u.Chat.ID == "" {
		u = withoutChat(u)
	}
	_, moved := u.Body.(adapters.ChatMigrated)
	_, ended := u.Body.(adapters.ChatLost)
	if (moved || ended) && u.Chat.ID != "" {
		return in.remap(ctx, u, at)
	}
	if nobodys, err := in.isNobodys(ctx, u); nobodys || err != nil {
		return err
	}
	places, err := in.admit(ctx, u, at)
	if err != nil {
		return err
	}
	if len(places) == 0 {
		in.refused(u, taken)
	}
	if picked, ok := u.Body.(adapters.ChoicePicked); ok {
		if picked.Stop {
			return in.takeStop(ctx, u, picked, places, at)
		}
		in.takeChoice(ctx, u, picked, places, at)
		return nil
	}
	if u.Chat.ID != "" && changesMap(u.Body) {
		return in.remap(ctx, u, at)
	}
	if len(places) == 0 {
		return nil
	}
	if err := in.retryUnreachable(ctx, u, places, at); err != nil {
		return err
	}
	if err := in.runCommand(ctx, u, places, at); err != nil {
		return err
	}
	items := in.items(u, places, at)
	if in.isBeforeRestore(u) {
		past(items)
	}
	taken.Items = append(taken.Items, items...)
	return nil
}

// isBeforeRestore reports whether an update is a message that counts as dealt with. Its words are
// part of the past, see [Ingress.Recall].
func (in *Ingress) isBeforeRestore(u adapters.Update) bool {
	_, said := u.Body.(adapters.IncomingMessage)
	return said && u.Kept && !u.At.IsZero() && u.At.Before(in.options.Load().RestoredUntil)
}

// isNobodys reports whether an update concerns no person: a chat is no longer shown to
// people, and it has no room in which they could be known.
func (in *Ingress) isNobodys(ctx context.Context, u adapters.Update) (bool, error) {
	if left, ok := u.Body.(adapters.PeopleLeft); !ok || !left.Unseen {
		return false, nil
	}
	_, err := in.mapping.Resolve(ctx, in.account.Key(), u.Chat.ID)
	if errors.Is(err, ErrUnmapped) {
		return true, nil
	}
	return false, err
}

// retryUnreachable tries a chat again that was out of reach and from which a message came.
func (in *Ingress) retryUnreachable(ctx context.Context, u adapters.Update, places []spaces.ChatPlacement, at time.Time) error {
	_, said := u.Body.(adapters.IncomingMessage)
	if !said || !slices.ContainsFunc(places, func(p spaces.ChatPlacement) bool { return p.Lost }) {
		return nil
	}
	return in.mapping.RetryUnreachable(ctx, in.account.Key(), u.Chat.ID, at)
}

// ours returns the other accounts of this program.
func (in *Ingress) ours() []adapters.BotAccount {
	if o := in.options.Load(); o.Ours != nil {
		return o.Ours()
	}
	return nil
}

// items returns what an update is in each of its rooms.
func (in *Ingress) items(u adapters.Update, places []spaces.ChatPlacement, at time.Time) []spaces.IngestItem {
	if _, bad := u.Body.(adapters.UnreadableUpdate); bad {
		in.logger.Warn("update is unreadable", "update", u.ID, "chat", u.Chat.ID)
	}
	var items []spaces.IngestItem
	for _, p := range places {
		items = append(items, translate(u, translateContext{
			account: in.account, place: p, agent: in.speaker(p.Space, u.Chat),
			source: source(in.account, u), alike: alike(in.account, u), at: at, ours: in.ours(),
		})...)
	}
	return items
}

// record commits what was taken so far, rings for it and empties it.
func (in *Ingress) record(ctx context.Context, taken *spaces.IngestBatch) error {
	if len(taken.Items) == 0 && len(taken.Refused) == 0 && taken.Cursor == nil {
		return nil
	}
	hushed, undo := in.senders.Throttle(taken.Items, in.options.Load().SenderPerMinute, taken.At)
	done, err := in.log.Record(ctx, *taken)
	if err == nil {
		err = failpoint.Point("ingest.after_commit")
	}
	if err != nil {
		undo()
		return fmt.Errorf("record %d updates: %w", len(taken.Items), err)
	}
	taken.Items, taken.Refused = nil, nil
	in.counters.hushed.Add(int64(hushed))
	in.counters.recorded.Add(int64(done.New))
	if done.Past > 0 {
		in.logger.Info("said before the record was restored, recorded and not answered", "messages", done.Past)
	}
	in.counters.duplicates.Add(int64(done.Duplicates))
	if done.New > 0 {
		in.options.Load().Notify(done.Wakes)
	}
	return nil
}

// changesMap reports whether a body changes which chats there are.
func changesMap(b adapters.UpdateBody) bool {
	switch b.(type) {
	case adapters.ChatMigrated, adapters.ChatGained, adapters.ChatLost:
		return true
	case adapters.IncomingMessage, adapters.MessageEdit, adapters.MessageDeletion, adapters.ReactionChange, adapters.ReactionsCleared, adapters.PeopleJoined, adapters.PeopleLeft,
		adapters.ChatRenamed, adapters.MessagePinned, adapters.MessageUnpinned, adapters.UpdateGap, adapters.UnreadableUpdate, adapters.ChoicePicked:
		return false
	}
	return false
}

// remap carries a change of the map into the directory, which records it too.
func (in *Ingress) remap(ctx context.Context, u adapters.Update, at time.Time) error {
	key := in.account.Key()
	switch b := u.Body.(type) {
	case adapters.ChatMigrated:
		if b.To == "" || b.To == u.Chat.ID {
			return nil
		}
		if err := in.mapping.Migrate(ctx, key, spaces.ChatMove{From: u.Chat.ID, To: b.To, Same: b.Same}, at); err != nil {
			return err
		}
		return in.guard.MoveChat(ctx, u.Chat.ID, b.To)
	case adapters.ChatGained:
		return in.mapping.Live(ctx, key, u.Chat.ID, true, "", at)
	case adapters.ChatLost:
		return in.mapping.Live(ctx, key, u.Chat.ID, false, spaces.TruncateText(b.Reason, spaces.MaxNameBytes), at)
	case adapters.IncomingMessage, adapters.MessageEdit, adapters.MessageDeletion, adapters.ReactionChange, adapters.ReactionsCleared, adapters.PeopleJoined, adapters.PeopleLeft,
		adapters.ChatRenamed, adapters.MessagePinned, adapters.MessageUnpinned, adapters.UpdateGap, adapters.UnreadableUpdate, adapters.ChoicePicked:
	}
	panic("activity: remap of a body that changes no map")
}

// Forget drops cached approvals, so that a revocation counts at once.
func (in *Ingress) Forget() { in.guard.Forget() }

// unsealInterval is how soon what a person wrote is looked at whom another process let in.
const unsealInterval = 2 * time.Second

// Unseal records what people wrote before they were let in.
func (in *Ingress) Unseal(ctx context.Context) error {
	in.unsealing.Lock()
	defer in.unsealing.Unlock()
	at := in.options.Load().Now()
	return in.guard.Unseal(ctx, at, func(b adapters.UpdateBatch) error { return in.accept(ctx, b, at) })
}

// unseal calls Unseal; what fails is tried again by the next call.
func (in *Ingress) unseal(ctx context.Context) {
	if err := in.Unseal(ctx); err != nil && ctx.Err() == nil {
		in.logger.Error("what people wrote before they were let in is not recorded yet", "err", err)
	}
}

// unsealAdmitted calls Unseal until ctx is done.
func (in *Ingress) unsealAdmitted(ctx context.Context) {
	for ctx.Err() == nil {
		adapters.SleepContext(ctx, unsealInterval)
		in.unseal(ctx)
	}
}

// runCommand answers a chat command, without waiting for an agent, and once,
// however often the platform delivers the update.
func (in *Ingress) runCommand(ctx context.Context, u adapters.Update, places []spaces.ChatPlacement, at time.Time) error {
	o := in.options.Load()
	m, _ := u.Body.(adapters.IncomingMessage)
	if o.Commands == nil || m.Command == nil || !commands.ForThisBot(u, m) {
		return nil
	}
	key := source(in.account, u)
	done, err := in.notices.Posted(ctx, key)
	if err != nil || done {
		return err
	}
	answers := in.senders.AllowCommand(access.SenderID{Scope: u.From.Scope, User: u.From.ID}, at)
	if !answers && m.Command.Name != commands.CommandStop { // a stop is obeyed in any case
		return nil
	}
	q := commands.CommandRequest{
		Command: m.Command.Name, Args: m.Command.Args, Who: identity(in.account, u.From), Account: in.account.Key(), Chat: u.Chat.ID,
		Direct: u.Chat.Kind == adapters.Direct, Operators: slices.Contains(o.Operators, u.Chat.ID), At: at,
	}
	if m.ReplyTo != "" {
		q.About = spaces.MessageRef{Account: in.account.Key(), Chat: u.Chat.ID, Message: m.ReplyTo}
	}
	text := o.Commands.RunInSpaces(ctx, q, places, in.logger)
	if !answers || text == "" {
		return nil
	}
	n := spaces.ProcessNotice{
		Key: key, Account: in.account.Key(), Chat: u.Chat.ID, Thread: spaces.ThreadID(u.Thread.ID), Text: text, At: at, Expires: at.Add(answerTTL),
	}
	if commands.ForAskerAlone(m.Command.Name, text) {
		n.To = access.OnlyReader(u)
	}
	if err := in.notices.Post(ctx, n); err != nil {
		return fmt.Errorf("post notice: %w", err)
	}
	return nil
}

// answerTTL is how long the answer to a command may wait to be sent.
const answerTTL = 10 * time.Minute
