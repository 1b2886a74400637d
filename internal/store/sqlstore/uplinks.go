package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	uplinkColumns engine.Query = `agent, circle, space, cursor, cursor_id, live, muted, opened_at, fresh, fresh_at, erased`
	selectUplink  engine.Query = `select ` + uplinkColumns + ` from uplinks where agent = $1 and circle = $2 and space = $3`
	headedColumns engine.Query = uplinkColumns + `, (select head_seq from branches b where b.space = uplinks.space and b.id = 'main')`
	uplinksOf     engine.Query = `select ` + headedColumns + ` from uplinks where agent = $1 and circle = $2 order by n`
	// The rooms that somebody is in are few; those of an agent may be all there are.
	// The order of a cross join is the order in which they are gone through.
	uplinksAcross engine.Query = `select ` + headedColumns + `
from (select m.space as shared from members m where m.entity = $3) s cross join uplinks
where uplinks.space = s.shared and agent = $1 and circle <> $2 and live = 1 order by n desc limit $4 + 0`
	insertUplink engine.Query = `insert into uplinks (agent, circle, space, cursor, cursor_id, erased, live, opened_at, n)
values ($1, $2, $3, $4, $5, $4, 1, $6, (select coalesce(max(n), 0) + 1 from uplinks where agent = $1))
on conflict (agent, circle, space) do update set live = 1, cursor = excluded.cursor, cursor_id = excluded.cursor_id where uplinks.live = 0`
	endUplink    engine.Query = `update uplinks set live = 0 where agent = $1 and circle = $2 and space = $3`
	renewUplinks engine.Query = `update uplinks set fresh = $2, fresh_at = $3 where space = $1 and live = 1`
	unlikeMuted  engine.Query = `select agent from uplinks where space = $1 and live = 1 and ($2 = '' or agent = $2) and muted <> $3 order by agent`
	muteUplinks  engine.Query = `update uplinks set muted = $3 where space = $1 and live = 1 and ($2 = '' or agent = $2)`
	moveCursor   engine.Query = `update uplinks set cursor = $4, cursor_id = $5, erased = $4 where agent = $1 and circle = $2 and space = $3 and cursor < $4`
)

func uplinkFields(u *spaces.Uplink) []any {
	return []any{&u.Mind.Agent, &u.Mind.Circle, &u.Space, &u.Cursor, &u.CursorID, &u.Live, &u.Muted, engine.ScanTime(&u.OpenedAt), &u.Fresh, engine.ScanTime(&u.FreshAt), &u.Erased}
}

func scanUplink(r engine.Row) (u spaces.Uplink, err error) { return u, r.Scan(uplinkFields(&u)...) }

// scanHeaded reads an uplink with the head of its space.
func scanHeaded(r engine.Row) (u spaces.Uplink, err error) {
	return u, r.Scan(append(uplinkFields(&u), &u.Head)...)
}

// uplinkOf reads the uplink of a mind to a room, zero when there is none.
func uplinkOf(ctx context.Context, src engine.Reader, m spaces.Mind, space spaces.SpaceID) (u spaces.Uplink, err error) {
	_, err = engine.ScanRow(ctx, src, selectUplink, []any{string(m.Agent), string(m.Circle), string(space)}, uplinkFields(&u)...)
	return u, err
}

// An uplinkTx connects minds to spaces.
type uplinkTx struct {
	*writeTx
	branch *branchTx
	inner  *innerTx
	space  *spaceTx
	span   *spanTx
	wait   *waitTx
}

// uplink connects a mind to a room from now on: what was said before is no news
// to it, and what was deleted while it was away is still to be taken from it. An uplink
// that is there stays as it is.
func (t *uplinkTx) connect(ctx context.Context, m spaces.Mind, r *spaceState, at time.Time) error {
	if err := t.inner.ensureMind(ctx, m, at); err != nil {
		return err
	}
	l, err := t.branch.load(ctx, r.ID, spaces.Primary)
	if err != nil {
		return err
	}
	n, err := t.Exec(ctx, insertUplink, string(m.Agent), string(m.Circle), string(r.ID), l.HeadSeq, string(l.Head), engine.ToMillis(at))
	if err != nil {
		return fmt.Errorf("uplink %s to %s: %w", m, r.ID, err)
	}
	if n == 0 {
		return nil
	}
	if err := t.space.reloadChats(ctx, r); err != nil {
		return err
	}
	return t.span.open(ctx, m, r.ID, spanMark{seq: l.HeadSeq + 1}, spaces.SpanLinked, at)
}

// unlink ends the uplink of a mind for good.
func (t *uplinkTx) disconnect(ctx context.Context, m spaces.Mind, r *spaceState, at time.Time) error {
	l, err := t.branch.load(ctx, r.ID, spaces.Primary)
	if err != nil {
		return err
	}
	if err := t.span.closeOf(ctx, m, r.ID, spanMark{l.HeadSeq, l.Head}, spaces.SpanUnlinked, at); err != nil {
		return err
	}
	if err := t.Run(ctx, endUplink, string(m.Agent), string(m.Circle), string(r.ID)); err != nil {
		return fmt.Errorf("unlink %s from %s: %w", m, r.ID, err)
	}
	if _, err := t.wait.dropInSpace(ctx, r.ID, m.Agent); err != nil {
		return err
	}
	return t.space.reloadChats(ctx, r)
}

// Uplinks implements [shell.Record].
func (s AgentStore) Uplinks(ctx context.Context, m spaces.Mind) ([]spaces.Uplink, error) {
	out, err := engine.AllRows(ctx, s.s.engine, uplinksOf, []any{string(m.Agent), string(m.Circle)}, scanHeaded)
	if err != nil {
		return nil, fmt.Errorf("read uplinks of %s: %w", m, err)
	}
	return out, nil
}

// Across implements [shell.Record].
func (s AgentStore) Across(ctx context.Context, m spaces.Mind, who spaces.EntityID, limit int) ([]spaces.Uplink, error) {
	out, err := engine.AllRows(ctx, s.s.engine, uplinksAcross, []any{string(m.Agent), string(m.Circle), string(who), limit}, scanHeaded)
	if err != nil {
		return nil, fmt.Errorf("read rooms that %s shares with %s: %w", m.Agent, who, err)
	}
	return out, nil
}

// Renew has every mind of a room begin afresh there: what stands in its log until
// now is shown only when it is looked up. Nothing is deleted.
func (s AgentStore) Renew(ctx context.Context, space spaces.SpaceID, at time.Time) error {
	err := s.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		l, err := t.branch.load(ctx, space, spaces.Primary)
		if err != nil {
			return err
		}
		if l == nil {
			return engine.ErrUnknown
		}
		return t.Run(ctx, renewUplinks, string(space), l.HeadSeq, engine.ToMillis(at))
	})
	if err != nil {
		return fmt.Errorf("renew %s: %w", space, err)
	}
	return nil
}

// Mute has agents of a room be silent there, or lifts it, and returns those for whom
// that is new.
func (s AgentStore) Mute(ctx context.Context, m spaces.MuteRequest) (changed []spaces.AgentID, err error) {
	muted := 1
	if m.Lifted {
		muted = 0
	}
	key := []any{string(m.Space), string(m.Agent), muted}
	err = s.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		if changed, err = engine.AllRows(ctx, t, unlikeMuted, key, engine.ScanValue[spaces.AgentID]); err != nil {
			return err
		}
		return t.Run(ctx, muteUplinks, key...)
	})
	if err != nil {
		return nil, fmt.Errorf("mute in %s: %w", m.Space, err)
	}
	return changed, nil
}
