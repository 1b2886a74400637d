package shell

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/spaces"
)

// A ToolBox offers agents the tools of tool servers, commands and the web, and calls them.
// It is safe for concurrent use.
type ToolBox interface {
	// Offered returns the tools that are granted to an agent. It never waits: a server that
	// does not answer keeps its tools, and their calls say so.
	Offered(agent spaces.AgentID) ToolOffer
	// Use calls a tool and returns what it answered. An error is for the operator; the
	// answer's text is for the model in any case. When ctx is done, the call is cancelled.
	Use(ctx context.Context, use ToolUse) (ToolAnswer, error)
}

// An OutsideAccess is what a shell needs to call outside tools. The zero value is that of
// agents without any.
type OutsideAccess struct {
	Box    ToolBox
	Runner ToolRunStore
	Reader ToolRunReader
}

// A ToolOffer is the set of outside tools that an agent has.
type ToolOffer struct {
	Version string        // another one for another set
	Tools   []OutsideTool // always in the same order
	Skills  []OfferedSkill
	Own     []string // tools of our own that are offered only where they are granted
	// SchemaTokens is how many tokens the tools' descriptions and schemas may take of every
	// request. Tools beyond it are offered by name, with tool_details. 0: no limit.
	SchemaTokens int
}

// An OutsideTool is a tool that acts outside of the rooms.
type OutsideTool struct {
	Name      string          // as models call it: letters, digits, "_" and "-", at most 64
	Title     string          // as people and configurations call it: "github.create_issue"
	Server    string          // that has it, as people call it
	About     string          // for the model
	Schema    json.RawMessage // JSON schema of its arguments, an object
	Tier      spaces.ToolTier
	ReadOnly  bool // it changes nothing, by the word of the operator or of a trusted server
	Repeats   bool // it may be called again when a process ended while it ran
	Reaches   bool // what it is given may leave the machine
	Approve   ApprovalPolicy
	Approvers []string      // who may allow a call, see [spaces.ToolApproval]
	Patience  time.Duration // how long a run waits for it before it ends; 0: 10 s
}

// schemaTokens returns how many tokens its description and schema take of a request.
func (t *OutsideTool) schemaTokens() int {
	return hud.Bound(t.About) + hud.Bound(string(t.Schema)) + hud.Bound(t.Name)
}

// NamedAlone returns the names of the tools that are offered by name alone: descriptions
// and schemas of the others take the tokens that there are.
func (o ToolOffer) NamedAlone() (names []string) {
	left := o.SchemaTokens
	for i := range o.Tools {
		if tokens := o.Tools[i].schemaTokens(); o.SchemaTokens > 0 && tokens > left {
			names = append(names, o.Tools[i].Name)
		} else {
			left -= tokens
		}
	}
	return names
}

// risk returns the tool's risk class.
func (t *OutsideTool) risk() spaces.ToolRisk {
	if t.ReadOnly {
		return spaces.RiskReadOutside
	}
	return spaces.RiskWriteOutside
}

// An ApprovalPolicy says whether a person has to allow each call of a tool.
type ApprovalPolicy string

// The policies for approvals. The empty one asks for a tool that changes something, and
// for one that could carry out what not all readers of the room may know.
const (
	ApproveNever  ApprovalPolicy = "never"
	ApproveAsk    ApprovalPolicy = "ask"    // unless a person always allows it there
	ApproveAlways ApprovalPolicy = "always" // each call anew
)

// A ToolUse is one call of an outside tool.
type ToolUse struct {
	ID    string // unique for ever; the same when a call is repeated after a crash
	Tool  string
	Agent spaces.AgentID
	Space spaces.SpaceID
	Asker spaces.EntityID // whose words it is called for; empty: nobody's
	Args  json.RawMessage
	Input spaces.ToolInput // what the tool asked a person for before, with their choice; zero: nothing
	// Progress, unless nil, takes what the tool tells of its progress, at any time. It
	// returns at once.
	Progress func(text string)
}

// A ToolAnswer is what a tool answered.
type ToolAnswer struct {
	Text   string // data for the model, never instructions
	Failed bool   // the tool says that it did not do what was asked
	Unsure bool   // with an error: it may have been done
	// Input, where it has a question, is what the tool asks a person for before it goes
	// on: 2 to [MaxToolOptions] options. The call is then made again with the choice.
	Input spaces.ToolInput
}

// MaxToolOptions is how many options a person is offered for a tool: a button below them
// refuses.
const MaxToolOptions = maxOptions - 1

// defaultPatience is how long a run waits for tools before it ends and is woken by their
// results.
const defaultPatience = 10 * time.Second

// with returns the registry with the tools of an offer added.
func (c *ToolRegistry) with(offer ToolOffer) *ToolRegistry {
	if len(offer.Own) > 0 {
		c = c.offering(offer.Own...)
	}
	if len(offer.Skills) > 0 {
		c = c.withSkills(offer.Skills)
	}
	if len(offer.Tools) == 0 {
		return c
	}
	all := &ToolRegistry{specs: slices.Clone(c.specs), extra: c.extra, outside: true, skills: c.skills}
	alone := offer.NamedAlone()
	var folded []string
	for _, t := range offer.Tools {
		s := outsideSpec(t)
		if slices.Contains(alone, t.Name) {
			s.hidden = true
			folded = append(folded, s.name+": "+firstLine(s.about))
		} else {
			all.extra += t.schemaTokens()
		}
		all.specs = append(all.specs, s)
	}
	for _, s := range []toolSpec{define[readResult]("read_result", spaces.TierSystem, spaces.RiskReadOwn, false)} {
		all.specs = append(all.specs, s)
		all.extra += hud.Bound(s.about) + hud.Bound(string(s.schema))
	}
	if len(folded) > 0 {
		s := define[toolDetails]("tool_details", spaces.TierSystem, spaces.RiskReadOwn, false)
		s.about += "\n" + strings.Join(folded, "\n")
		all.specs = append(all.specs, s)
		all.extra += hud.Bound(s.about) + hud.Bound(string(s.schema))
	}
	all.list()
	return all
}

// offering returns the registry with the named tools on demand offered: itself where it
// offers them already, or does not have them.
func (c *ToolRegistry) offering(names ...string) *ToolRegistry {
	return c.offeringWhere(func(name string) bool { return slices.Contains(names, name) })
}

// WithDemanded returns the registry with everything offered that an agent can be offered.
func (c *ToolRegistry) WithDemanded() *ToolRegistry {
	return c.offeringWhere(func(string) bool { return true })
}

func (c *ToolRegistry) offeringWhere(named func(string) bool) *ToolRegistry {
	all := &ToolRegistry{specs: slices.Clone(c.specs), extra: c.extra, outside: c.outside, skills: c.skills}
	changed := false
	for i := range all.specs {
		if s := &all.specs[i]; s.hidden && s.onDemand && named(s.name) {
			s.hidden, changed = false, true
			all.extra += hud.Bound(s.about) + hud.Bound(string(s.schema))
		}
	}
	if !changed {
		return c
	}
	all.list()
	return all
}

// WithFileReading returns the registry with the tool that reads the files of messages.
func (c *ToolRegistry) WithFileReading() *ToolRegistry {
	all := c.plus(define[readFile]("read_file", spaces.TierPlatform, spaces.RiskReadOwn, false))
	all.extra = c.extra + readFileTokens
	return all
}

// plus returns the registry with another tool of our own.
func (c *ToolRegistry) plus(s toolSpec) *ToolRegistry {
	all := &ToolRegistry{specs: append(slices.Clone(c.specs), s), extra: c.extra + hud.Bound(s.about) + hud.Bound(string(s.schema))}
	all.list()
	return all
}

// firstLine returns the beginning of a description.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(line); len(r) > 100 {
		line = string(r[:99]) + "…"
	}
	return line
}

// outsideSpec returns the spec of an outside tool. A schema that cannot be checked allows
// any object; the tool's server checks the arguments itself.
func outsideSpec(t OutsideTool) toolSpec {
	schema, check := &jsonschema.Schema{Type: "object"}, (*jsonschema.Resolved)(nil)
	var own jsonschema.Schema
	if json.Unmarshal(t.Schema, &own) == nil {
		if r, err := own.Resolve(nil); err == nil {
			check = r
		}
	}
	if check == nil {
		check, _ = schema.Resolve(nil) // a type alone always resolves
	}
	return toolSpec{
		name: t.Name, tier: t.Tier, risk: t.risk(), schema: t.Schema, about: t.About, check: check, outside: &t,
		decode: func(args []byte) (tool, error) { return outsideCall{&t, string(args)}, nil },
	}
}

// catalogueOf returns the tools of an agent.
func (s *Shell) catalogueOf(agent spaces.AgentID) *ToolRegistry {
	if s.runner == nil {
		return s.catalogue
	}
	return s.runner.registry(agent, s.catalogue)
}

// registry returns own tools with those that an agent is offered.
func (r *toolRunner) registry(agent spaces.AgentID, own *ToolRegistry) *ToolRegistry {
	offer := r.box.Offered(agent)
	r.mu.Lock()
	defer r.mu.Unlock()
	if have := r.offered[agent]; have.registry != nil && have.version == offer.Version {
		return have.registry
	}
	all := own.with(offer)
	r.offered[agent] = offeredTools{offer.Version, all}
	return all
}

// offeredTools are the tools of an agent at one version of its offer.
type offeredTools struct {
	version  string
	registry *ToolRegistry
}

// An outsideCall is a call of an outside tool.
type outsideCall struct {
	tool *OutsideTool
	args string
}

// maxToolCalls is how many outside tools one step may call.
const maxToolCalls = 8

func (a outsideCall) perform(s *stepContext) toolResult {
	switch {
	case s.branch != "":
		return s.deny("rehearsal", "No tool is called in a rehearsal.", "Say what you would call.")
	case s.stop != "":
		return s.deny("run_ends", "This wake ends with an earlier call of the same step.", "Call the tool first, and read its result.")
	case len(s.outside.runs) >= maxToolCalls:
		return s.deny("too_many_calls", "At most "+strconv.Itoa(maxToolCalls)+" outside tools can be called in one step.", "Call the others in the next step.")
	}
	if over := s.outside.overLimit(s.settings.Budget, a.tool.Tier, len(s.outside.runs)); over != "" {
		return s.deny("tool_limit", over, "Say what you know without it, and that an operator can raise the limit; or try again later.")
	}
	run := spaces.ToolRun{
		ID: s.newID(), Cycle: s.wake.Cycle.ID, Call: s.call, Mind: s.wake.Cycle.Mind, Space: s.about(), Asker: s.asker(),
		Tool: a.tool.Name, Server: a.tool.Server, Args: a.args, Risk: a.tool.risk(), Repeats: a.tool.Repeats || a.tool.ReadOnly,
		State: spaces.ToolReady, Proposed: s.now, Readers: readersOf(s.view.Seats, []spaces.SpaceID{s.about()}),
	}
	if t := s.wake.Timer; t != nil && (t.Kind == spaces.TimerTool || t.Kind == spaces.TimerTask) {
		run.Thread = s.outside.thread
	} else if n := len(s.wake.Events); n > 0 && run.Space == s.wake.Cycle.Space {
		run.Thread = s.wake.Events[n-1].Thread
	}
	if a.needsApproval(s) {
		run.State = spaces.ToolAsked
		run.ToolApproval = spaces.ToolApproval{Code: approvalCode(run.ID), Approvers: a.tool.Approvers, Expires: s.now.Add(approvalTime)}
	}
	s.outside.runs = append(s.outside.runs, run)
	return toolResult{ok: true, pending: true}
}

// toolDetails shows the descriptions and arguments of tools that are offered by name alone.
type toolDetails struct {
	Names []string `json:"names" jsonschema:"of the tools"`
}

func (a toolDetails) perform(s *stepContext) toolResult {
	var out strings.Builder
	for _, name := range a.Names {
		t := s.outside.tools.find(name)
		if t == nil || t.outside == nil {
			return s.deny("unknown_tool", "There is no tool "+hud.Quote(name)+".", "Use a name from the description of tool_details.")
		}
		out.WriteString("TOOL " + t.name + ": " + t.about + "\nARGUMENTS (JSON schema): " + string(t.schema) + "\n")
	}
	return s.shown(strings.TrimSpace(out.String()), nil)
}

// list makes what is offered of the specs.
func (c *ToolRegistry) list() {
	var offers []spaces.ToolDefinition
	for _, s := range c.specs {
		if s.hidden {
			continue
		}
		c.tools = append(c.tools, llm.ToolSpec{Name: s.name, Description: s.about, Schema: s.schema})
		offers = append(offers, spaces.ToolDefinition{Name: s.name, Tier: s.tier, Risk: s.risk, About: s.about, Schema: s.schema, Version: s.version})
	}
	c.manifest = spaces.NewManifest(offers)
}
