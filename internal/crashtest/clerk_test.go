//go:build faultinject

package crashtest

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
)

// A clerk is a model that has tools. It calls the tool that a line of the INBOX asks for,
// with the token of the line, and then tells in one message what came of it. What it does
// follows from the transcript alone. It never calls twice for one token.
type clerk struct{}

// An errand is what the transcript says about one token.
type errand struct {
	token string
	tool  string // that is to be called; empty: none
	reply string // handle of the line that asks; empty: it is not shown
	said  string // what came of the call; empty: it was not called
	told  bool
	shown bool // as what woke it
	woke  int  // place of the turn by which its end woke the mind
}

// ends are what a clerk says of an errand, by what the transcript has of its end.
var ends = []struct{ shown, said string }{
	{"receipt of", "receipted"},
	{"may have happened", "unknown"},
	{"Not finished yet", ""},
	{"has to allow this", ""},
	{`"success":false`, "refused"},
	{"could not be called", "failed"},
	{"was cancelled", "cancelled"},
}

// end returns what a clerk says of an errand; empty while the call is under way.
func (e *errand) end() string {
	if e.tool == "" {
		return "noted"
	}
	for _, end := range ends {
		if strings.Contains(e.said, end.shown) {
			return end.said
		}
	}
	return "odd: " + strings.ToValidUTF8(e.said[:min(len(e.said), 200)], "?")
}

// Generate calls, tells or rests.
func (clerk) Generate(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	if ctx.Err() != nil {
		return llm.ModelResponse{}, llm.Interrupted(ctx)
	}
	if r.NoCalls {
		return llm.ModelResponse{Text: "I will look at each.", Finish: llm.Stopped}, nil
	}
	errands, made := errandsIn(r.Messages)
	resp := llm.ModelResponse{Finish: llm.Called}
	call := func(e *errand, tool string, args map[string]any) {
		made++
		resp.Calls = append(resp.Calls, llmtest.Call(fmt.Sprintf("call_%d_%s", made, e.token), tool, args))
	}
	for _, e := range errands {
		if e.tool != "" && e.said == "" && len(resp.Calls) < 8 { // at once: a call that waits for a person ends the wake
			call(e, "ledger_"+e.tool, map[string]any{"token": e.token})
		}
	}
	if len(resp.Calls) > 0 {
		return resp, nil
	}
	last := 0 // only the wake of a call tells of it where its line is not shown: it is in the room of it
	for _, e := range errands {
		last = max(last, e.woke)
	}
	ready := slices.DeleteFunc(slices.Clone(errands), func(e *errand) bool {
		return e.told || e.end() == "" || !e.shown && e.said == "" || e.reply == "" && e.woke < last
	})
	if len(ready) == 0 {
		return llm.ModelResponse{Text: "Responded to everybody about their errands. Nothing is pending.", Finish: llm.Stopped}, nil
	}
	for i, e := range ready[:min(len(ready), 4)] {
		args := map[string]any{"text": e.token + " is " + e.end()}
		if e.reply != "" {
			args["reply_to"] = e.reply
		}
		if i+1 < len(ready) {
			args["more"] = true
		}
		call(e, "send_message", args)
	}
	return resp, nil
}

// asksFor finds what a line asks for.
var asksFor = regexp.MustCompile(`^(count|enter|guard|about) (zk[0-9]{5})\b`)

// errandsIn returns the errands of a transcript in the order in which it shows them, and
// how many calls it has.
func errandsIn(messages []llm.TranscriptMessage) (all []*errand, calls int) {
	of := map[string]*errand{}
	meet := func(token string) *errand {
		if of[token] == nil {
			of[token] = &errand{token: token}
			all = append(all, of[token])
		}
		return of[token]
	}
	type act struct{ name, args string }
	asked := map[string]act{}
	for i := range messages {
		m := &messages[i]
		for _, c := range m.Calls {
			calls++
			asked[c.ID] = act{c.Name, c.Args}
		}
		switch m.Role {
		case llm.System, llm.Assistant:
		case llm.Result:
			a := asked[m.CallID]
			tool, isTool := strings.CutPrefix(a.name, "ledger_")
			for _, tk := range token.FindAllString(a.args, -1) {
				if e := meet(tk); isTool {
					e.tool, e.said = tool, m.Text
				} else if strings.Contains(m.Text, `"messageId"`) {
					e.told = true
				}
			}
		case llm.User:
			for _, l := range inbox(m.Text) {
				e := meet(l.token)
				e.reply = l.id
				if e.tool == "" && l.woke { // what did not wake it asks others, or asked earlier
					e.tool = l.tool
				}
				e.shown = e.shown || l.woke
			}
			if _, woke, ok := strings.Cut(m.Text, "\nCALLED "); ok {
				e := meet(token.FindString(woke))
				e.tool, e.said, e.woke = "woken", woke, i
			}
		}
	}
	return all, calls
}
