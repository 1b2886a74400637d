package hud

import (
	"math"
	"strconv"

	"github.com/trestle-bridge/trestle/spaces"
)

// A FormName is how much of an element is shown.
type FormName string

// The forms of elements, from richest to poorest (CONTEXT 3).
const (
	Full      FormName = "full"
	Trimmed   FormName = "trimmed"
	Essential FormName = "essential"
	OneLine   FormName = "one_line"
	CountOnly FormName = "count"
	Nothing   FormName = "nothing"
)

// A Form is one way to show an element.
type Form struct {
	Name     FormName
	Text     string
	Tokens   int     // exact, or a bound while everything fits anyway
	Fidelity float64 // how much of the element survives, 0 to 1
	limit    int     // of the words of history lines
}

// An Element is one thing that can be shown. Its forms go from richest to
// poorest; leaving it out is always possible.
type Element struct {
	Area  string // the section it belongs to
	What  string // which one it is, for the plan
	Value float64
	Why   string // what the value is made of, for the plan
	Forms []Form
	lines []int // of the room, for history
}

// A Chosen is an element in the form it got.
type Chosen struct {
	Element *Element
	Form    *Form // nil: left out
}

// A Delegate renders one kind of object (SEQ-28): first into elements in all
// their forms, then, once the forms are chosen, into its section.
type Delegate interface {
	// Elements returns what there is to show, in the order it would stand.
	Elements() []Element
	// Section renders the chosen forms, in the same order, with the messages whose
	// words they show. An empty text means that the section is left out.
	Section(chosen []Chosen) (text string, refs []spaces.EventID)
	// Overhead returns the tokens of the section around its elements, at most.
	Overhead() int
}

// recency falls from 1 to about a half as the rank, counted from the newest, reaches
// half, and on towards 0.2.
func recency(rank, half int) float64 {
	return 0.2 + 0.8*math.Exp2(-float64(rank)/float64(half)*1.415)
}

// reason describes for a plan what a value was computed from.
func reason(relevance float64, rank int, more ...string) string {
	b := strconv.AppendFloat(append(make([]byte, 0, 64), "relevance "...), relevance, 'f', 2, 64)
	b = strconv.AppendInt(append(b, ", rank "...), int64(rank), 10)
	for _, m := range more {
		b = append(append(b, ", "...), m...)
	}
	return string(b)
}
