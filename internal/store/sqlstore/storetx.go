package sqlstore

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/trestle-bridge/trestle/internal/money"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

// A writeTx is what all parts of a [storeTx] share: the transaction, what the writer
// has cached of the tables, and the options of the store.
type writeTx struct {
	*engine.WriteTx
	cache *tableCache
	newID func() string
	now   func() time.Time
	idle  time.Duration
	log   *slog.Logger
}

// addToMeta adds to a number in the table meta.
func (t *writeTx) addToMeta(ctx context.Context, name string, n int64) error {
	return t.Run(ctx, addMeta, name, strconv.FormatInt(n, 10))
}

// A storeTx is a write transaction, with one part for each aggregate. It is made once
// for a store and belongs to the goroutine of its writer.
type storeTx struct {
	*writeTx

	branch   *branchTx
	entity   *entityTx
	file     *fileTx
	space    *spaceTx
	thread   *threadTx
	usage    *usageTx
	wait     *waitTx
	inbox    *inboxTx
	event    *eventTx
	fetch    *fetchTx
	inner    *innerTx
	frame    *frameTx
	outbox   *outboxTx
	relay    *relayTx
	span     *spanTx
	stop     *stopTx
	uplink   *uplinkTx
	chat     *chatTx
	cycle    *cycleTx
	recovery *recoveryTx
	room     *roomTx
	claim    *claimTx
	timer    *timerTx
	toolRun  *toolRunTx
}

// newStoreTx joins the parts. A part uses those above it and none below, but for the end
// of a question, which is an edit of a message.
func newStoreTx(t *engine.WriteTx, o Options) *storeTx {
	w := &writeTx{WriteTx: t, cache: newCache(), newID: o.NewID, now: o.Now, idle: o.Idle, log: o.Logger}
	s := &storeTx{writeTx: w}
	s.branch = &branchTx{w}
	s.entity = &entityTx{w}
	s.file = &fileTx{w}
	s.space = &spaceTx{w}
	s.thread = &threadTx{w}
	s.usage = &usageTx{w, s.entity}
	s.wait = &waitTx{w, s.entity, s.space, s.usage, s.editAs}
	s.inbox = &inboxTx{w, s.space}
	s.event = &eventTx{w, s.branch, s.entity, s.file, s.space}
	s.fetch = &fetchTx{w, s.event, s.file}
	s.inner = &innerTx{w, s.branch, s.event}
	s.outbox = &outboxTx{w, s.space, s.thread, s.event, s.wait}
	s.frame = &frameTx{w, s.inner}
	s.relay = &relayTx{w, s.outbox, s.space, s.thread}
	s.span = &spanTx{w, s.branch, s.inner, s.space}
	missions := &missionTx{w, s.outbox}
	s.stop = &stopTx{w, s.outbox, s.wait, missions}
	s.uplink = &uplinkTx{w, s.branch, s.inner, s.space, s.span, s.wait}
	s.chat = &chatTx{w, s.event, s.space, s.span}
	s.cycle = &cycleTx{w, s.branch, s.inner, s.outbox}
	s.recovery = &recoveryTx{w, s.branch, s.span}
	s.room = &roomTx{w, s.branch, s.cycle, s.event, s.space, s.uplink, s.wait, missions}
	s.toolRun = &toolRunTx{w, s.outbox, s.usage}
	s.claim = &claimTx{w, s.branch, s.cycle, s.inbox, s.inner, s.entity, s.outbox, s.space, s.toolRun, s.usage, s.wait, missions}
	s.timer = &timerTx{w, s.claim, s.span, missions}
	return s
}

// Reset implements [engine.TableCache].
func (t *storeTx) Reset() { t.cache.forgetAll() }

// Invalidate implements [engine.TableCache].
func (t *storeTx) Invalidate() { t.cache.forgetShared() }

// Trim implements [engine.TableCache].
func (t *storeTx) Trim() { t.cache.trimToBounds() }

// Flush implements [engine.TableCache]: it writes the heads of branches and the columns
// of spaces that the running write has changed.
func (t *storeTx) Flush(ctx context.Context) error {
	for _, b := range t.cache.movedBranches {
		b.dirty = false
		err := t.Add(ctx, headRows, string(b.Space), string(b.ID), string(b.From), b.ForkSeq, string(b.Head), b.HeadSeq, b.Chain, b.lastAt)
		if err != nil {
			return fmt.Errorf("move head of %s: %w", b.Space, err)
		}
	}
	t.cache.movedBranches = t.cache.movedBranches[:0]
	for _, s := range t.cache.changedSpaces {
		s.dirty = false
		if err := t.Add(ctx, roomRows, string(s.ID), s.AgentRun, s.readers); err != nil {
			return fmt.Errorf("update %s: %w", s.ID, err)
		}
	}
	t.cache.changedSpaces = t.cache.changedSpaces[:0]
	return nil
}

// What every message needs is stored in batches, those that others refer to first.
var (
	eventRows   = engine.NewRowBatch(insertEvent, 0, 0)
	cycleRows   = engine.NewRowBatch(insertCycle, 0, 0)
	inboxRows   = engine.NewRowBatch(insertRow, 0, 0)
	messageRows = engine.NewRowBatch(insertMessage, 0, 0)
	actionRows  = engine.NewRowBatch(insertAction, 0, 0)
	leaseRows   = engine.NewRowBatch(takeLease, 0, 3)
	turnRows    = engine.NewRowBatch(insertTurn, 1, 0)
	stepRows    = engine.NewRowBatch(storeStep, 1, 2)
	usageRows   = engine.NewRowBatch(addUsage, 1, 3)
	senderRows  = engine.NewRowBatch(chargeSender, 1, 2)
	rootRows    = engine.NewRowBatch(chargeRoot, 1, 1)
	headRows    = engine.NewRowBatch(moveHead, 1, 2)
	claimedRows = engine.NewRowBatch(claimRow, 1, 4)
	eatenRows   = engine.NewRowBatch(consumeAll, 2, 1)
	cursorRows  = engine.NewRowBatch(moveCursor, 1, 3)
	roomRows    = engine.NewRowBatch(updateRoom, 1, 1)
	settledRows = engine.NewRowBatch(storeAction, 1, 1)
)

// follow runs do after all writes of the group; see [engine.Tx.Follow].
func (t *storeTx) follow(do writeFunc, then func()) {
	t.Follow(func(ctx context.Context, _ *engine.WriteTx) error { return do(ctx, t) }, then)
}

// maxCached bounds each part of the cache by the number of minds in memory.
const maxCached = 1024

// A tableCache holds rows of the tables. A rollback, or a write of another process,
// clears it.
type tableCache struct {
	branches      map[branchKey]*branchState
	spaces        map[spaces.SpaceID]*spaceState
	identities    map[identityKey]spaces.Entity
	systems       map[string]string // hashes by system text
	kinds         map[spaces.EntityID]spaces.EntityKind
	roles         map[spaces.EntityID]spaces.AuthorityLevel // of entities
	members       map[spaces.SpaceID][]spaces.SpaceMember   // of spaces with few members
	closedCycles  map[spaces.Mind]int64                     // number of the last closed cycle
	accounts      map[spaces.CycleID]usageAccounts          // of open cycles
	handled       map[inboxKey]bool                         // inboxes without a ready row
	manifests     map[string]int64                          // when the use of a manifest was last stored
	recent        recentState                               // forgotten by every write but those of each message
	shownHorizon  *int64                                    // of the table seen; nil if not loaded
	movedBranches []*branchState                            // changed by the running write
	changedSpaces []*spaceState                             // changed by the running write
}

// A recentState is what the writes of messages have stored lately, and the next of them
// would read again: Record, Commit and Settle. Every other write forgets all of it.
type recentState struct {
	ready   map[inboxKey][]tables.InboxEntry        // all ready rows, where it is known
	uplinks map[inboxKey]spaces.Uplink              // of minds in spaces
	senders map[senderKey]money.UsedTokens          // of people on days
	places  map[inboxKey]leaseState                 // free, and awake
	runs    map[spaces.CycleID]runState             // open cycles that this process has opened
	sending map[spaces.ActionID]tables.StoredAction // handed to the egress with their step
}

func newRecentState() recentState {
	return recentState{
		map[inboxKey][]tables.InboxEntry{},
		map[inboxKey]spaces.Uplink{},
		map[senderKey]money.UsedTokens{},
		map[inboxKey]leaseState{},
		map[spaces.CycleID]runState{},
		map[spaces.ActionID]tables.StoredAction{},
	}
}

// A senderKey names a person on a day.
type senderKey struct {
	day int64
	who spaces.EntityID
}

// A runState is an open cycle with its lease, as the table has them.
type runState struct {
	trigger spaces.SpaceID // of the cycle
	task    spaces.TaskRef // that it works for
	turns   int
	ordinal int   // of the next action
	leased  int64 // when the lease was last taken or extended
	ttl     int64 // of the lease
	crashes int   // of processes, since it last committed
	holder  string
	epoch   int64
}

func newCache() *tableCache {
	c := &tableCache{}
	c.forgetAll()
	return c
}

func (c *tableCache) forgetAll() {
	*c = tableCache{
		branches: map[branchKey]*branchState{}, spaces: map[spaces.SpaceID]*spaceState{}, identities: map[identityKey]spaces.Entity{},
		kinds: map[spaces.EntityID]spaces.EntityKind{}, systems: map[string]string{},
		roles: map[spaces.EntityID]spaces.AuthorityLevel{}, members: map[spaces.SpaceID][]spaces.SpaceMember{},
		closedCycles: map[spaces.Mind]int64{}, handled: map[inboxKey]bool{}, accounts: map[spaces.CycleID]usageAccounts{}, manifests: map[string]int64{},
		recent: newRecentState(),
	}
}

// forgetShared forgets what other processes may have changed. Manifests are never
// deleted.
func (c *tableCache) forgetShared() {
	offered := c.manifests
	c.forgetAll()
	c.manifests = offered
}

// forgetMembers forgets roles and members.
func (c *tableCache) forgetMembers() {
	clear(c.roles)
	clear(c.members)
}

// addIdentity caches the entity of an identity.
func (c *tableCache) addIdentity(k identityKey, e spaces.Entity) {
	c.identities[k] = e
	c.kinds[e.ID] = e.Kind
}

// trimToBounds keeps the cache within its bounds. What is not stored yet stays.
func (c *tableCache) trimToBounds() {
	if len(c.movedBranches)+len(c.changedSpaces) > 0 {
		return
	}
	if len(c.branches) > maxCached {
		clear(c.branches)
	}
	if len(c.spaces) > maxCached {
		clear(c.spaces)
	}
	if len(c.systems) > 64 { // long texts, one per agent
		clear(c.systems)
	}
	if len(c.identities) > maxCached || len(c.kinds) > maxCached {
		clear(c.identities)
		clear(c.kinds)
	}
	if len(c.roles) > maxCached || len(c.members) > maxCached {
		c.forgetMembers()
	}
	if len(c.accounts) > maxCached {
		clear(c.accounts)
	}
	if r := &c.recent; max(len(r.ready), len(r.uplinks), len(r.senders), len(r.places), len(r.runs), len(r.sending)) > maxCached {
		c.recent = newRecentState()
	}
	if len(c.manifests) > 64 {
		clear(c.manifests)
	}
	if len(c.closedCycles) > maxCached || len(c.handled) > maxCached {
		clear(c.closedCycles)
		clear(c.handled)
	}
}
