package sqlstore

import (
	"context"
	"fmt"

	"github.com/trestle-bridge/trestle/activity/commands"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

// maxLinked is how many accounts of a person are looked up.
const maxLinked = 8

const (
	// linkedTo has the other accounts of the person whom an account is of.
	linkedTo engine.QueryText = `select l.entity from person_links p join person_links l on l.person = p.person
where p.entity = $1 and l.entity <> $1 order by l.entity limit $2 + 0`
	personOfLink   engine.QueryText = `select person from person_links where entity = $1`
	upsertLink     engine.QueryText = `insert into person_links (entity, person) values ($1, $2) on conflict (entity) do update set person = excluded.person`
	joinPersons    engine.QueryText = `update person_links set person = $2 where person = $1`
	deleteLink     engine.QueryText = `delete from person_links where entity = $1`
	insertLinkCode engine.QueryText = `insert into link_codes (code, entity, account, chat, shown, expires) values ($1, $2, $3, $4, '', $5)`
	selectLinkCode engine.QueryText = `select entity, account, chat, shown, expires from link_codes where code = $1 and expires > $2`
	showLinkCode   engine.QueryText = `update link_codes set shown = $2 where code = $1`
	deleteLinkCode engine.QueryText = `delete from link_codes where code = $1`
	dropLinkCodes  engine.QueryText = `delete from link_codes where entity = $1`
)

// A LinkStore stores which accounts on platforms are one person's, as people say in chats.
type LinkStore struct{ s *Store }

var _ commands.LinkStore = LinkStore{}

// BeginLink implements [commands.LinkStore].
func (l LinkStore) BeginLink(ctx context.Context, c spaces.LinkCode) error {
	err := l.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		who, err := t.entity.resolve(ctx, c.Of)
		if err != nil {
			return err
		}
		if err := t.Run(ctx, dropLinkCodes, string(who)); err != nil {
			return err
		}
		return t.Run(ctx, insertLinkCode, c.Code, string(who), c.Account, c.Chat, engine.ToMillis(c.Expires))
	})
	if err != nil {
		return fmt.Errorf("store code that links accounts: %w", err)
	}
	return nil
}

// TakeLink implements [commands.LinkStore].
func (l LinkStore) TakeLink(ctx context.Context, step spaces.LinkStep) (c spaces.LinkCode, ok bool, err error) {
	err = l.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		c, ok, err = takeLink(ctx, t, step)
		return err
	})
	if err != nil {
		return spaces.LinkCode{}, false, fmt.Errorf("link accounts: %w", err)
	}
	return c, ok, nil
}

func takeLink(ctx context.Context, t *storeTx, step spaces.LinkStep) (c spaces.LinkCode, ok bool, err error) {
	c.Code = step.Code
	var of, shown spaces.EntityID
	var expires int64
	found, err := engine.ScanRow(ctx, t, selectLinkCode, []any{c.Code, engine.ToMillis(step.At)}, &of, &c.Account, &c.Chat, &shown, &expires)
	if err != nil || !found {
		return c, false, err
	}
	c.Expires = engine.FromMillis(expires)
	all, err := identitiesOfEntity(ctx, t, of)
	if err != nil || len(all) == 0 {
		return c, false, err
	}
	c.Of = all[0]
	if step.Do == spaces.VoidLink {
		return c, true, t.Run(ctx, deleteLinkCode, c.Code)
	}
	by, err := t.entity.resolve(ctx, step.By)
	switch {
	case err != nil:
		return c, false, err
	case step.Do == spaces.ShowLink:
		return c, true, t.Run(ctx, showLinkCode, c.Code, string(by))
	case by == of || by != shown:
		return c, false, nil
	}
	if err := t.Run(ctx, deleteLinkCode, c.Code); err != nil {
		return c, false, err
	}
	return c, true, joinAccounts(ctx, t, of, by)
}

// joinAccounts makes one person of two accounts and of those that each is linked to.
func joinAccounts(ctx context.Context, t *storeTx, a, b spaces.EntityID) error {
	var first, second string
	if _, err := engine.ScanRow(ctx, t, personOfLink, []any{string(a)}, &first); err != nil {
		return err
	}
	if _, err := engine.ScanRow(ctx, t, personOfLink, []any{string(b)}, &second); err != nil {
		return err
	}
	switch {
	case first == "" && second == "":
		first = t.newID()
	case first == "":
		first = second
	case second != "" && second != first:
		if err := t.Run(ctx, joinPersons, second, first); err != nil {
			return err
		}
	}
	if err := t.Run(ctx, upsertLink, string(a), first); err != nil {
		return err
	}
	return t.Run(ctx, upsertLink, string(b), first)
}

// Unlink implements [commands.LinkStore].
func (l LinkStore) Unlink(ctx context.Context, who spaces.PlatformIdentity) (unlinked bool, err error) {
	err = l.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		id, err := t.entity.resolve(ctx, who)
		if err != nil {
			return err
		}
		n, err := t.Exec(ctx, deleteLink, string(id))
		unlinked = n > 0
		return err
	})
	if err != nil {
		return false, fmt.Errorf("unlink account: %w", err)
	}
	return unlinked, nil
}

// Linked implements [commands.LinkStore].
func (l LinkStore) Linked(ctx context.Context, who spaces.PlatformIdentity) (out []spaces.PlatformIdentity, err error) {
	id, err := ToolRunStore(l).PersonOf(ctx, who)
	if err != nil || id == "" {
		return nil, err
	}
	others, err := l.LinkedTo(ctx, id)
	for i := 0; err == nil && i < len(others); i++ {
		var all []spaces.PlatformIdentity
		all, err = l.Identities(ctx, others[i])
		out = append(out, all...)
	}
	return out, err
}

// LinkedTo returns the other entities that people said are the same person, at most 8.
func (l LinkStore) LinkedTo(ctx context.Context, who spaces.EntityID) ([]spaces.EntityID, error) {
	all, err := engine.AllRows(ctx, l.s.engine, linkedTo, []any{string(who), maxLinked}, func(r engine.ResultRow) (id spaces.EntityID, err error) {
		return id, r.Scan(&id)
	})
	if err != nil {
		return nil, fmt.Errorf("read linked accounts: %w", err)
	}
	return all, nil
}

// Identities returns the accounts on platforms of an entity.
func (l LinkStore) Identities(ctx context.Context, who spaces.EntityID) ([]spaces.PlatformIdentity, error) {
	return identitiesOfEntity(ctx, l.s.engine, who)
}

func identitiesOfEntity(ctx context.Context, src engine.QueryReader, who spaces.EntityID) ([]spaces.PlatformIdentity, error) {
	return engine.AllRows(ctx, src, identitiesOf, []any{string(who)}, func(r engine.ResultRow) (i spaces.PlatformIdentity, err error) {
		return i, r.Scan(&i.Platform, &i.Scope, &i.User, &i.Kind, &i.Name, &i.Handle)
	})
}
