package fake

import (
	"sync"
	"sync/atomic"
	"time"
)

// A FaultKind is what a fault does to a call.
type FaultKind string

// The kinds of fault.
const (
	Refuse   FaultKind = "refuse"   // answer Status and Description in the platform's own shape
	HTML     FaultKind = "html"     // answer Status (502 if zero) with a proxy's HTML page
	Garbage  FaultKind = "garbage"  // answer 200 with bytes that are not JSON, or with Description
	Truncate FaultKind = "truncate" // cut the connection in the middle of the true answer
	Hang     FaultKind = "hang"     // read the request and never answer
	Delay    FaultKind = "delay"    // wait, then go on as if nothing had happened
	Cut      FaultKind = "cut"      // close the connection without an answer
)

// A CallFault says which calls fail and how. Its zero matchers match every call.
type CallFault struct {
	Do FaultKind `json:"do"`

	Bot    int64  `json:"bot,omitzero"`    // only this bot's calls
	Method string `json:"method,omitzero"` // only this method, in any case
	Chat   int64  `json:"chat,omitzero"`   // only calls about this chat
	Thread int64  `json:"thread,omitzero"` // only calls about this topic

	Skip  int `json:"skip,omitzero"`  // let that many matching calls pass first
	Every int `json:"every,omitzero"` // then hit every n-th matching call. Default: each
	Times int `json:"times,omitzero"` // stop after that many hits; negative: never. Default: 1

	// Apply lets the call have its effect first (exec_then_error). Delay always does.
	Apply       bool          `json:"apply,omitzero"`
	Status      int           `json:"status,omitzero"`      // of Refuse and HTML. Default: 500, 502
	Description string        `json:"description,omitzero"` // of Refuse and Garbage. Default: the platform's usual words
	RetryAfter  int           `json:"retry_after,omitzero"` // seconds, with Refuse: also makes the status 429
	MigrateTo   int64         `json:"migrate_to,omitzero"`  // with Refuse: says that the chat goes on there
	Wait        time.Duration `json:"wait,omitzero"`        // of Delay, in nanoseconds
}

// An ArmedFault is a fault in force.
type ArmedFault struct {
	of    *FaultList
	fault CallFault
	seen  int // guarded by of.mu
	hits  int // guarded by of.mu
}

// Hits tells how many calls the fault has met so far.
func (a *ArmedFault) Hits() int {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	return a.hits
}

// Clear takes the fault out of force.
func (a *ArmedFault) Clear() {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	a.of.remove(a)
}

// FaultList are the ones in force, oldest first; the first that hits a call wins.
// The zero value has none. It is safe for concurrent use.
type FaultList struct {
	armed atomic.Int32 // lets calls pass without a lock while there is none

	mu   sync.Mutex // guards what follows
	list []*ArmedFault
}

// Arm puts f in force.
func (fs *FaultList) Arm(f CallFault) *ArmedFault {
	if f.Times == 0 {
		f.Times = 1
	}
	if f.Every == 0 {
		f.Every = 1
	}
	a := &ArmedFault{of: fs, fault: f}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.list = append(fs.list, a)
	fs.armed.Store(int32(len(fs.list)))
	return a
}

// Clear takes every fault out of force.
func (fs *FaultList) Clear() {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.list = nil
	fs.armed.Store(0)
}

// remove needs the lock.
func (fs *FaultList) remove(a *ArmedFault) {
	kept := make([]*ArmedFault, 0, len(fs.list))
	for _, o := range fs.list {
		if o != a {
			kept = append(kept, o)
		}
	}
	fs.list = kept
	fs.armed.Store(int32(len(kept)))
}

// Hit returns the fault that meets the call, if any, and counts it.
func (fs *FaultList) Hit(matches func(CallFault) bool) (CallFault, bool) {
	if fs.armed.Load() == 0 {
		return CallFault{}, false
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, a := range fs.list {
		if !matches(a.fault) {
			continue
		}
		a.seen++
		if n := a.seen - a.fault.Skip; n <= 0 || n%a.fault.Every != 0 {
			continue
		}
		a.hits++
		if a.hits == a.fault.Times {
			fs.remove(a)
		}
		return a.fault, true
	}
	return CallFault{}, false
}
