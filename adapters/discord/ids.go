package discord

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

// The keys below are the identity of what happened, never of its
// delivery. Every key begins with its kind. Ids of messages are unique over all
// channels.

// messageKey names what was said.
func messageKey(channel, message string) string { return "message:" + channel + ":" + message }

// editKey names one version of a message.
func editKey(channel, message string, at time.Time, content string) string {
	return fmt.Sprintf("edit:%s:%s:%d:%s", channel, message, at.UnixMilli(), adapters.HashContent(content))
}

// deleteKey names the end of a message.
func deleteKey(channel, message string) string { return "delete:" + channel + ":" + message }

// eventKey names what Discord gives no identity of its own: it is told once for
// each session and number, and only by the gateway.
func eventKey(kind, session string, seq int64) string {
	return fmt.Sprintf("%s:%s:%d", kind, session, seq)
}

// A snowflake is an id of Discord's as a number: it rises with time, and holds it
// (docs.discord.com, reference#snowflakes).
type snowflake uint64

const (
	epoch     = 1420070400000 // the first millisecond of 2015
	sinceBits = 22
)

// flake returns id as a number; 0 when it is none.
func flake(id string) snowflake {
	n, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return 0
	}
	return snowflake(n)
}

// String returns the id.
func (s snowflake) String() string { return strconv.FormatUint(uint64(s), 10) }

// flakeAt returns the first id of the moment t.
func flakeAt(t time.Time) snowflake {
	return snowflake(max(t.UnixMilli()-epoch, 0)) << sinceBits
}

// time returns when the id was minted.
func (s snowflake) time() time.Time { return time.UnixMilli(int64(s>>sinceBits) + epoch).UTC() }

// maxAhead is how far Discord's clock may be ahead of ours.
const maxAhead = 24 * time.Hour

// minted reports whether Discord can have given the id by now.
func (s snowflake) minted(now time.Time) bool {
	return s <= flakeAt(time.UnixMilli(max(now.UnixMilli(), epoch)).Add(maxAhead)) // no clock is right before the first id
}

// before returns the first id of the moment d before s.
func (s snowflake) before(d time.Duration) snowflake {
	back := snowflake(d.Milliseconds()) << sinceBits
	if s < back {
		return 0
	}
	return s - back
}

// recent remembers the last few ids it was given.
type recent struct {
	mu  sync.Mutex // guards what follows
	ids [256]string
	at  int
}

func (r *recent) add(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids[r.at%len(r.ids)] = id
	r.at++
}

func (r *recent) has(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return id != "" && slices.Contains(r.ids[:], id)
}
