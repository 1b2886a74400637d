// Package inproc sends notifications and fans out live events within one process.
//
// It promises what [pubsub] says with two bounds: a listener holds one ring,
// and a stream holds at most as many events as it was opened for. Nothing here
// blocks the one who rings or publishes, and nothing runs in the background.
//
// It knows nothing of what its keys and events mean.
package inproc

import (
	"maps"
	"slices"
	"sync"

	"github.com/trestle-bridge/trestle/internal/pubsub"
)

// LocalNotifier sends notifications in this process. The zero Notifier is ready; calls may overlap.
type LocalNotifier struct {
	mu        sync.Mutex // guards listeners
	listeners map[string][]chan struct{}
}

var (
	_ pubsub.Notifier   = (*LocalNotifier)(nil)
	_ pubsub.Subscriber = (*LocalNotifier)(nil)
)

// Ring wakes every listener of key that has not been rung already.
func (b *LocalNotifier) Ring(key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, rings := range b.listeners[key] {
		select {
		case rings <- struct{}{}:
		default: // an earlier ring is still unanswered
		}
	}
}

// RingAll notifies every key with a subscriber: notifications of other processes may
// have been lost.
func (b *LocalNotifier) RingAll() {
	b.mu.Lock()
	keys := slices.Collect(maps.Keys(b.listeners))
	b.mu.Unlock()
	for _, key := range keys {
		b.Ring(key)
	}
}

// Listen returns the rings of key from now on, and what ends the listening.
// Calling stop twice is harmless.
func (b *LocalNotifier) Listen(key string) (rings <-chan struct{}, stop func()) {
	own := make(chan struct{}, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.listeners == nil {
		b.listeners = map[string][]chan struct{}{}
	}
	b.listeners[key] = append(b.listeners[key], own)
	return own, func() { b.forget(key, own) }
}

func (b *LocalNotifier) forget(key string, own chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	left := slices.DeleteFunc(b.listeners[key], func(c chan struct{}) bool { return c == own })
	if len(left) == 0 {
		delete(b.listeners, key)
		return
	}
	b.listeners[key] = left
}
