package recall

import (
	"cmp"
	"slices"

	"github.com/trestle-bridge/trestle/spaces"
)

// A TalkGist says what some lines of a room come to.
type TalkGist struct {
	Decisions, Questions, Links, Files int
	// Speakers wrote the lines, who wrote most of them first.
	Speakers []SpeakerCount
	// Telling are the lines that say most, the best first: decisions, open questions, links,
	// files, and what is pinned.
	Telling []TellingLine
}

// A TellingLine is a line of a room that says more than others.
type TellingLine struct {
	Line  int
	Worth float64 // more than 0; about 1 for a decision
}

// A SpeakerCount is how many of some lines an entity wrote.
type SpeakerCount struct {
	Who   spaces.EntityID
	Lines int
}

// The worth of lines in a gist that tell no decision, and the discount of a kind of line for
// each that is chosen of it already.
const (
	questionWorth  = 0.45
	linkWorth      = 0.4
	fileWorth      = 0.4
	statedDecision = 0.5 // how much a line at least reads like a decision
	kindCrowding   = 0.3
)

// Gist returns what the lines come to, with at most that many telling ones, none of which has
// more bytes than longest.
func (x *LineIndex) Gist(lines []int, most, longest int) TalkGist {
	x.Update()
	var g TalkGist
	counts := map[spaces.EntityID]int{}
	var kinds [4]*topLines // decisions, questions, links, files; of one room
	for k := range kinds {
		kinds[k] = newTopLines(max(1, most))
	}
	for _, i := range lines {
		if !x.hasWords(i) {
			continue
		}
		m := &x.chat.Messages[i]
		counts[m.Sender]++
		decides := x.Decisiveness(i)
		kind, worth := x.gistKind(i, decides, &g)
		if m.Pinned {
			worth += pinnedWeight
		}
		if len(m.Text) <= longest && m.Text != "" && worth > 0 && kinds[kind].takes(worth) {
			kinds[kind].add(scoredLine{LineRef{0, i}, worth})
		}
	}
	for who, n := range counts {
		g.Speakers = append(g.Speakers, SpeakerCount{who, n})
	}
	slices.SortFunc(g.Speakers, func(a, b SpeakerCount) int { return cmp.Or(cmp.Compare(b.Lines, a.Lines), cmp.Compare(a.Who, b.Who)) })
	g.Telling = x.chooseTelling(kinds[:], most)
	return g
}

// gistKind counts line i in the gist, and returns its kind and worth; a worth of 0 is no
// telling line.
func (x *LineIndex) gistKind(i int, decides float64, g *TalkGist) (kind int, worth float64) {
	m := &x.chat.Messages[i]
	if len(m.Attachments) > 0 {
		g.Files++
		kind, worth = 3, fileWorth
	}
	if HasLink(m.Text) {
		g.Links++
		kind, worth = 2, linkWorth
	}
	switch {
	case decides >= statedDecision:
		g.Decisions++
		kind, worth = 0, decides
		if x.settled(i) {
			worth += settledWeight
		}
	case x.IsOpenQuestion(i):
		g.Questions++
		kind, worth = 1, questionWorth
	}
	return kind, worth
}

// chooseTelling returns the best lines, the best first, none with the words of another; each
// that is chosen discounts the others of its kind.
func (x *LineIndex) chooseTelling(kinds []*topLines, most int) []TellingLine {
	for _, of := range kinds {
		slices.SortFunc(of.items, func(a, b scoredLine) int {
			return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.Number, a.Number))
		})
	}
	var told []TellingLine
	chosen := make([]int, len(kinds))
	for len(told) < most {
		best, worth := -1, 0.0
		for k, of := range kinds {
			if chosen[k] == len(of.items) {
				continue
			}
			if now := of.items[chosen[k]].score / (1 + kindCrowding*float64(chosen[k])); now > worth {
				best, worth = k, now
			}
		}
		if best < 0 {
			break
		}
		line := kinds[best].items[chosen[best]].Number
		chosen[best]++
		if !slices.ContainsFunc(told, func(t TellingLine) bool { return x.chat.Messages[t.Line].Text == x.chat.Messages[line].Text }) {
			told = append(told, TellingLine{line, worth})
		}
	}
	return told
}
