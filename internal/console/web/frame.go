package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/api"
	"github.com/trestle-bridge/trestle/spaces"
)

type framePage struct {
	pageLayout
	Frame      api.FrameAnswer
	Phase      spaces.Phase
	Verdict    string
	Drift      string // how far the estimate was off
	Plan       *framePlan
	Keyframe   *framePlan
	Messages   []shownMessage
	Compared   bool // there is a frame before this one
	Same       int  // messages at the beginning that are the same as in the one before
	Prev, Next string
	Bar        []areaBar
	BarEnd     string
	Areas      []string
}

// A framePlan is the plan of a frame or keyframe as it is stored.
type framePlan struct {
	Budget int        `json:"budget"`
	Tokens int        `json:"tokens"`
	Fixed  int        `json:"fixed"`
	Items  []planItem `json:"items"`
	Shed   []planItem `json:"shed"`
}

type planItem struct {
	Area   string  `json:"area"`
	What   string  `json:"what"`
	Form   string  `json:"form"`
	Tokens int     `json:"tokens"`
	Score  float64 `json:"score"`
	Why    string  `json:"why"`
}

// A shownMessage is one message of a frame on its page.
type shownMessage struct {
	console.Message
	Same  bool
	Fold  bool // it is long and no news
	Bytes int64
	Cut   string // how much of the text is not on the page
}

// maxShown is how much of one message is on the page.
const maxShown = 64 << 10

// An areaBar is the share of one area of a frame.
type areaBar struct {
	Area  string
	X, W  int
	Title string
}

func (site runPages) pageFrame(r *http.Request) (view, error) {
	f, err := site.api.Runs.ReadFrame(r)
	if err != nil {
		return nil, err
	}
	p := &framePage{
		pageLayout: pageLayout{Title: fmt.Sprintf("Frame %d of %s", f.Step.N, f.Run.Mind), Terminal: "trestle hud " + f.Run.Mind.String()},
		Frame:      api.FrameAnswerOf(f), Phase: f.Step.Phase, Verdict: verdictOn(f), Plan: planOf(f.Step.Frame),
		Prev: stepPath(f.Before), Next: stepPath(f.After),
	}
	if f.Keyframe != nil {
		p.Keyframe = planOf(f.Keyframe.Plan)
	}
	if a := p.Frame; a.Reported > 0 && a.Estimate > 0 {
		p.Drift = fmt.Sprintf("%+.1f %% of the estimate", float64(a.Reported-a.Estimate)*100/float64(a.Estimate))
	}
	var before []console.Message
	if f.Before.Run != "" {
		last, err := site.Store.Frame(r.Context(), f.Before.Run, f.Before.Step)
		if err != nil {
			return nil, err
		}
		before = last.Messages
	}
	p.Compared = before != nil
	p.lay(f.Messages, before)
	p.bars()
	return p, nil
}

// lay puts the messages on the page, each marked when the frame before began
// with the same.
func (p *framePage) lay(now, before []console.Message) {
	same := true
	for i, m := range now {
		same = same && i < len(before) && alike(m, before[i])
		s := shownMessage{Message: m, Same: same, Bytes: int64(len(m.Text))}
		s.Fold = len(m.Text) > 200 && (same || m.Part == "system" || m.Part == "log")
		if same {
			p.Same++
		}
		if over := len(m.Text) - maxShown; over > 0 {
			s.Text, s.Cut = m.Text[:maxShown], console.Size(int64(over))
		}
		p.Messages = append(p.Messages, s)
	}
}

func alike(a, b console.Message) bool {
	return a.Role == b.Role && a.Text == b.Text && a.CallID == b.CallID && slices.Equal(a.Calls, b.Calls)
}

// bars draws what takes the room: instructions and tools, then the areas of the
// plan, against the budget.
func (p *framePage) bars() {
	if p.Plan == nil {
		return
	}
	whole := max(p.Plan.Fixed+p.Plan.Budget, p.Plan.Fixed+p.Plan.Tokens, 1)
	x := 0
	add := func(area, title string, tokens int) {
		w := tokens * 1000 / whole
		if tokens > 0 {
			p.Bar = append(p.Bar, areaBar{area, x, max(w, 1), fmt.Sprintf("%s: %s tokens", title, console.NarrowThousands(tokens))})
			p.Areas = append(p.Areas, area)
		}
		x += w
	}
	add("fixed", "instructions and tools", p.Plan.Fixed)
	for _, item := range p.Plan.Items {
		area := item.Area
		if item.What == "this cycle" {
			area = "cycle"
		}
		add(area, area, item.Tokens)
	}
	p.BarEnd = console.NarrowThousands(whole)
}

// stepPath is where the page of the step is; empty for none.
func stepPath(p console.StepRef) string {
	if p.Run == "" {
		return ""
	}
	return fmt.Sprintf("/runs/%s/steps/%d", p.Run, p.Step)
}

// planOf reads a stored plan; nil when there is none.
func planOf(stored []byte) *framePlan {
	var plan framePlan
	if len(stored) == 0 || json.Unmarshal(stored, &plan) != nil {
		return nil
	}
	return &plan
}

// verdictOn returns how exact the page is.
func verdictOn(f console.Frame) string {
	switch {
	case f.Step.Expired:
		return "What this frame was made of is not kept any more (retention.frames); its sizes are."
	case f.Messages == nil:
		return "What this frame was made of was not recorded."
	case f.Exact:
		return "These are the bytes the model was sent; their hash is " + f.Step.Request + "."
	}
	return "Words have been deleted since: what is left is shown, and it is no longer what the model was sent."
}
