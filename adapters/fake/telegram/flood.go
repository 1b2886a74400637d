package telegram

import (
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// flood names what a rate is counted for: one bot in one chat, or one bot in
// all chats. Calls outside chats are told apart by their method.
type flood struct {
	bot, chat int64
	method    string
}

func floodOf(c *call) flood {
	if c.entry.Chat != 0 {
		return flood{bot: c.bot.user.ID, chat: c.entry.Chat}
	}
	return flood{bot: c.bot.user.ID, method: c.method}
}

// floods store who was told to wait, refuse calls that come earlier, and play the
// platform's rate limits.
type floods struct {
	mu      sync.Mutex // guards what follows
	until   map[flood]time.Time
	buckets map[flood]*bucket
}

// start opens a window in which every call like c is refused.
func (fs *floods) start(c *call, d time.Duration) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.until[floodOf(c)] = time.Now().Add(d)
}

// refuse answers a call that comes too early, and notes by how much.
func (fs *floods) refuse(c *call, limits bool) *reply {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if len(fs.until) > 0 {
		key := floodOf(c)
		if left := time.Until(fs.until[key]); left > 0 {
			c.entry.Early = left
			return tooMany(left)
		}
		delete(fs.until, key)
	}
	if !limits || !limited(c.method) {
		return nil
	}
	if left := fs.take(c, c.entry.At); left > 0 {
		fs.until[floodOf(c)] = c.entry.At.Add(whole(left))
		return tooMany(left)
	}
	return nil
}

// limited reports whether the platform counts the method as a message.
func limited(method string) bool {
	return method == "sendmessage" || method == "editmessagetext" || uploads[method] != ""
}

// take spends one message of every rate the call counts for, or says how long
// to wait until it may. Nothing is spent then.
func (fs *floods) take(c *call, now time.Time) time.Duration {
	chat := flood{bot: c.bot.user.ID, chat: c.entry.Chat}
	counted := []*bucket{
		fs.bucket(flood{bot: c.bot.user.ID}, 30, time.Second/30),
		fs.bucket(chat, 5, time.Second),
	}
	if c.entry.Chat < 0 { // groups have negative ids
		chat.method = "minute"
		counted = append(counted, fs.bucket(chat, 20, time.Minute/20))
	}
	var left time.Duration
	for _, b := range counted {
		left = max(left, b.wait(now))
	}
	if left > 0 {
		return left
	}
	for _, b := range counted {
		b.spend(now)
	}
	return 0
}

func (fs *floods) bucket(key flood, burst int, every time.Duration) *bucket {
	b := fs.buckets[key]
	if b == nil {
		b = &bucket{burst: burst, every: every}
		fs.buckets[key] = b
	}
	return b
}

// bucket is a token bucket kept as the moment at which it is full again.
type bucket struct {
	burst int
	every time.Duration
	full  time.Time
}

func (b *bucket) wait(now time.Time) time.Duration {
	return max(b.full.Sub(now), 0) - time.Duration(b.burst-1)*b.every
}

func (b *bucket) spend(now time.Time) {
	if b.full.Before(now) {
		b.full = now
	}
	b.full = b.full.Add(b.every)
}

// whole rounds up to seconds, the unit in which the platform speaks.
func whole(d time.Duration) time.Duration {
	return time.Duration(math.Ceil(d.Seconds())) * time.Second
}

func tooMany(left time.Duration) *reply {
	seconds := int(whole(left) / time.Second)
	return &reply{
		code:       http.StatusTooManyRequests,
		text:       "Too Many Requests: retry after " + strconv.Itoa(seconds),
		retryAfter: seconds,
	}
}
