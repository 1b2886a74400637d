package activity

import (
	"sync"
	"sync/atomic"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

// An IngressStats counts what an account received since the process started.
type IngressStats struct {
	Recorded   int64 // events appended
	Duplicates int64 // redeliveries that changed nothing
	Echoes     int64 // our own acts, told back to us
	Refused    int64 // from people and chats that are not admitted
	Throttled  int64 // kept and seen, too fast to wake anybody
	Panicked   int64 // kept as unreadable, because a fault of this program prevents reading them
}

// ingressCounters is the counting side of a Tally.
type ingressCounters struct {
	recorded, duplicates, echoes, refused, hushed atomic.Int64

	panics panicCounter

	mu    sync.Mutex // guards chats
	chats map[string]bool
}

// maxRefusedChats bounds how many refused chats get a log line of their own.
const maxRefusedChats = 1024

// firstRefusal counts a refusal and reports whether it is the chat's first.
func (t *ingressCounters) firstRefusal(chat string) bool {
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

// refused counts an update that is not admitted and notes who sent it. Its words
// go nowhere; the log names a chat once.
func (in *Ingress) refused(u adapters.Update, taken *spaces.IngestBatch) {
	who := identity(in.account, u.From)
	who.Name, who.Handle = "", "" // whatever a sender chose to be called
	taken.Refused = append(taken.Refused, spaces.RejectedSender{Chat: u.Chat.ID, Who: who, Kind: bodyName(u.Body)})
	if in.counters.firstRefusal(u.Chat.ID) {
		in.logger.Info("chat is not admitted", "chat", u.Chat.ID, "kind", string(u.Chat.Kind), "admit", string(in.options.Load().Admit))
	}
}

// bodyName returns what sort of update it was.
func bodyName(b adapters.UpdateBody) string {
	switch b.(type) {
	case adapters.IncomingMessage:
		return "message"
	case adapters.MessageEdit:
		return "edit"
	case adapters.MessageDeletion:
		return "delete"
	case adapters.ReactionChange, adapters.ReactionsCleared:
		return "reaction"
	case adapters.ChoicePicked:
		return "press"
	case adapters.PeopleJoined, adapters.PeopleLeft:
		return "membership"
	case adapters.ChatGained, adapters.ChatLost, adapters.ChatMigrated:
		return "standing"
	case adapters.ChatRenamed, adapters.MessagePinned, adapters.MessageUnpinned, adapters.UpdateGap, adapters.UnreadableUpdate:
		return "other"
	}
	return "other"
}

// Stats returns the counts so far.
func (in *Ingress) Stats() IngressStats {
	t := &in.counters
	return IngressStats{t.recorded.Load(), t.duplicates.Load(), t.echoes.Load(), t.refused.Load(), t.hushed.Load(), t.panics.count.Load()}
}
