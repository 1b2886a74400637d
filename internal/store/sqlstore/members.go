package sqlstore

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	insertMember engine.Query = `insert into members (space, entity, since) values ($1, $2, $3) on conflict (space, entity) do nothing`
	deleteMember engine.Query = `delete from members where space = $1 and entity = $2`
	findSet      engine.Query = `select id from readers where space = $1 and hash = $2`
	insertSet    engine.Query = `insert into readers (space, hash, base, entity, added, size) values ($1, $2, $3, $4, $5, $6) returning id`
	selectMember engine.Query = `select m.entity, coalesce(e.kind, ''), coalesce(e.name, ''), coalesce(e.handle, ''), m.since
from members m left join entities e on e.id = m.entity where m.space = $1 order by m.since, m.entity limit $2 + 0`
	selectPresent engine.Query = `select i.platform, i.scope, i.user_id from members m join identities i on i.entity = m.entity where m.space = $1`
)

// A setHash identifies a set of entities, in no order: the exclusive or of the
// hashes of its members. Entity ids are minted here, so nobody can choose them
// to make two sets alike.
type setHash [sha256.Size]byte

// Scan implements sql.Scanner.
func (h *setHash) Scan(v any) error {
	copy(h[:], v.([]byte))
	return nil
}

// toggle returns the set with id, or without it when it has it.
func (h *setHash) toggle(id spaces.EntityID) setHash {
	other := *h
	for i, b := range sha256.Sum256([]byte(id)) {
		other[i] ^= b
	}
	return other
}

// fold keeps the members table equal to the fold of the room's events
// ([spaces.Members]), and the set of readers with it.
func (t *spaceTx) foldMembers(ctx context.Context, r *spaceState, body spaces.Body, actor spaces.EntityID, seq int64) error {
	if b, ok := body.(spaces.Said); ok && actor != "" && !b.Past {
		return t.addMember(ctx, r, actor, seq)
	}
	if b, ok := body.(spaces.Joined); ok {
		return t.addMember(ctx, r, b.Who, seq)
	}
	if b, ok := body.(spaces.Left); ok {
		return t.removeMember(ctx, r, b.Who)
	}
	return nil // every other body leaves the members alone
}

// maxKnown is how many members of a room are kept in memory.
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

// readersNow gives the room the set it had, with who added or removed. The same
// set keeps its number.
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
		return fmt.Errorf("number readers of %s: %w", r.ID, err)
	}
	r.readers, r.readersHash, r.readersSize = id, next, size
	return nil
}

// noLimit is the limit of a list that has none.
const noLimit = math.MaxInt32

// membersOf reads the first members of a space, those longest there first.
func membersOf(ctx context.Context, src engine.Reader, space spaces.SpaceID, limit int) ([]spaces.Member, error) {
	return engine.AllRows(ctx, src, selectMember, []any{string(space), limit}, func(row engine.Row) (m spaces.Member, err error) {
		return m, row.Scan(&m.ID, &m.Kind, &m.Name, &m.Handle, &m.Since)
	})
}

// among returns those of the people who are members of a space, in their order.
func (t *spaceTx) filterPresent(ctx context.Context, space spaces.SpaceID, who []spaces.Identity) ([]spaces.Identity, error) {
	here := map[identityKey]bool{}
	err := engine.EachRow(ctx, t, selectPresent, []any{string(space)}, func(row engine.Row) error {
		var k identityKey
		err := row.Scan(&k.platform, &k.scope, &k.user)
		here[k] = true
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read who is in %s: %w", space, err)
	}
	return slices.DeleteFunc(slices.Clone(who), func(i spaces.Identity) bool { return !here[identityKeyOf(i)] }), nil
}
