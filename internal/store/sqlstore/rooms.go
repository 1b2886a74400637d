package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	selectSpace engine.Query = `select id, kind, name, circle, wake, direct, closed, case when config_key is null then 0 else 1 end, agent_run, created_at from spaces where id = $1`
	selectSet   engine.Query = `select r.id, r.hash, r.size, exists (select 1 from waits w where w.space = s.id and w.state <> 'told') from spaces s join readers r on r.id = s.readers where s.id = $1`
	updateRoom  engine.Query = `update spaces set agent_run = $2, readers = $3 where id = $1`
	liveMinds   engine.Query = `select agent, circle from uplinks where space = $1 and live = 1 order by agent, n`
	// openChats are the chats that can be reached; when none can, all of them: then
	// each platform says why not, and the agent is told.
	openChats engine.Query = `select account, chat, live, relay from mappings where space = $1
  and (live = 1 or not exists (select 1 from mappings m where m.space = $1 and m.live = 1)) order by n`
)

// A spaceState is a space as the writer has it, with what an event there touches.
type spaceState struct {
	spaces.Space
	readers     int64 // the set that can read it now; 0 is the empty one
	readersHash setHash
	readersSize int
	minds       []spaces.Mind // with a live uplink
	chats       []chatState   // where what is said here goes
	members     map[spaces.EntityID]bool
	hasWaits    bool      // some agent waits here for an answer
	checkAt     time.Time // when its spans may be due for a checkpoint; zero until looked at
	dirty       bool
}

// A chatState is one conversation on one account.
type chatState struct {
	account, id string
	live        bool
	relay       bool // people's words travel from and to it
}

// reachable reports whether any of the room's chats can be reached.
func (r *spaceState) reachable() bool {
	return slices.ContainsFunc(r.chats, func(c chatState) bool { return c.live })
}

// A spaceTx loads spaces with their agents and chats.
type spaceTx struct {
	*writeTx
}

// room returns a space, or nil when there is none.
func (t *spaceTx) load(ctx context.Context, id spaces.SpaceID) (*spaceState, error) {
	if r, ok := t.cache.spaces[id]; ok {
		return r, nil
	}
	s, found, err := spaceOf(ctx, t, id)
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

// relist reads again who is uplinked to the room and which chats it has.
func (t *spaceTx) reloadChats(ctx context.Context, r *spaceState) (err error) {
	key := []any{string(r.ID)}
	if r.minds, err = engine.AllRows(ctx, t, liveMinds, key, scanMind); err != nil {
		return err
	}
	r.chats, err = engine.AllRows(ctx, t, openChats, key, func(row engine.Row) (c chatState, err error) {
		return c, row.Scan(&c.account, &c.id, &c.live, &c.relay)
	})
	return err
}

func scanMind(r engine.Row) (m spaces.Mind, err error) { return m, r.Scan(&m.Agent, &m.Circle) }

// touch has the room's own columns written at the end of the job.
func (t *spaceTx) markDirty(r *spaceState) {
	if !r.dirty {
		r.dirty = true
		t.cache.changedSpaces = append(t.cache.changedSpaces, r)
	}
}

// spaceOf reads a space.
func spaceOf(ctx context.Context, src engine.Reader, id spaces.SpaceID) (s spaces.Space, found bool, err error) {
	found, err = engine.ScanRow(ctx, src, selectSpace, []any{string(id)},
		&s.ID, &s.Kind, &s.Name, &s.Circle, &s.Wake, &s.Direct, &s.Closed, &s.Configured, &s.AgentRun, engine.ScanTime(&s.CreatedAt))
	return s, found, err
}
