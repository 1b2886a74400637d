package console

import (
	"context"
	"math"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// The spans that figures are counted for.
const (
	FigureHour = time.Hour
	FigureDay  = 24 * time.Hour
)

// A FigureScope is what figures are about. What is empty is not told apart.
type FigureScope struct {
	Space    spaces.SpaceID
	Agent    spaces.AgentID
	Platform string
}

// FigureCounts are what happened in some time. A run counts, with all that it used, when it
// ends; what was used outside of runs counts at once.
type FigureCounts struct {
	Received int64 `json:"received"` // messages of people and of other programs
	Sent     int64 `json:"sent"`     // messages of agents that their platform has
	Unsent   int64 `json:"unsent"`   // messages of agents that failed or expired
	Failed   int64 `json:"failed"`   // runs that failed
	Denied   int64 `json:"denied"`   // tool calls that were refused
	Calls    int64 `json:"calls"`    // of models
	Prompt   int64 `json:"prompt"`   // tokens
	Cached   int64 `json:"cached"`   // of Prompt
	Output   int64 `json:"output"`   // tokens
	Cost     int64 `json:"cost"`     // in millionths of the currency
}

// Add adds another count.
func (c *FigureCounts) Add(o FigureCounts) {
	c.Received += o.Received
	c.Sent += o.Sent
	c.Unsent += o.Unsent
	c.Failed += o.Failed
	c.Denied += o.Denied
	c.Calls += o.Calls
	c.Prompt += o.Prompt
	c.Cached += o.Cached
	c.Output += o.Output
	c.Cost += o.Cost
}

// AddUsage adds what a run or a call used.
func (c *FigureCounts) AddUsage(u spaces.TokenUsage) {
	c.Add(FigureCounts{Calls: int64(u.Calls), Prompt: int64(u.Prompt), Cached: int64(u.Cached), Output: int64(u.Output), Cost: u.Cost})
}

// The bounds of answer times begin at firstBound, and each is boundFactor times the one
// before. The last one is over a day; what took longer counts there.
const (
	firstBound  = 100 * time.Millisecond
	boundFactor = 1.25
	lastBound   = 62
)

// AnswerBound returns the number of the least bound that is not below d.
func AnswerBound(d time.Duration) int {
	if d <= firstBound {
		return 0
	}
	n := math.Ceil(math.Log(float64(d)/float64(firstBound))/math.Log(boundFactor) - 1e-9)
	return min(int(n), lastBound)
}

func boundSeconds(n int) float64 { return firstBound.Seconds() * math.Pow(boundFactor, float64(n)) }

// AnswerTimes counts answers by the numbers of bounds. The nil map counts none.
type AnswerTimes map[int]int64

// Add adds another count.
func (a AnswerTimes) Add(o AnswerTimes) {
	for bound, n := range o {
		a[bound] += n
	}
}

// Answers returns how many were counted.
func (a AnswerTimes) Answers() (n int64) {
	for _, more := range a {
		n += more
	}
	return n
}

// Quantile returns within how many seconds a share of the answers came, off by an eighth at
// most; ok is false without answers.
func (a AnswerTimes) Quantile(share float64) (seconds float64, ok bool) {
	rank := share * float64(a.Answers())
	below := 0.0
	for bound := range lastBound + 1 {
		n := float64(a[bound])
		if n == 0 {
			continue
		}
		if below+n >= rank {
			upper := boundSeconds(bound)
			lower := upper / boundFactor
			return lower + (upper-lower)*(rank-below)/n, true
		}
		below += n
	}
	return 0, false
}

// A FigurePoint is what happened in one span of time.
type FigurePoint struct {
	At time.Time // when the span began
	FigureCounts
	Times AnswerTimes
}

// A FigureQuery asks for figures of spans that began in [From, To).
type FigureQuery struct {
	FigureScope
	Span     time.Duration // [FigureHour] or [FigureDay]
	From, To time.Time
}

// A FigureTotal is what an agent did, or what happened on a platform: one of them is empty.
type FigureTotal struct {
	Agent    spaces.AgentID
	Platform string
	FigureCounts
}

// FigureReader reads what happened over time. It takes as long for a year of a large
// installation as for a day of a small one.
type FigureReader interface {
	// Points returns the spans in which something happened, oldest first.
	Points(ctx context.Context, q FigureQuery) ([]FigurePoint, error)
	// Parts returns the totals of each agent and of each platform in the query's space, by
	// their names. Agent and platform of the query do not count.
	Parts(ctx context.Context, q FigureQuery) ([]FigureTotal, error)
}
