package shell

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

// approvalTime is how long people may decide about a call.
const approvalTime = 24 * time.Hour

// approvalCode returns the short code by which people decide about a run.
func approvalCode(id string) string {
	sum := sha256.Sum256([]byte(id))
	return base32.StdEncoding.EncodeToString(sum[:])[:5]
}

// needsApproval reports whether a person has to allow the call: one that changes something
// outside, unless it is always allowed there, and one that could carry out what not all
// readers of the room may know.
func (a outsideCall) needsApproval(s *stepContext) bool {
	t := a.tool
	switch t.Approve {
	case ApproveAlways:
		return true
	case ApproveNever:
		return false
	case ApproveAsk:
		return !slices.Contains(s.outside.allowed, t.Name)
	}
	if !t.ReadOnly {
		return !slices.Contains(s.outside.allowed, t.Name)
	}
	if !t.Reaches {
		return false
	}
	seat := s.view.Seat(s.about())
	if seat == nil || !hud.KnowsMore(s.view, seat.Room) {
		return false
	}
	return !saidHere(s, seat.Room, a.args) && !slices.Contains(s.outside.allowed, t.Name)
}

// saidHere reports whether the arguments are nothing but an address that a person wrote
// in the room, or that a result of this cycle has: it carries nothing out.
func saidHere(s *stepContext, room *hud.SharedRoom, args string) bool {
	var object map[string]any
	if json.Unmarshal([]byte(args), &object) != nil || len(object) == 0 {
		return false
	}
	for _, v := range object {
		address, text := v.(string)
		if !text || !hud.SaidHere(s.view, room, address) {
			return false
		}
	}
	return true
}

// requestApproval returns the notice by which the room is asked to decide about a call.
func (c *cycle) requestApproval(run *spaces.ToolRun) spaces.RoomNotice {
	return spaces.RoomNotice{
		Room: run.Space, Thread: run.Thread, Key: run.RequestKey(), Text: approvalText(c.agent.Name, run, c.label(run), c.shell.Now().Location()),
		Choices: []spaces.ChoiceButton{
			{Label: "Once", Value: "approve " + run.Code},
			{Label: "Always here", Value: "approve " + run.Code + " always"},
			{Label: "No", Value: "deny " + run.Code},
		},
	}
}

// label returns what the room calls the person who asked for a call.
func (c *cycle) label(run *spaces.ToolRun) string {
	c.mind.mu.Lock()
	defer c.mind.mu.Unlock()
	if seat := c.mind.seat(run.Space); seat != nil && run.Asker != "" {
		return seat.Room.Label(run.Asker)
	}
	return ""
}

// maxApprovalArgs is how many bytes of arguments a request shows; longer ones are shown by
// the console and by trestle approvals.
const maxApprovalArgs = 1_500

// approvalText says what a person decides: which agent, which tool, the exact arguments,
// who asked for it, and until when.
func approvalText(agent string, run *spaces.ToolRun, asker string, zone *time.Location) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s wants to use %s**", hud.CleanName(agent), run.Tool)
	if run.Server != "" {
		fmt.Fprintf(&b, " (%s)", hud.CleanName(run.Server))
	}
	if asker != "" {
		fmt.Fprintf(&b, ", asked by %s", asker)
	}
	b.WriteString(":\n```\n" + ReadableArgs(run.Args, maxApprovalArgs) + "\n```\n")
	fmt.Fprintf(&b, "Write `approve %s` to allow it once, `approve %[1]s always` to allow it here always, or `deny %[1]s` (until %s).", run.Code, run.Expires.In(zone).Format("Mon 15:04"))
	return b.String()
}

// ReadableArgs returns JSON arguments as lines "name: value", sorted by name, with what
// hides made visible. What is longer than most bytes ends with a sentence that says so.
func ReadableArgs(args string, most int) string {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(args), &object) != nil || len(object) == 0 {
		object = nil
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(object)) {
		value := string(object[name])
		var text string
		if json.Unmarshal(object[name], &text) == nil {
			value = hud.Quote(text)
		}
		lines = append(lines, name+": "+value)
	}
	out := strings.Join(lines, "\n")
	if object == nil {
		out = "no arguments"
	}
	out = strings.ReplaceAll(out, "```", "`\u200b``")
	if len(out) > most {
		out = textformat.ClipBytes(out, most) + fmt.Sprintf("\n(%d more characters: see trestle approvals)", len(out)-most)
	}
	return out
}

// maxToolInputs is how often a tool may ask for input within one call.
const maxToolInputs = 5

// requestInput returns how a run goes on that needs a choice of the person whom it is
// called for: what it asks is data of the tool, and shown as that.
func (r *toolRunner) requestInput(run spaces.ToolRun, input spaces.ToolInput) spaces.ToolRunEnd {
	input.Choice = 0
	run.Input = input
	code := approvalCode(run.RequestKey())
	a := spaces.ToolApproval{Code: code, Approvers: []string{spaces.ApproverRequester}, Expires: r.now().Add(approvalTime)}
	var b strings.Builder
	fmt.Fprintf(&b, "**%s asks**", run.Tool)
	if run.Server != "" {
		fmt.Fprintf(&b, " (%s)", hud.CleanName(run.Server))
	}
	shown := strings.ReplaceAll(hud.Quote(input.Question)+spaces.OptionList(input.Options), "```", "`\u200b``")
	fmt.Fprintf(&b, ":\n```\n%s\n```\nWrite `choose %s` with the number of an option, or `deny %[2]s` (until %s).", shown, code, a.Expires.In(r.now().Location()).Format("Mon 15:04"))
	n := spaces.RoomNotice{Room: run.Space, Thread: run.Thread, Key: run.RequestKey(), Text: b.String()}
	for i, o := range input.Options {
		n.Choices = append(n.Choices, spaces.ChoiceButton{Label: o, Value: fmt.Sprintf("choose %s %d", code, i+1)})
	}
	n.Choices = append(n.Choices, spaces.ChoiceButton{Label: "Decline", Value: "deny " + code})
	return spaces.ToolRunEnd{State: spaces.ToolAsked, Input: input, ToolApproval: a, Notice: n}
}
