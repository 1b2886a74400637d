package spaces

import "slices"

// A ReaderProof says who has been shown to read a room, and when: the events of its
// log that prove it, and those that end it. What proves that
// a person reads a room is that they wrote in it. A platform's word that they
// joined does not: one of them says of every channel of a server that each of its
// members came into it. The same holds of a thread, which may be a private one.
//
// The zero Witness has seen nothing. It is not safe for concurrent use.
type ReaderProof struct {
	there   map[EntityID][]membershipInterval
	unseen  int64                           // the seq at which the room lost its chat last: no platform reports who left since
	threads map[ThreadID]map[EntityID]int64 // the first line of each in the thread
	chat    ChatLinked                      // the first one of the room
	shut    int64                           // from this seq on the room has several chats; 0 is never
}

// A RoomAudience is who reads a room, one item a person: with the identity that is in the
// room, all others that are the same person.
type RoomAudience [][]EntityID

// Has reports whether an identity is one of a reader.
func (a RoomAudience) Has(who EntityID) bool {
	return slices.ContainsFunc(a, func(person []EntityID) bool { return slices.Contains(person, who) })
}

// A membershipInterval is a time in which a person is known to read: from their first line to
// their leaving.
type membershipInterval struct{ from, to int64 } // to 0: still there

// Apply folds one event of the room; events come in seq order.
func (w *ReaderProof) Apply(e Event) {
	if b, ok := e.Body.(MessagePosted); ok && e.Actor != "" && !b.Past {
		w.spoke(e)
	}
	if b, ok := e.Body.(MemberLeft); ok {
		w.left(b.Who, e.Seq)
	}
	if b, ok := e.Body.(ChatLinked); ok {
		if w.chat == (ChatLinked{}) {
			w.chat = b
		} else if w.chat != b && w.shut == 0 {
			w.shut = e.Seq
		}
	}
	if b, ok := e.Body.(ChatUnlinked); ok && w.chat == (ChatLinked{b.Account, b.Chat}) {
		w.unseen = e.Seq
		for who := range w.there {
			w.left(who, e.Seq)
		}
	}
	if b, ok := e.Body.(ChatMigrated); ok && w.chat == (ChatLinked{b.Account, b.From}) {
		w.chat.Chat = b.To
	}
}

func (w *ReaderProof) spoke(e Event) {
	if w.there == nil {
		w.there, w.threads = map[EntityID][]membershipInterval{}, map[ThreadID]map[EntityID]int64{}
	}
	stays := w.there[e.Actor]
	if n := len(stays); n == 0 || stays[n-1].to != 0 {
		w.there[e.Actor] = append(stays, membershipInterval{from: e.Seq})
	}
	if e.Thread == "" {
		return
	}
	if w.threads[e.Thread] == nil {
		w.threads[e.Thread] = map[EntityID]int64{}
	}
	if _, ok := w.threads[e.Thread][e.Actor]; !ok {
		w.threads[e.Thread][e.Actor] = e.Seq
	}
}

func (w *ReaderProof) left(who EntityID, seq int64) {
	if n := len(w.there[who]); n > 0 && w.there[who][n-1].to == 0 {
		w.there[who][n-1].to = seq
	}
	for _, first := range w.threads {
		delete(first, who)
	}
}

// OneChat reports whether the room has never had more than one chat.
func (w *ReaderProof) OneChat() bool { return w.shut == 0 }

// Read reports whether every one of an audience, as one of the identities that they are, is
// known to have read what was written at seq in a thread; empty is none. No one is known to
// read what is written in one of several chats, nor anything of a room that has lost its chat
// since they last wrote.
func (w *ReaderProof) Read(seq int64, thread ThreadID, all RoomAudience) bool {
	if w.shut != 0 && seq >= w.shut {
		return false
	}
	for _, person := range all {
		if !slices.ContainsFunc(person, func(who EntityID) bool { return w.readBy(seq, thread, who) }) {
			return false
		}
	}
	return true
}

// readBy reports whether one identity is known to have read what was written at seq in a
// thread of the room's one chat.
func (w *ReaderProof) readBy(seq int64, thread ThreadID, who EntityID) bool {
	stays := w.there[who]
	if n := len(stays); n == 0 || stays[n-1].from < w.unseen {
		return false
	}
	if !slices.ContainsFunc(stays, func(s membershipInterval) bool { return s.from <= seq && (s.to == 0 || seq < s.to) }) {
		return false
	}
	first, ok := w.threads[thread][who]
	return thread == "" || ok && first <= seq
}
