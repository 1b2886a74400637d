package recall

import (
	"cmp"
	"math"
	"slices"

	"github.com/trestle-bridge/trestle/spaces"
)

// The usual constants of BM25.
const (
	bm25K1 = 1.2
	bm25B  = 0.75
)

// Terms in more than a tenth of the lines of a large set of rooms tell little and
// cost most; they count only when the query has no rarer ones.
const (
	largeLineCount = 2000
	commonShare    = 10
)

// Lines without a score are found too where they fill a budget: in fillConversations
// conversations, up to fillReach messages from a line that has a score.
const (
	fillConversations = 24
	fillReach         = 40
)

// A SearchRoom is one room of a search.
type SearchRoom struct {
	Space spaces.SpaceID // breaks ties between rooms
	Index *LineIndex
	Focus float64 // factor of its scores
	// Visible reports whether the reader may see a line; nil: it may see all of them.
	Visible func(line int) bool
	// Foreign rooms belong to another circle. Their embeddings are not compared.
	Foreign bool
	// Fresh is the seq up to which lines are not recalled by [Search].
	Fresh int64
}

func (r *SearchRoom) visible(line int) bool { return r.Visible == nil || r.Visible(line) }

// A SearchHit is a line with its score for a query.
type SearchHit struct {
	Room  int // index among the rooms that were ranked
	Line  int
	Score float64
	Near  float64 // score of the line and its neighbours, without the share of the conversation
}

// SortHits sorts hits of the rooms by score, the best first; equal ones by room and line.
func SortHits(hits []SearchHit, rooms []SearchRoom) {
	slices.SortFunc(hits, func(a, b SearchHit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(rooms[a.Room].Space, rooms[b.Room].Space), cmp.Compare(a.Line, b.Line))
	})
}

// Rank scores the lines of the rooms against the query: BM25 over all rooms
// together, smoothed over neighbouring lines, answers, and the conversation a line
// belongs to, and by embeddings where they are known; multiplied by each room's
// focus. It calls f for each visible line that has a score, room by room, in order.
//
// With wants, Rank leaves out lines whose score wants refuses, and adds lines without
// a score of their own from the conversations that fit best.
func Rank(rooms []SearchRoom, q LineQuery, w *RankWeights, wants func(score float64) bool, f func(SearchHit)) {
	terms, average := weightTerms(rooms, q, w)
	if len(terms) == 0 && q.embedding == nil {
		return
	}
	scored := make([]scoredRoom, len(rooms))
	best, largest := 0.0, 0
	for i := range rooms {
		r := &scored[i]
		r.SearchRoom, r.number, r.w, r.dates = &rooms[i], i, w, q.dates
		r.lines, r.conversations = r.Index.score(terms, average)
		for _, c := range r.conversations {
			best = max(best, r.Focus*float64(r.Index.conversationScores[c]))
		}
		largest = max(largest, len(r.Index.lines))
	}
	addEmbeddingScores(scored, q.embedding, w.Meaning)
	if best == 0 {
		best = 1 // no conversation has a score
	}
	smoothed := make([]float32, largest)
	for i := range scored {
		r := &scored[i]
		r.near = smoothed[:len(r.Index.lines)]
		r.spreadScores()
		r.yieldScored(best, wants, f)
		if wants != nil {
			r.yieldAround(best, wants, f)
		}
		clear(r.near)
		r.Index.resetScores(r.lines, r.conversations)
	}
}

// A queryTerm is a term to look for, and how much a match counts.
type queryTerm struct {
	text   string
	asked  float64 // 1 for a word of the query, less for a variant
	lines  int     // number of lines of all rooms that have it
	weight float64 // asked times the rarity over all rooms
}

// weightTerms updates the indexes of the rooms and weights the terms of the query
// and their variants by how rare they are in all rooms. It also returns the average
// length of a line.
func weightTerms(rooms []SearchRoom, q LineQuery, w *RankWeights) (terms []queryTerm, average float64) {
	live, length := 0, 0
	for i := range rooms {
		x := rooms[i].Index
		x.Update()
		live, length = live+x.liveDocs, length+x.liveTerms
	}
	if live == 0 {
		return nil, 0
	}
	terms = q.expand(rooms, w)
	least := math.MaxInt
	for _, t := range terms {
		least = min(least, t.lines)
	}
	if live >= largeLineCount && least <= live/commonShare {
		terms = slices.DeleteFunc(terms, func(t queryTerm) bool { return t.lines > live/commonShare })
	}
	for k := range terms {
		terms[k].weight = terms[k].asked * rarity(live, terms[k].lines)
	}
	return terms, float64(length) / float64(live)
}

// rarity is the inverse document frequency of a term that n of all documents have.
func rarity(all, n int) float64 {
	return math.Log(1 + (float64(all)-float64(n)+0.5)/(float64(n)+0.5))
}

// score adds the scores of the terms to x.scores by line and to x.conversationScores,
// and returns the lines and conversations that have any; resetScores must follow.
func (x *LineIndex) score(terms []queryTerm, average float64) (lines, conversations []int32) {
	lines, conversations = x.scoredLines[:0], x.scoredConversations[:0]
	var with []int32 // conversations that have the term
	for _, t := range terms {
		with = with[:0]
		ps := x.postings[t.text]
		lines = slices.Grow(lines, len(ps))
		for _, p := range ps {
			d := x.docs[p.doc]
			if d.length == 0 {
				continue
			}
			if x.scores[d.line] == 0 {
				lines = append(lines, d.line)
			}
			x.scores[d.line] += float32(t.weight * saturate(float64(p.count), float64(d.length)/average))
			if c := x.lines[d.line].conversation; len(with) == 0 || with[len(with)-1] != c {
				with = append(with, c)
			}
		}
		conversations = x.scoreConversations(t, with, conversations)
	}
	x.scoredLines, x.scoredConversations = lines, conversations
	return lines, conversations
}

// scoreConversations adds the score of a term to the conversations that have it.
func (x *LineIndex) scoreConversations(t queryTerm, with, scored []int32) []int32 {
	slices.Sort(with)
	with = slices.Compact(with)
	rare := rarity(len(x.conversations), len(with))
	for _, c := range with {
		if x.conversationScores[c] == 0 {
			scored = append(scored, c)
		}
		x.conversationScores[c] += float32(rare * t.asked)
	}
	return scored
}

// resetScores sets the scores of the lines and conversations to zero.
func (x *LineIndex) resetScores(lines, conversations []int32) {
	for _, i := range lines {
		x.scores[i] = 0
	}
	for _, c := range conversations {
		x.conversationScores[c] = 0
	}
}

// saturate is the part of BM25 that depends on the line: how often it has the
// term, against its length.
func saturate(count, length float64) float64 {
	return count * (bm25K1 + 1) / (count + bm25K1*(1-bm25B+bm25B*length))
}

// A scoredRoom is a room whose index holds the scores of a query.
type scoredRoom struct {
	*SearchRoom
	number               int // among the rooms that are ranked
	w                    *RankWeights
	dates                dateRange
	lines, conversations []int32   // those with a score, unordered
	near                 []float32 // by message: its score with its neighbours' shares
}

// spreadScores gives shares of the score of a line to its neighbours, and to the
// line it answers and its answers where these are no neighbours.
func (r *scoredRoom) spreadScores() {
	x := r.Index
	for _, l := range r.lines {
		s := x.scores[l]
		r.near[l] += s
		if b := x.lines[l].before; b >= 0 {
			r.near[b] += float32(r.w.Neighbour) * s
			if b = x.lines[b].before; b >= 0 {
				r.near[b] += float32(r.w.Second) * s
			}
		}
		if n := x.lines[l].next; n >= 0 {
			r.near[n] += float32(r.w.Neighbour) * s
			if n = x.lines[n].next; n >= 0 {
				r.near[n] += float32(r.w.Second) * s
			}
		}
	}
	for _, l := range x.replies {
		if x.lines[l[0]].before != l[1] {
			r.near[l[0]] += float32(r.w.Answer) * x.scores[l[1]]
			r.near[l[1]] += float32(r.w.Answer) * x.scores[l[0]]
		}
	}
}

// yieldScored calls f for every visible line that has a score.
func (r *scoredRoom) yieldScored(best float64, wants func(float64) bool, f func(SearchHit)) {
	if len(r.lines) == 0 {
		return
	}
	x, dated := r.Index, r.dates != dateRange{}
	for i, share := range r.near {
		if share <= 0 || x.docOf[i] < 0 {
			continue
		}
		near := r.Focus * float64(share)
		if dated && r.dates.near(x.chat.Messages[i].At) {
			near *= 1 + r.w.Date
		}
		score := near + r.w.Session*r.Focus*float64(x.conversationScores[x.lines[i].conversation])/best
		if (wants == nil || wants(score)) && r.visible(i) {
			f(SearchHit{r.number, i, score, near})
		}
	}
}

// yieldAround calls f for lines without a score near those that have one, in the
// conversations that fit the query best.
func (r *scoredRoom) yieldAround(best float64, wants func(float64) bool, f func(SearchHit)) {
	x := r.Index
	slices.SortFunc(r.conversations, func(a, b int32) int {
		return cmp.Or(cmp.Compare(x.conversationScores[b], x.conversationScores[a]), cmp.Compare(a, b))
	})
	for _, c := range r.conversations[:min(len(r.conversations), fillConversations)] {
		score := r.w.Session * r.Focus * float64(x.conversationScores[c]) / best
		if !wants(score) {
			return // nor those of the following ones
		}
		from, end := x.conversationBounds(c)
		for l, next := from, from; l < end; l++ {
			if x.scores[l] == 0 {
				continue
			}
			for i := max(next, l-fillReach); i < min(l+fillReach+1, end); i++ {
				if next = i + 1; x.docOf[i] >= 0 && r.near[i] == 0 && r.visible(i) {
					f(SearchHit{r.number, i, score, 0})
				}
			}
		}
	}
}
