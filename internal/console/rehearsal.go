package console

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/spaces"
)

// A RehearseFunc lives a past run once more. Nothing of it happens: nothing is sent, said,
// remembered or counted, but the model is really asked. A run that does not exist is
// [ErrUnknown]; one that cannot be rehearsed is [UserError].
type RehearseFunc func(ctx context.Context, q RehearsalRequest) (RehearsedRun, error)

// A RehearsalRequest says what a rehearsal does otherwise than the agent would now.
type RehearsalRequest struct {
	Run     string   // id, or a unique part of it
	Model   string   // name; empty is that of the agent
	Budget  int      // tokens of the context; 0 is that of the agent
	Prompts []string // versions of sections, such as instructions@2; empty is what the agent is told now
}

// A RehearsedRun is a run and its rehearsal, side by side.
type RehearsedRun struct {
	Run    spaces.CycleID `json:"run"`
	Mind   string         `json:"mind"`
	Model  string         `json:"model"`  // that was asked
	Budget int            `json:"budget"` // tokens of its context
	Same   bool           `json:"same"`   // it decided what it had decided
	Was    RunOutcome     `json:"was"`
	Now    RunOutcome     `json:"now"`
}

// RunFigures are what one life of a run cost and did.
type RunFigures struct {
	Usage spaces.TokenUsage `json:"usage"`
	Words int               `json:"words"` // that it said in rooms
	Acts  int               `json:"acts"`  // calls of tools
}

// Add adds what another life of a run cost and did.
func (f *RunFigures) Add(g RunFigures) {
	f.Usage, f.Words, f.Acts = f.Usage.Add(g.Usage), f.Words+g.Words, f.Acts+g.Acts
}

// A RunOutcome is what one life of a run came to.
type RunOutcome struct {
	RunFigures
	Lines   []TranscriptLine  `json:"lines"`
	Said    []string          `json:"said"`
	Stop    spaces.StopReason `json:"stop"`
	Rest    string            `json:"rest"`
	Prompts string            `json:"prompts"` // versions of sections it was told that are not built in
	Steps   int               `json:"steps"`
}

// Counted returns the outcome with the words and acts counted from what was said and done.
func (p RunOutcome) Counted() RunOutcome {
	for _, text := range p.Said {
		p.Words += len(strings.Fields(text))
	}
	for _, l := range p.Lines {
		if l.What == "acts" {
			p.Acts++
		}
	}
	return p
}

// A TranscriptLine is one thing the agent was told or decided.
type TranscriptLine struct {
	What string `json:"what"` // shown, says, acts, told
	Text string `json:"text"`
}

// A LinePair is what two variants of a run have at the same place; empty where one of them
// has nothing.
type LinePair struct{ What, Was, Now string }

// PairLines puts the lines of two variants of a run beside each other: lines of a kind that
// follow in the same order share a row.
func PairLines(was, now []TranscriptLine) []LinePair {
	lengths := make([][]int, len(was)+1) // of the longest common rows from here on
	for i := range lengths {
		lengths[i] = make([]int, len(now)+1)
	}
	for i := range slices.Backward(was) {
		for k := range slices.Backward(now) {
			lengths[i][k] = max(lengths[i+1][k], lengths[i][k+1])
			if was[i].What == now[k].What {
				lengths[i][k] = max(lengths[i][k], lengths[i+1][k+1]+1)
			}
		}
	}
	var pairs []LinePair
	i, k := 0, 0
	for i < len(was) || k < len(now) {
		switch {
		case i < len(was) && k < len(now) && was[i].What == now[k].What:
			pairs = append(pairs, LinePair{was[i].What, was[i].Text, now[k].Text})
			i, k = i+1, k+1
		case k == len(now) || i < len(was) && lengths[i+1][k] >= lengths[i][k+1]:
			pairs = append(pairs, LinePair{was[i].What, was[i].Text, ""})
			i++
		default:
			pairs = append(pairs, LinePair{now[k].What, "", now[k].Text})
			k++
		}
	}
	return pairs
}

// Differs reports whether the two are not the same, but for ids that differ each time.
func (p LinePair) Differs() bool { return WithoutMintedIDs(p.Was) != WithoutMintedIDs(p.Now) }

// WithoutMintedIDs returns a text without the ids of messages that an agent sent, which differ
// each time.
func WithoutMintedIDs(text string) string { return mintedIDs.ReplaceAllString(text, "~…") }

var mintedIDs = regexp.MustCompile(`~[0-9a-z]{4,}`)
