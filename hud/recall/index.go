package recall

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// A LineIndex finds the lines of one room by their words and embeddings. It indexes
// new messages when a query needs them, each once; a message whose words changed
// is indexed again.
//
// An Index is not safe for concurrent use, queries included.
type LineIndex struct {
	chat  *spaces.Chat
	label func(spaces.EntityID) string

	postings      map[string][]posting
	spellings     map[[2]byte][]string // sorted terms by their first two bytes, see [Index.variants]
	docs          []indexDoc
	docOf         []int32        // doc of each message, -1 for none
	lines         []linePosition // of each message
	conversations []conversation // oldest first
	replies       [][2]int32     // pairs of a line and the line it answers, by the answering line
	changed       []int          // messages to index again
	liveDocs      int
	liveTerms     int // sum of the lengths of live docs
	scratch       []byte
	decisive      []uint8 // of each message, see Decisiveness, in 254ths and one more; 0 where it is unknown
	judged        int     // lines from the oldest on that Judge has read
	words         wordList

	// embeddings of messages; shorter than the chat where none were computed.
	embeddings []spaces.EmbeddingVector

	scores              []float32 // by message, zero between queries
	conversationScores  []float32 // by conversation, zero between queries
	scoredLines         []int32   // reused buffer
	scoredConversations []int32   // reused buffer
}

type posting struct {
	doc   int32
	count uint16
}

type indexDoc struct {
	line   int32
	length uint16 // terms; 0 once the message was deleted or changed
}

// A linePosition holds the conversation of a message and its neighbours: the
// nearest lines before and after it with words.
type linePosition struct {
	conversation int32
	before, next int32 // -1 for none
}

// A conversation is a run of messages without a long silence between them.
type conversation struct {
	first, lines int32 // its first message, and its number of messages
	last         int32 // its newest line with words; -1 for none
	length       int32 // terms
	at           time.Time
}

// ConversationGap is the silence after which a new conversation begins.
const ConversationGap = 3 * time.Hour

// A conversation of splitLines messages ends after shortGap already, and one of
// maxConversationLines without any silence.
const (
	shortGap             = 20 * time.Minute
	splitLines           = 40
	maxConversationLines = 120
)

// NewIndex returns an index of the messages of chat. The label function returns
// the name under which a sender is shown and found.
func NewIndex(chat *spaces.Chat, label func(spaces.EntityID) string) *LineIndex {
	return &LineIndex{chat: chat, label: label, postings: map[string][]posting{}, spellings: map[[2]byte][]string{}}
}

// MarkChanged removes message i from the index; the next query indexes its
// current words. Its embedding is dropped.
func (x *LineIndex) MarkChanged(i int) {
	if i < len(x.embeddings) {
		x.embeddings[i] = nil
	}
	x.MarkRenamed(i)
}

// MarkRenamed does the same for a message whose words are as they were, and whose sender
// has another label: it keeps its embedding.
func (x *LineIndex) MarkRenamed(i int) {
	if i >= len(x.docOf) {
		return
	}
	if i < len(x.decisive) {
		x.decisive[i] = 0
	}
	if d := x.docOf[i]; d >= 0 {
		x.liveTerms -= int(x.docs[d].length)
		x.conversations[x.lines[i].conversation].length -= int32(x.docs[d].length)
		x.liveDocs--
		x.docs[d].length = 0
	}
	x.docOf[i] = -1
	x.changed = append(x.changed, i)
}

// Update indexes new messages and those marked as changed. Queries call it.
func (x *LineIndex) Update() {
	for i := len(x.docOf); i < len(x.chat.Messages); i++ {
		x.docOf = append(x.docOf, -1)
		x.scores = append(x.scores, 0)
		x.addLine(i)
		x.addWords(i)
	}
	for _, i := range x.changed {
		switch {
		case !x.hasWords(i):
			x.removeLine(i)
		case x.docOf[i] < 0: // otherwise it changed twice since the last update
			x.addWords(i)
		}
	}
	x.changed = x.changed[:0]
}

// addLine assigns message i to a conversation and sets its neighbours.
func (x *LineIndex) addLine(i int) {
	m := &x.chat.Messages[i]
	n := len(x.conversations)
	if n == 0 || x.conversations[n-1].endsBefore(m.At) {
		x.conversations = append(x.conversations, conversation{first: int32(i), last: -1, at: m.At})
		x.conversationScores = append(x.conversationScores, 0)
		n++
	}
	c := &x.conversations[n-1]
	p := linePosition{conversation: int32(n - 1), before: -1, next: -1}
	if m.Notice == nil { // deleted ones count too: later edits do not move the borders
		c.at = m.At
		c.lines++
	}
	if x.hasWords(i) {
		if c.last >= 0 {
			p.before, x.lines[c.last].next = c.last, int32(i)
		}
		c.last = int32(i)
	}
	x.lines = append(x.lines, p)
	x.LinkReply(i)
}

// LinkReply stores which message i answers, once that message is known: a receipt
// may bring it later.
func (x *LineIndex) LinkReply(i int) {
	m := &x.chat.Messages[i]
	if m.ReplyTo == "" || i >= len(x.lines) || !x.hasWords(i) {
		return
	}
	q := x.chat.At(m.ReplyTo)
	k, known := slices.BinarySearchFunc(x.replies, int32(i), func(l [2]int32, line int32) int { return cmp.Compare(l[0], line) })
	if q >= 0 && q < i && !known {
		x.replies = slices.Insert(x.replies, k, [2]int32{int32(i), int32(q)})
	}
}

// removeLine joins the neighbours of message i, which was deleted.
func (x *LineIndex) removeLine(i int) {
	p := &x.lines[i]
	if p.before >= 0 {
		x.lines[p.before].next = p.next
	}
	if p.next >= 0 {
		x.lines[p.next].before = p.before
	} else if c := &x.conversations[p.conversation]; c.last == int32(i) {
		c.last = p.before
	}
	p.before, p.next = -1, -1
}

// endsBefore reports whether a message of that time begins another conversation.
func (c *conversation) endsBefore(at time.Time) bool {
	switch gap := at.Sub(c.at); {
	case c.lines == 0:
		return false
	case gap >= ConversationGap, c.lines >= maxConversationLines:
		return true
	default:
		return c.lines >= splitLines && gap >= shortGap
	}
}

// hasWords reports whether message i was written by a sender and not deleted.
func (x *LineIndex) hasWords(i int) bool {
	m := &x.chat.Messages[i]
	return !m.Deleted && m.Notice == nil
}

// addWords indexes the words of message i, its sender's label, and the names of
// its files.
func (x *LineIndex) addWords(i int) {
	if !x.hasWords(i) {
		return
	}
	m := &x.chat.Messages[i]
	d := int32(len(x.docs))
	x.docs = append(x.docs, indexDoc{line: int32(i)})
	again := i < len(x.docOf)-1
	n := 0
	add := func(term []byte) {
		n++
		ps, known := x.postings[string(term)]
		k := len(ps)
		if again {
			k = x.insertionPoint(ps, i)
		}
		if k > 0 && ps[k-1].doc == d {
			ps[k-1].count++
			return
		}
		if !known && len(term) > 2 {
			x.addSpelling(string(term))
		}
		x.postings[string(term)] = slices.Insert(ps, k, posting{d, 1})
	}
	x.scratch = eachTerm(x.label(m.Sender), x.scratch, add)
	x.scratch = eachTerm(m.Text, x.scratch, add)
	for k := range m.Attachments {
		x.scratch = eachTerm(m.Attachments[k].Name, x.scratch, add)
	}
	if n == 0 {
		x.docs = x.docs[:d]
		return
	}
	n = min(n, math.MaxUint16)
	x.docs[d].length = uint16(n)
	x.docOf[i] = d
	x.liveDocs++
	x.liveTerms += n
	x.conversations[x.lines[i].conversation].length += int32(n)
}

// addSpelling stores a new term among those with the same first bytes.
func (x *LineIndex) addSpelling(term string) {
	key := [2]byte{term[0], term[1]}
	k, _ := slices.BinarySearch(x.spellings[key], term)
	x.spellings[key] = slices.Insert(x.spellings[key], k, term)
}

// insertionPoint returns the position behind the postings of lines up to message i.
// Postings are kept in the order of their lines, and terms sorted, in whatever
// order they were indexed: scores are rounded as they are added up, so another
// order could choose another of two lines that differ by rounding alone.
func (x *LineIndex) insertionPoint(ps []posting, i int) int {
	k, _ := slices.BinarySearchFunc(ps, int32(i), func(p posting, line int32) int {
		return cmp.Or(cmp.Compare(x.docs[p.doc].line, line), -1)
	})
	return k
}

// lineCount returns how many lines have the term.
func (x *LineIndex) lineCount(term string) int {
	ps := x.postings[term]
	if x.liveDocs == len(x.docs) { // the usual case: nothing was changed
		return len(ps)
	}
	n := 0
	for _, p := range ps {
		if x.docs[p.doc].length > 0 {
			n++
		}
	}
	return n
}

// Conversation returns the number of the conversation that line i belongs to.
// The index must be up to date.
func (x *LineIndex) Conversation(i int) int32 { return x.lines[i].conversation }

// AtEdge reports whether line i is the first message of its conversation or its
// newest line with words. The index must be up to date.
func (x *LineIndex) AtEdge(i int) bool {
	c := &x.conversations[x.lines[i].conversation]
	return int32(i) == c.first || int32(i) == c.last
}

// conversationBounds returns the first message of a conversation and the first
// one behind it.
func (x *LineIndex) conversationBounds(n int32) (from, end int) {
	end = len(x.lines)
	if int(n)+1 < len(x.conversations) {
		end = int(x.conversations[n+1].first)
	}
	return int(x.conversations[n].first), end
}
