package sqlstore

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	selectSet  engine.QueryText = `select r.id, r.hash, r.size, exists (select 1 from waits w where w.space = s.id and w.state <> 'told') from spaces s join readers r on r.id = s.readers where s.id = $1`
	updateRoom engine.QueryText = `update spaces set agent_run = r.run, readers = r.readers
from (select cast($1 as text) as id, cast($2 as bigint) as run, cast($3 as bigint) as readers) r where spaces.id = r.id`

	// openChats !openChats selects the chats that can be reached; if there is none, all
	// of them: then each platform returns why not, and the agent is told.
	openChats engine.QueryText = `select account, chat, live, relay from mappings where space = $1
  and (live = 1 or not exists (select 1 from mappings m where m.space = $1 and m.live = 1)) order by n`
)

// A spaceState is a cached space with what its events change.
type spaceState struct {
	spaces.Space
	readers     int64 // current set of readers; 0 is the empty one
	readersHash setHash
	readersSize int
	minds       []spaces.Mind // with a live uplink
	chats       []chatState   // targets of messages
	members     map[spaces.EntityID]bool
	hasWaits    bool      // an agent waits for a reply
	checkAt     time.Time // when its spans may be due for a checkpoint; zero until looked at
	dirty       bool
}

// A chatState is a chat of a space on one account.
type chatState struct {
	account, id string
	live        bool
	relay       bool // messages of people are copied from and to it
}

// reachable reports whether any chat of the space can be reached.
func (r *spaceState) reachable() bool {
	return slices.ContainsFunc(r.chats, func(c chatState) bool { return c.live })
}

// A spaceTx loads spaces with their agents and chats.
type spaceTx struct {
	*writeTx
}

// load returns a space; nil if there is none.
func (t *spaceTx) load(ctx context.Context, id spaces.SpaceID) (*spaceState, error) {
	if r, ok := t.cache.spaces[id]; ok {
		return r, nil
	}
	s, found, err := tables.SpaceByID(ctx, t, id)
	if err != nil || !found {
		return nil, err
	}
	r := &spaceState{Space: s, members: map[spaces.EntityID]bool{}}
	if err := t.loadState(ctx, r); err != nil {
		return nil, fmt.Errorf("read %s: %w", id, err)
	}
	t.cache.spaces[id] = r
	return r, nil
}

func (t *spaceTx) loadState(ctx context.Context, r *spaceState) error {
	if _, err := engine.ScanRow(ctx, t, selectSet, []any{string(r.ID)}, &r.readers, &r.readersHash, &r.readersSize, &r.hasWaits); err != nil {
		return err
	}
	return t.reloadChats(ctx, r)
}

// reloadChats reloads the uplinked minds and the chats of a space.
func (t *spaceTx) reloadChats(ctx context.Context, r *spaceState) (err error) {
	key := []any{string(r.ID)}
	if r.minds, err = engine.AllRows(ctx, t, tables.LiveMinds, key, tables.ScanMind); err != nil {
		return err
	}
	r.chats, err = engine.AllRows(ctx, t, openChats, key, func(row engine.ResultRow) (c chatState, err error) {
		return c, row.Scan(&c.account, &c.id, &c.live, &c.relay)
	})
	return err
}

// markDirty marks the columns of a space to be written by Flush.
func (t *spaceTx) markDirty(r *spaceState) {
	if !r.dirty {
		r.dirty = true
		t.cache.changedSpaces = append(t.cache.changedSpaces, r)
	}
}

const (
	insertMember engine.QueryText = `insert into members (space, entity, since) values ($1, $2, $3) on conflict (space, entity) do nothing`
	deleteMember engine.QueryText = `delete from members where space = $1 and entity = $2`
	findSet      engine.QueryText = `select id from readers where space = $1 and hash = $2`
	insertSet    engine.QueryText = `insert into readers (space, hash, base, entity, added, size) values ($1, $2, $3, $4, $5, $6) returning id`

	selectPresent engine.QueryText = `select i.platform, i.scope, i.user_id from members m join identities i on i.entity = m.entity where m.space = $1`
)

// A setHash identifies a set of entities in any order: the exclusive or of the hashes of
// its members. The store creates entity ids, so that no one can choose them to make two
// sets equal.
type setHash [sha256.Size]byte

// Scan implements sql.Scanner.
func (h *setHash) Scan(v any) error {
	copy(h[:], v.([]byte))
	return nil
}

// toggle returns the set with id added or removed.
func (h *setHash) toggle(id spaces.EntityID) setHash {
	other := *h
	for i, b := range sha256.Sum256([]byte(id)) {
		other[i] ^= b
	}
	return other
}

// foldMembers keeps the table of members equal to the fold of the events
// ([spaces.Members]), and updates the set of readers.
func (t *spaceTx) foldMembers(ctx context.Context, r *spaceState, body spaces.EventBody, actor spaces.EntityID, seq int64) error {
	if b, ok := body.(spaces.MessagePosted); ok && actor != "" && !b.Past {
		return t.addMember(ctx, r, actor, seq)
	}
	if b, ok := body.(spaces.MemberJoined); ok {
		return t.addMember(ctx, r, b.Who, seq)
	}
	if b, ok := body.(spaces.MemberLeft); ok {
		return t.removeMember(ctx, r, b.Who)
	}
	return nil // other bodies change no members
}

// maxKnown bounds the cached members of a space.
const maxKnown = 4096

func (t *spaceTx) addMember(ctx context.Context, r *spaceState, who spaces.EntityID, seq int64) error {
	if r.members[who] {
		return nil
	}
	n, err := t.Exec(ctx, insertMember, string(r.ID), string(who), seq)
	if err != nil {
		return fmt.Errorf("add member %s to %s: %w", who, r.ID, err)
	}
	if len(r.members) < maxKnown {
		r.members[who] = true
	}
	if n == 0 {
		return nil
	}
	delete(t.cache.members, r.ID)
	return t.updateReaders(ctx, r, who, true)
}

func (t *spaceTx) removeMember(ctx context.Context, r *spaceState, who spaces.EntityID) error {
	delete(r.members, who)
	delete(t.cache.members, r.ID)
	n, err := t.Exec(ctx, deleteMember, string(r.ID), string(who))
	if err != nil || n == 0 {
		return err
	}
	return t.updateReaders(ctx, r, who, false)
}

// updateReaders changes the set of readers of a space by one entity. The same set has
// the same number.
func (t *spaceTx) updateReaders(ctx context.Context, r *spaceState, who spaces.EntityID, added bool) error {
	next, size := r.readersHash.toggle(who), r.readersSize+1
	if !added {
		size = r.readersSize - 1
	}
	t.markDirty(r)
	if size == 0 {
		r.readers, r.readersHash, r.readersSize = 0, setHash{}, 0
		return nil
	}
	var id int64
	found, err := engine.ScanRow(ctx, t, findSet, []any{string(r.ID), next[:]}, &id)
	if err == nil && !found {
		_, err = engine.ScanRow(ctx, t, insertSet, []any{string(r.ID), next[:], r.readers, string(who), added, size}, &id)
	}
	if err != nil {
		return fmt.Errorf("store readers of %s: %w", r.ID, err)
	}
	r.readers, r.readersHash, r.readersSize = id, next, size
	return nil
}

// filterPresent returns the people who are members of a space, in their order.
func (t *spaceTx) filterPresent(ctx context.Context, space spaces.SpaceID, who []spaces.PlatformIdentity) ([]spaces.PlatformIdentity, error) {
	here := map[identityKey]bool{}
	err := engine.EachRow(ctx, t, selectPresent, []any{string(space)}, func(row engine.ResultRow) error {
		var k identityKey
		err := row.Scan(&k.platform, &k.scope, &k.user)
		here[k] = true
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read who is in %s: %w", space, err)
	}
	return slices.DeleteFunc(slices.Clone(who), func(i spaces.PlatformIdentity) bool { return !here[identityKeyOf(i)] }), nil
}
