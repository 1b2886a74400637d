package shell

import (
	"embed"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/spaces"
)

// A ToolCall is one thing the model asks for, in the form both dialects share.
type ToolCall struct {
	ID   string // of the call; unique within the cycle
	Name string
	Args string // JSON, as the model wrote it
}

// A parsedCall is an act as it is understood, once for all who look at it.
type parsedCall struct {
	ToolCall
	spec  *toolSpec // nil: there is no act of that name
	deed  tool      // nil: it cannot be made out
	wrong string    // why not, in a sentence for the model
	key   string    // the same for the same act with the same arguments
	// repaired is true when the model wrote name or arguments in another form.
	repaired bool
}

// A tool is the typed form of an act: its fields are the arguments, and perform
// decides what comes of it. It has no effect of its own; the step's commit has.
type tool interface {
	perform(s *stepContext) toolResult
}

// An enumerator is a tool some of whose arguments are one of a few words.
type enumerator interface{ values() map[string][]string }

// A toolSpec is what the shell knows about one act (PRD-6.1).
type toolSpec struct {
	name   string
	tier   spaces.ToolTier
	risk   spaces.ToolRisk
	room   bool // it acts on a room
	hidden bool // not offered to the model
	// onDemand is true for a tool that a grant or the situation offers.
	onDemand bool
	schema   json.RawMessage
	about    string
	check    *jsonschema.Resolved
	values   map[string][]string // of the arguments that are one of a few words
	decode   func(args []byte) (tool, error)
	// outside is the tool that the act calls outside of the rooms; nil for our own.
	outside *OutsideTool
	version string // see [spaces.ToolDefinition]
}

// plainLists says of lists that they are lists: that they may be null as well is how
// Go has them, and not every endpoint understands two types.
func plainLists(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if slices.Contains(s.Types, "array") {
		s.Type, s.Types = "array", nil
	}
	plainLists(s.Items)
	for _, p := range s.Properties {
		plainLists(p)
	}
}

// open leaves out of a schema that there are no other arguments: it costs tokens in every
// request, some endpoints do not take it, and what a call has is checked anyhow.
func open(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	s.AdditionalProperties = nil
	open(s.Items)
	for _, p := range s.Properties {
		open(p)
	}
}

//go:embed acts/*.md
var actTexts embed.FS

// define builds the spec of the act whose arguments are T and whose description
// is acts/NAME.md. It runs once, at wiring, and panics on our own mistakes.
func define[T tool](name string, tier spaces.ToolTier, risk spaces.ToolRisk, room bool) toolSpec {
	text, err := actTexts.ReadFile("acts/" + name + ".md")
	if err != nil {
		panic("shell: act without a description: " + err.Error())
	}
	schema, err := jsonschema.For[T](nil)
	if err != nil {
		panic("shell: act " + name + " has no schema: " + err.Error())
	}
	plainLists(schema)
	check, err := schema.Resolve(nil)
	if err != nil {
		panic("shell: act " + name + ": " + err.Error())
	}
	var one T
	values := map[string][]string{}
	if e, ok := any(one).(enumerator); ok {
		values = e.values()
	}
	offered := schema.CloneSchemas()
	open(offered)
	for name, all := range values {
		for _, v := range all {
			offered.Properties[name].Enum = append(offered.Properties[name].Enum, v)
		}
	}
	raw, err := json.Marshal(offered)
	if err != nil {
		panic("shell: act " + name + ": " + err.Error())
	}
	return toolSpec{
		name: name, tier: tier, risk: risk, room: room, schema: raw, about: strings.TrimSpace(string(text)), check: check, values: values,
		decode: func(args []byte) (tool, error) {
			var d T
			err := json.Unmarshal(args, &d)
			return d, err
		},
	}
}

// understood returns a tool that is not offered and still understood: another does the
// same.
func understood(s toolSpec) toolSpec {
	s.hidden = true
	return s
}

// onDemand returns a tool that is offered only where a grant or the situation asks for it,
// see [ToolRegistry.offering], and understood everywhere. Few runs need it, and each
// request has the schemas of all that is offered.
func onDemand(s toolSpec) toolSpec {
	s.hidden, s.onDemand = true, true
	return s
}

// A ToolRegistry is every act this version has, in the order the model sees them.
type ToolRegistry struct {
	specs    []toolSpec
	tools    []llm.ToolSpec
	manifest spaces.ToolManifest
	extra    int  // tokens in a request of tools besides those that all agents have
	outside  bool // some of them are outside tools
	skills   []OfferedSkill
}

// NewCatalogue returns the acts of DESIGN 6 that are built; those that send files
// only where files is set.
func NewCatalogue(files bool) *ToolRegistry {
	const sys, plat = spaces.TierSystem, spaces.TierPlatform
	c := &ToolRegistry{specs: []toolSpec{
		define[sendMessage]("send_message", plat, spaces.RiskWriteOwn, true),
		understood(define[sendReply]("send_reply", plat, spaces.RiskWriteOwn, true)),
		define[ask]("ask", plat, spaces.RiskWriteOwn, true),
		define[checklist]("checklist", plat, spaces.RiskWriteOwn, true),
		onDemand(define[check]("check", plat, spaces.RiskWriteOwn, false)), // of an open checklist
		define[react]("react", plat, spaces.RiskWriteOwn, true),
		define[editMessage]("edit_message", plat, spaces.RiskWriteOwn, true),
		define[deleteMessage]("delete_message", plat, spaces.RiskWriteOwn, true),
		define[look]("look", sys, spaces.RiskReadOwn, false),
		understood(define[use]("use", sys, spaces.RiskReadOwn, false)),
		define[enterSpace]("enter_space", sys, spaces.RiskReadOwn, false),
		understood(define[view]("view", sys, spaces.RiskReadOwn, false)),
		define[readMessages]("read_messages", plat, spaces.RiskReadOwn, false),
		define[search]("search", plat, spaces.RiskReadOwn, false),
		onDemand(define[sleep]("sleep", sys, spaces.RiskReadOwn, false)),
		define[remind]("remind", sys, spaces.RiskReadOwn, false),
		understood(define[timer]("timer", sys, spaces.RiskReadOwn, false)),
		understood(define[plan]("plan", sys, spaces.RiskReadOwn, false)),
		onDemand(define[bookmark]("bookmark", sys, spaces.RiskReadOwn, false)),
		define[note]("note", sys, spaces.RiskReadOwn, false),
		define[goal]("goal", sys, spaces.RiskReadOwn, false),
		define[remember]("remember", sys, spaces.RiskReadOwn, false),
		define[forget]("forget", sys, spaces.RiskReadOwn, false),
		onDemand(define[fork]("fork", sys, spaces.RiskReadOwn, false)),
		define[done]("done", sys, spaces.RiskReadOwn, false),
		onDemand(define[proposeMission]("propose_mission", plat, spaces.RiskWriteOwn, true)),
		onDemand(define[mission]("mission", plat, spaces.RiskWriteOwn, false)),
		onDemand(define[submitTask]("submit_task", plat, spaces.RiskWriteOwn, false)),
		onDemand(define[returnTask]("return_task", plat, spaces.RiskReadOwn, false)),
		onDemand(define[verifyTask]("verify_task", plat, spaces.RiskReadOwn, false)),
		onDemand(define[setUp]("set_up", plat, spaces.RiskWriteOwn, true)), // it speaks, and can be taken away
	}}
	if files {
		c.specs = append(c.specs, define[sendFile]("send_file", plat, spaces.RiskWriteOwn, true))
	}
	c.list()
	return c
}

// Tools returns the acts as the model is offered them: always the same bytes.
// The caller must not change them.
func (c *ToolRegistry) Tools() []llm.ToolSpec { return c.tools }

// Manifest returns the version that this set of acts is; every cycle says which one
// it was offered. Nobody may change it.
func (c *ToolRegistry) Manifest() spaces.ToolManifest { return c.manifest }

// Tier returns how far the act is trusted. An unknown tool is as little
// trusted as can be (PRD-6.1-7).
func (c *ToolRegistry) Tier(name string) spaces.ToolTier {
	if s := c.find(name); s != nil {
		return s.tier
	}
	return spaces.TierMarketplace
}

// IsBuiltIn reports whether a name, in whatever case and form, is that of one of our own
// tools, or of one that models use for one.
func IsBuiltIn(name string) bool {
	builtIn := NewCatalogue(true)
	return builtIn.index(plainName(name)) >= 0 || name == "read_result" || name == "tool_details" || name == "read_file" || name == "read_skill"
}

// isRoom reports whether the act does something to a room.
func (c *ToolRegistry) isRoom(name string) bool {
	s := c.find(name)
	return s != nil && s.room
}

// blame fills in which act a denial is about.
func (c *ToolRegistry) blame(d *spaces.Denial, name string) {
	d.Act, d.Tier = name, c.Tier(name)
	if s := c.find(name); s != nil {
		d.Risk = s.risk
	}
}

// toolNames are other names that models give to tools. Names are compared by
// [plainName].
var toolNames = map[string]string{
	"msg": "send_message", "say": "send_message", "send": "send_message", "message": "send_message", "sendtext": "send_message",
	"reply": "send_message", "respond": "send_message", "answer": "send_message", "speak": "send_message", "post": "send_message",
	"postmessage": "send_message", "sendmsg": "send_message", "replytomessage": "send_message",
	"askuser": "ask", "askquestion": "ask", "askhuman": "ask", "poll": "ask", "choose": "ask", "reacttomessage": "react", "addreaction": "react", "memorize": "remember", "savememory": "remember", "searchmessages": "search",
	"reminder": "remind", "setreminder": "remind", "createreminder": "remind", "remindme": "remind", "schedule": "remind", "lookup": "look",
}

// find returns the tool that a name means: its own, also in other case and with other
// separators, behind a prefix (functions.send_message) or before a number
// (send_message:0).
func (c *ToolRegistry) find(name string) *toolSpec {
	if i := c.index(plainName(name)); i >= 0 {
		return &c.specs[i]
	}
	name = strings.TrimRight(strings.TrimSpace(name), "():0123456789")
	if i := strings.LastIndexAny(name, ".:/|>"); i >= 0 {
		name = name[i+1:]
	}
	if i := c.index(plainName(name)); i >= 0 {
		return &c.specs[i]
	}
	return nil
}

func (c *ToolRegistry) index(plain string) int {
	if i := slices.IndexFunc(c.specs, func(s toolSpec) bool { return plainName(s.name) == plain }); i >= 0 {
		return i
	}
	own, known := toolNames[plain]
	return slices.IndexFunc(c.specs, func(s toolSpec) bool { return known && s.name == own })
}

// read makes out an act. Its name and arguments become those that the model was
// offered, where they can be understood in one way.
func (c *ToolRegistry) read(a ToolCall) parsedCall {
	r := parsedCall{ToolCall: a, spec: c.find(a.Name)}
	if r.spec == nil {
		return r
	}
	var args string
	if args, r.repaired, r.wrong = r.spec.understand(a.Args); r.wrong == "" {
		r.Args = args
		r.deed, r.wrong = r.spec.parse(args)
	}
	if named := a.Name != r.spec.name; r.deed != nil {
		r.Name, r.repaired = r.spec.name, r.repaired || named
	}
	r.key = doneKey(r.spec, r.Args)
	return r
}

// readAll makes out the acts of a step.
func (c *ToolRegistry) readAll(acts []ToolCall) []parsedCall {
	all := make([]parsedCall, len(acts))
	for i, a := range acts {
		all[i] = c.read(a)
	}
	return all
}

// parse checks arguments against the schema and returns their typed form, or what is
// wrong with them, in a sentence for the model.
func (s *toolSpec) parse(args string) (d tool, wrong string) {
	if strings.TrimSpace(args) == "" {
		args = "{}"
	}
	var loose map[string]any
	if json.Unmarshal([]byte(args), &loose) != nil {
		return nil, "The arguments could not be read: they are no JSON object."
	}
	if s.check.Validate(loose) != nil {
		return nil, misfit(s.check.Schema(), loose)
	}
	d, err := s.decode([]byte(args))
	if err != nil {
		return nil, "The arguments are not what this act takes."
	}
	return d, ""
}

// form returns how the tool is called, for a model that called it otherwise.
func (s *toolSpec) form() string {
	schema := s.check.Schema()
	var members []string
	for _, name := range schema.Required {
		members = append(members, strconv.Quote(name)+": …")
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		if !slices.Contains(schema.Required, name) {
			members = append(members, strconv.Quote(name)+"?: …")
		}
	}
	return s.name + " {" + strings.Join(members, ", ") + "}"
}
