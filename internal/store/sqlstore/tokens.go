package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/engine"
)

const (
	keyColumns engine.QueryText = `id, kind, name, hash, parent, person, created, expires, used`
	insertKey  engine.QueryText = `insert into keys (` + keyColumns + `) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`
	dropStale  engine.QueryText = `delete from keys where expires > 0 and expires < $1`
	keyByHash  engine.QueryText = `select ` + keyColumns + ` from keys where hash = $1`
	keyByID    engine.QueryText = `select ` + keyColumns + ` from keys where id = $1`
	keysOfKind engine.QueryText = `select ` + keyColumns + ` from keys where kind = $1 order by created, id`
	useKey     engine.QueryText = `update keys set used = $2 where id = $1 and (kind <> 'link' or used = 0)`
	dropKey    engine.QueryText = `delete from keys where id = $1`
	dropBelow  engine.QueryText = `delete from keys where parent = $1`
)

// A TokenStore stores the keys of the console.
type TokenStore struct{ s *Store }

var _ console.Keys = TokenStore{}

// Keys returns the store of console keys. It needs no Close.
func (s *Store) Keys() TokenStore { return TokenStore{s} }

func scanKey(r engine.ResultRow) (k console.Key, err error) {
	var person string
	if err := r.Scan(&k.ID, &k.Kind, &k.Name, &k.Hash, &k.Parent, &person, engine.ScanTime(&k.Created), engine.ScanTime(&k.Expires), engine.ScanTime(&k.Used)); err != nil || person == "" {
		return k, err
	}
	k.Person = &console.PersonAccess{}
	return k, json.Unmarshal([]byte(person), k.Person)
}

// AddKey implements [console.Keys]. It also deletes expired keys.
func (k TokenStore) AddKey(ctx context.Context, n console.Key) error {
	var person string
	if n.Person != nil {
		text, err := json.Marshal(n.Person)
		if err != nil {
			return fmt.Errorf("encode whose rooms a key opens: %w", err)
		}
		person = string(text)
	}
	err := k.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		if err := t.Run(ctx, dropStale, engine.ToMillis(n.Created)); err != nil {
			return err
		}
		return t.Run(ctx, insertKey, n.ID, string(n.Kind), n.Name, n.Hash, n.Parent, person, engine.ToMillis(n.Created), engine.ToMillis(n.Expires), engine.ToMillis(n.Used))
	})
	if err != nil {
		return fmt.Errorf("add key: %w", err)
	}
	return nil
}

// KeyByHash implements [console.Keys].
func (k TokenStore) KeyByHash(ctx context.Context, hash string) (console.Key, error) {
	return k.one(ctx, keyByHash, hash)
}

// KeyByID implements [console.Keys].
func (k TokenStore) KeyByID(ctx context.Context, id string) (console.Key, error) {
	return k.one(ctx, keyByID, id)
}

func (k TokenStore) one(ctx context.Context, q engine.QueryText, arg string) (console.Key, error) {
	found, err := engine.FirstRow(ctx, k.s.engine, q, []any{arg}, scanKey)
	if err != nil {
		return console.Key{}, fmt.Errorf("read key: %w", err)
	}
	if found == nil {
		return console.Key{}, console.ErrUnknown
	}
	return *found, nil
}

// UseKey implements [console.Keys].
func (k TokenStore) UseKey(ctx context.Context, id string, at time.Time) error {
	err := k.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		n, err := t.Exec(ctx, useKey, id, engine.ToMillis(at))
		if err == nil && n == 0 {
			return console.ErrSpent
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("use key %s: %w", id, err)
	}
	return nil
}

// DropKey implements [console.Keys].
func (k TokenStore) DropKey(ctx context.Context, id string) error {
	err := k.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		n, err := t.Exec(ctx, dropKey, id)
		if err == nil && n == 0 {
			return console.ErrUnknown
		}
		if err != nil {
			return err
		}
		return t.Run(ctx, dropBelow, id)
	})
	if err != nil {
		return fmt.Errorf("drop key %s: %w", id, err)
	}
	return nil
}

// ListKeys implements [console.Keys].
func (k TokenStore) ListKeys(ctx context.Context, kind console.KeyKind) ([]console.Key, error) {
	found, err := engine.AllRows(ctx, k.s.engine, keysOfKind, []any{string(kind)}, scanKey)
	if err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	return found, nil
}
