package activity

import (
	"sync"
	"sync/atomic"

	"github.com/trestle-bridge/trestle/adapters"
)

// A Tally counts what an account received since the process started.
type Tally struct {
	Recorded   int64 // events appended
	Duplicates int64 // redeliveries that changed nothing
	Echoes     int64 // our own acts, told back to us
	Unreadable int64
	Refused    int64 // from people and chats that are not admitted
}

// tally is the counting side of a Tally.
type tally struct {
	recorded, duplicates, echoes, unreadable, refused atomic.Int64

	mu    sync.Mutex // guards chats
	chats map[string]bool
}

// maxRefusedChats bounds how many refused chats get a log line of their own.
const maxRefusedChats = 1024

// firstRefusal counts a refusal and reports whether it is the chat's first.
func (t *tally) firstRefusal(chat string) bool {
	t.refused.Add(1)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.chats[chat] || len(t.chats) >= maxRefusedChats {
		return false
	}
	if t.chats == nil {
		t.chats = map[string]bool{}
	}
	t.chats[chat] = true
	return true
}

// refused counts an update that is not admitted. Its words go nowhere; the log
// names a chat once.
func (in *Ingress) refused(u adapters.Update) {
	if in.tally.firstRefusal(u.Chat.ID) {
		in.logger.Info("chat is not admitted", "chat", u.Chat.ID, "kind", string(u.Chat.Kind), "admit", string(in.options.Load().Admit))
	}
}

// Tally returns the counts so far.
func (in *Ingress) Tally() Tally {
	t := &in.tally
	return Tally{t.recorded.Load(), t.duplicates.Load(), t.echoes.Load(), t.unreadable.Load(), t.refused.Load()}
}
