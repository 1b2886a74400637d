package activity

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// maxPlaced bounds the placements a mapping remembers; beyond it starts afresh.
const maxPlaced = 4096

// SpaceMapping is the map between chats and spaces, many to many. It caches placements,
// so that a message costs no query; every change of the map goes through it. It is safe
// for concurrent use and may be shared by all accounts.
type SpaceMapping struct {
	directory ChatDirectory
	chats     ChatLister

	mu     sync.Mutex // guards what follows
	placed map[chatKey][]spaces.ChatPlacement
	lost   map[chatKey]time.Time // when a chat was last found to be out of reach
}

type chatKey struct{ account, chat string }

// NewSpaceMapping returns the mapping kept in d, listed by c.
func NewSpaceMapping(d ChatDirectory, c ChatLister) *SpaceMapping {
	return &SpaceMapping{directory: d, chats: c, placed: map[chatKey][]spaces.ChatPlacement{}, lost: map[chatKey]time.Time{}}
}

// Resolve returns where the updates of a chat go, or [ErrUnmapped]. The
// caller must not change the slice. That a chat is unmapped is never
// remembered, because another process may open it.
func (m *SpaceMapping) Resolve(ctx context.Context, account, chat string) ([]spaces.ChatPlacement, error) {
	k := chatKey{account, chat}
	m.mu.Lock()
	places, known := m.placed[k]
	m.mu.Unlock()
	if known {
		return places, nil
	}
	places, err := m.directory.Place(ctx, account, chat)
	switch {
	case err != nil:
		return nil, fmt.Errorf("place chat %s: %w", chat, err)
	case len(places) == 0:
		return nil, ErrUnmapped
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.placed) >= maxPlaced {
		clear(m.placed)
	}
	m.placed[k] = places
	return places, nil
}

// External returns the chats of a space that can be reached, oldest
// first.
func (m *SpaceMapping) External(ctx context.Context, space spaces.SpaceID) ([]spaces.ChatMapping, error) {
	all, err := m.chats.Chats(ctx, "", space)
	if err != nil {
		return nil, fmt.Errorf("chats of %s: %w", space, err)
	}
	return slices.DeleteFunc(all, func(c spaces.ChatMapping) bool { return !c.Live }), nil
}

// Account returns the placements of all chats of an account, each space once.
func (m *SpaceMapping) Account(ctx context.Context, account string) ([]spaces.ChatPlacement, error) {
	all, err := m.chats.Chats(ctx, account, "")
	if err != nil {
		return nil, fmt.Errorf("chats of %s: %w", account, err)
	}
	var places []spaces.ChatPlacement
	for _, c := range all {
		p := spaces.ChatPlacement{Space: c.Space, Object: c.Object}
		if !slices.Contains(places, p) {
			places = append(places, p)
		}
	}
	return places, nil
}

// Own returns the room of the account itself, which no agent sees: it takes what
// is about no chat. It is opened when it is first asked for.
func (m *SpaceMapping) Own(ctx context.Context, account string, at time.Time) (spaces.ChatPlacement, error) {
	places, err := m.Resolve(ctx, account, "")
	if err == nil {
		return places[0], nil
	}
	if !errors.Is(err, ErrUnmapped) {
		return spaces.ChatPlacement{}, err
	}
	return m.Open(ctx, spaces.OpenRequest{
		Name: account, Wake: spaces.WakeNone, Closed: true, At: at,
		Chats: []spaces.ChatMapping{{Account: account, Title: account, Live: true}},
	})
}

// Open makes sure of a space with its chats, as [Directory.Open] does.
func (m *SpaceMapping) Open(ctx context.Context, o spaces.OpenRequest) (spaces.ChatPlacement, error) {
	p, err := m.directory.Open(ctx, o)
	if err != nil {
		return p, fmt.Errorf("open space %q: %w", o.Name, err)
	}
	for _, c := range o.Chats {
		m.forget(c.Account, c.Chat)
	}
	return p, nil
}

// Migrate moves a chat to its new id. A chat that is mapped to nothing, or was
// moved before, is no error.
func (m *SpaceMapping) Migrate(ctx context.Context, account string, to spaces.ChatMove, at time.Time) error {
	err := m.directory.Migrate(ctx, account, to, at)
	m.forget(account, to.From)
	m.forget(account, to.To)
	if err != nil && !errors.Is(err, ErrUnmapped) {
		return fmt.Errorf("migrate chat %s to %s: %w", to.From, to.To, err)
	}
	return nil
}

// Live notes that a chat can or cannot be reached. A chat that is mapped to
// nothing is no error.
func (m *SpaceMapping) Live(ctx context.Context, account, chat string, live bool, reason string, at time.Time) error {
	err := m.directory.Live(ctx, account, chat, live, reason, at)
	m.forget(account, chat)
	m.noteLost(chatKey{account, chat}, !live, at)
	if err != nil && !errors.Is(err, ErrUnmapped) {
		return fmt.Errorf("note chat %s live=%t: %w", chat, live, err)
	}
	return nil
}

// noteLost notes when a chat was found to be out of reach, or that it is not.
func (m *SpaceMapping) noteLost(k chatKey, lost bool, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !lost {
		delete(m.lost, k)
		return
	}
	if len(m.lost) >= maxPlaced {
		clear(m.lost)
	}
	m.lost[k] = at
}

// retryUnreachableAfter is how long a chat that refused us is left alone, whatever is said there.
const retryUnreachableAfter = 10 * time.Minute

// RetryUnreachable notes that a message came from a chat that was out of reach: a right that was
// given back is told by no platform, so that the chat is tried again.
func (m *SpaceMapping) RetryUnreachable(ctx context.Context, account, chat string, at time.Time) error {
	m.mu.Lock()
	since, told := m.lost[chatKey{account, chat}]
	m.mu.Unlock()
	if told && at.Sub(since) < retryUnreachableAfter {
		return nil
	}
	return m.Live(ctx, account, chat, true, "", at)
}

// MarkReachable records that a chat accepted a message: a chat that had refused one before
// is reachable again, without waiting for a person to write there.
func (m *SpaceMapping) MarkReachable(ctx context.Context, account, chat string, at time.Time) error {
	m.mu.Lock()
	_, told := m.lost[chatKey{account, chat}]
	m.mu.Unlock()
	if !told {
		return nil
	}
	return m.Live(ctx, account, chat, true, "", at)
}

// Forget drops what is remembered of placements, for when others have changed
// the map.
func (m *SpaceMapping) Forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.placed)
}

func (m *SpaceMapping) forget(account, chat string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.placed, chatKey{account, chat})
}
