package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/textformat"
)

// ToolConfig is what agents can do outside of the rooms.
type ToolConfig struct {
	Servers  []ToolServerEntry
	Commands []CommandToolEntry
	Web      WebToolConfig
	Skills   []string // folders that are skills, or hold some
	Tokens   int      // that descriptions and schemas may take of every request
}

// ToolServerEntry configures an MCP server: a program, or an address.
type ToolServerEntry struct {
	Key       string
	Command   []string // program and arguments; empty for a server at URL
	Env       map[string]adapters.SecretString
	URL       string
	Headers   map[string]adapters.SecretString
	Allow     []string // patterns of tools that are offered; empty: all
	Approvals ToolApprovals
	Timeout   time.Duration // of one call; 0 is the default
	// Trusted is true when the server's own word counts on which tools change nothing.
	Trusted       bool
	Sandbox       string // bwrap, or empty
	Network       bool   // with a sandbox: it may use the network
	Misconfigured bool
}

// Same reports whether both entries say the same.
func (e ToolServerEntry) Same(o ToolServerEntry) bool {
	return e.Key == o.Key && e.URL == o.URL && e.Timeout == o.Timeout && e.Trusted == o.Trusted && e.Sandbox == o.Sandbox && e.Network == o.Network &&
		slices.Equal(e.Command, o.Command) && maps.Equal(e.Env, o.Env) && maps.Equal(e.Headers, o.Headers) && slices.Equal(e.Allow, o.Allow) && e.Approvals.same(o.Approvals)
}

// ToolApprovals say which calls a person has to allow, and who may.
type ToolApprovals struct {
	Approve   map[string]string // policy by pattern of tools: never, ask, always
	Approvers []string          // requester, admins, owner, or adapter:user; empty: the default
}

// PolicyOf returns the policy for a tool of the server: that of its own name, else of the
// longest pattern that fits; empty without one.
func (a ToolApprovals) PolicyOf(tool string) (policy string) {
	best := -1
	for pattern, p := range a.Approve {
		if MatchesTool(pattern, tool) && len(pattern) > best {
			policy, best = p, len(pattern)
		}
	}
	return policy
}

func (a ToolApprovals) same(o ToolApprovals) bool {
	return maps.Equal(a.Approve, o.Approve) && slices.Equal(a.Approvers, o.Approvers)
}

// CommandToolEntry configures a program that is a tool.
type CommandToolEntry struct {
	Key           string
	About         string
	Run           []string
	Env           map[string]adapters.SecretString
	Schema        json.RawMessage // of its arguments, an object
	ReadOnly      bool
	Repeats       bool
	Approvals     ToolApprovals // with one pattern, *
	Timeout       time.Duration
	Sandbox       string
	Network       bool
	Misconfigured bool
}

// Same reports whether both entries say the same.
func (e CommandToolEntry) Same(o CommandToolEntry) bool {
	return e.Key == o.Key && e.About == o.About && e.ReadOnly == o.ReadOnly && e.Repeats == o.Repeats && e.Timeout == o.Timeout && e.Sandbox == o.Sandbox && e.Network == o.Network &&
		slices.Equal(e.Run, o.Run) && maps.Equal(e.Env, o.Env) && string(e.Schema) == string(o.Schema) && e.Approvals.same(o.Approvals)
}

// WebToolConfig configures web_fetch and web_search.
type WebToolConfig struct {
	Fetch      bool
	SearchKind string // searxng, brave; empty: no search
	SearchURL  string
	SearchKey  adapters.SecretString
}

// WebTools is the name by which agents are granted web_fetch and web_search.
const WebTools = "web"

// SkillTools is the name by which agents are granted skills.
const SkillTools = "skills"

// GrantedTools are built-in tools that only agents have to which they are granted by name:
// few need them, and each request has the schemas of all that is offered.
var GrantedTools = []string{"bookmark", "fork", "sleep"}

var approveWords = []string{"never", "ask", "always"}

var toolKeys = []keyRow{
	{"servers", "", "one entry for each MCP server; its key begins the names of its tools", keyForm{kind: entries, of: toolServerKeys}},
	{"commands", "", "one entry for each program that is a tool; its key is the tool's name", keyForm{kind: entries, of: commandToolKeys}},
	{"web", "", "tools for the web", keyForm{kind: aSection, of: webToolKeys}},
	{"skills", "", "folders of skills in the Agent Skills format, each a folder with a `SKILL.md`; paths are relative to this file", keyForm{kind: aList}},
	{"tokens", "6000", "tokens that descriptions and schemas of tools may take of every request; further tools are offered by name", keyForm{kind: aNumber}},
}

var toolServerKeys = []keyRow{
	{"command", "", "the program and its arguments, as a list; it runs in a folder of its own, and paths are relative to this file", keyForm{kind: aList}},
	{"env", "", "its environment, beside PATH, HOME, LANG and TMPDIR", keyForm{kind: aMap}},
	{"url", "", "the address of a server that speaks streamable HTTP, in place of a program", keyForm{}},
	{"headers", "", "headers of every request, such as `Authorization`", keyForm{kind: aMap}},
	{"allow", "all", "patterns of the tools that are offered, such as `search_*`", keyForm{kind: aList}},
	{"approve", "", "which calls a person has to allow, by patterns of tools: `never`, `ask` (unless a person always allows it there), `always`. A tool that changes something is `ask` without it", keyForm{kind: aMap, words: approveWords}},
	{"approvers", "", "who may allow a call: `requester`, `admins`, `owner`, or people as under `owners`. Without it: who asked, in a direct chat; admins elsewhere", keyForm{kind: aList}},
	{"timeout", "60s", "of one call", keyForm{}},
	{"trust", "none", "`annotations`: the server's own word counts on which of its tools change nothing and may be repeated", keyForm{kind: aWord, words: []string{"none", "annotations"}}},
	{"sandbox", "none", "`bwrap`: the program sees only `/usr` and its folder, by bubblewrap", keyForm{kind: aWord, words: sandboxWords}},
	{"network", "true", "whether the program may use the network; `false` needs the sandbox", keyForm{kind: aFlag}},
}

var sandboxWords = []string{"none", "bwrap"}

var commandToolKeys = []keyRow{
	{"about", "", "what it does, for the model", keyForm{}},
	{"run", "", "the program and its arguments, as a list; it runs in a folder of its own, and paths are relative to this file. It reads the arguments of a call as one JSON object and prints its answer", keyForm{kind: aList}},
	{"env", "", "its environment, beside PATH, HOME, LANG and TMPDIR", keyForm{kind: aMap}},
	{"input", "", "its arguments by name, each with a JSON schema: `place: {type: string}`. With `optional: true` it may be left out", keyForm{kind: aTree}},
	{"read_only", "false", "whether it changes nothing, so that no person has to allow it", keyForm{kind: aFlag}},
	{"repeat", "false", "whether it may run again when it was interrupted by a crash", keyForm{kind: aFlag}},
	{"approve", "", "as for a server, one word for all of its calls", keyForm{kind: aWord, words: approveWords}},
	{"approvers", "", "as for a server", keyForm{kind: aList}},
	{"timeout", "60s", "of one call", keyForm{}},
	{"sandbox", "none", "as for a server", keyForm{kind: aWord, words: sandboxWords}},
	{"network", "true", "as for a server", keyForm{kind: aFlag}},
}

var webToolKeys = []keyRow{
	{"fetch", "false", "`web_fetch`: reads a page or a document", keyForm{kind: aFlag}},
	{"search", "", "`web_search`: searches the web", keyForm{kind: aSection, of: webSearchKeys}},
}

var webSearchKeys = []keyRow{
	{"kind", "", "`searxng`, with the address of an instance that answers JSON, or `brave`, with a key", keyForm{kind: aWord, words: []string{"searxng", "brave"}}},
	{"url", "", "the address of the SearXNG instance", keyForm{}},
	{"key", "", "the API key for Brave", keyForm{kind: aSecret}},
}

var roomToolKeys = []keyRow{
	{"deny", "", "tools that no agent has there: names of servers and commands, or patterns such as `github.create_*`", keyForm{kind: aList}},
}

// toolName is the form of names of tool servers and commands.
var toolName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,23}$`)

// MatchesTool reports whether a pattern names a tool: a name, or one with * in it. Case
// counts.
func MatchesTool(pattern, name string) bool {
	ok, err := filepath.Match(pattern, name)
	return err == nil && ok
}

// readTools reads what agents can do outside of the rooms.
func (d *decoder) readTools(n *node) {
	s := openSection(n, findKey(topKeys, "tools").form)
	t := &d.config.Tools
	t.Tokens, t.Skills = s.number("tokens", 6000), s.words("skills")
	d.eachOf("tools.servers", s.get("servers"), toolServerKeys, d.readToolServer)
	d.eachOf("tools.commands", s.get("commands"), commandToolKeys, d.readCommandTool)
	d.readWebTools(s)
	d.reportEntry("tools", s.finish())
}

// eachOf calls read for every entry of a mapping below the top.
func (d *decoder) eachOf(path string, n *node, keys []keyRow, read func(path, key string, s *section)) {
	if n == nil || n.kind == nullNode {
		return
	}
	if n.kind != mapNode {
		d.reportEntry(path, []Error{{At: n.origin, What: path + " should hold entries by name", Remedy: "write one indented `name: {…}` for each"}})
		return
	}
	for _, e := range n.entries {
		s := openSection(e.value, keyForm{of: keys})
		if !toolName.MatchString(e.key) || e.key == WebTools || e.key == SkillTools {
			s.addError(e.origin, fmt.Sprintf("%q cannot be the name of tools", e.key), "take lower-case letters, digits, - and _, at most 24, and neither web nor skills")
		}
		read(path+"."+e.key, e.key, s)
	}
}

func (d *decoder) readToolServer(path, key string, s *section) {
	v := ToolServerEntry{
		Key: key, Command: s.words("command"), Env: s.secretMap("env"), URL: s.stringAt("url"), Headers: s.secretMap("headers"),
		Allow: s.words("allow"), Trusted: s.oneOf("trust", "none") == "annotations", Timeout: s.duration("timeout"), Sandbox: s.sandbox(), Network: s.flag("network", true),
	}
	v.Approvals = ToolApprovals{Approve: s.wordMap("approve"), Approvers: d.readApprovers(s)}
	s.checkURL("url", v.URL)
	switch {
	case len(v.Command) == 0 && v.URL == "" && len(s.errs) == 0:
		s.addError(s.node.origin, "the tool server has neither a command nor a url", "write command: [npx, -y, NAME], or url: https://…")
	case len(v.Command) > 0 && v.URL != "":
		s.addError(s.positionOf("url"), "the tool server has both a command and a url", "keep one of them")
	case v.URL != "" && (len(v.Env) > 0 || v.Sandbox != ""):
		s.addError(s.positionOf("url"), "env and sandbox are for programs, not for a server at an address", "remove them")
	case len(v.Command) > 0 && len(v.Headers) > 0:
		s.addError(s.positionOf("headers"), "headers are for a server at an address", "give a program its credentials in env")
	}
	for _, pattern := range slices.Concat(v.Allow, slices.Collect(maps.Keys(v.Approvals.Approve))) {
		if _, err := filepath.Match(pattern, ""); err != nil {
			s.addError(s.node.origin, fmt.Sprintf("%q is no pattern", pattern), "write a name, with * for any letters")
		}
	}
	d.noteSecrets(path, s)
	v.Misconfigured = d.reportEntry(path, s.finish())
	d.config.Tools.Servers = append(d.config.Tools.Servers, v)
}

func (d *decoder) readCommandTool(path, key string, s *section) {
	v := CommandToolEntry{
		Key: key, About: s.stringAt("about"), Run: s.words("run"), Env: s.secretMap("env"), ReadOnly: s.boolean("read_only"),
		Repeats: s.boolean("repeat"), Timeout: s.duration("timeout"), Sandbox: s.sandbox(), Network: s.flag("network", true),
	}
	v.Approvals.Approvers = d.readApprovers(s)
	if policy := s.oneOf("approve", ""); policy != "" {
		v.Approvals.Approve = map[string]string{"*": policy}
	}
	if len(v.Run) == 0 && len(s.errs) == 0 {
		s.addError(s.node.origin, "the command has no program", "write run: [python3, tools/weather.py]")
	}
	if v.About == "" && len(s.errs) == 0 {
		s.addError(s.node.origin, "the command has no description", "write about: one sentence that tells the model what it does")
	}
	for _, server := range d.config.Tools.Servers {
		if server.Key == key {
			s.addError(s.node.origin, fmt.Sprintf("%q is the name of a tool server as well", key), "take another name")
		}
	}
	v.Schema = s.inputSchema("input")
	d.noteSecrets(path, s)
	v.Misconfigured = d.reportEntry(path, s.finish())
	d.config.Tools.Commands = append(d.config.Tools.Commands, v)
}

func (d *decoder) readWebTools(top *section) {
	s := top.subsection("web")
	w := &d.config.Tools.Web
	w.Fetch = s.boolean("fetch")
	search := s.subsection("search")
	w.SearchKind, w.SearchURL, w.SearchKey = search.oneOf("kind", ""), search.stringAt("url"), search.secret("key")
	search.checkURL("url", w.SearchURL)
	switch {
	case w.SearchKind == "searxng" && w.SearchURL == "":
		search.addError(search.node.origin, "the SearXNG instance has no address", "write url: http://127.0.0.1:8888")
	case w.SearchKind == "brave" && w.SearchKey == "":
		search.addError(search.node.origin, "Brave needs a key", "write key: ${BRAVE_API_KEY}")
	case w.SearchKind == "" && (w.SearchURL != "" || w.SearchKey != ""):
		search.addError(search.node.origin, "the search has no kind", "write kind: searxng, or kind: brave")
	}
	d.noteSecrets("tools.web.search", search)
	errs := search.finish()
	s.errs = append(s.errs, errs...)
	if d.reportEntry("tools.web", s.finish()) {
		*w = WebToolConfig{}
	}
}

// readApprovers reads who may allow calls.
func (d *decoder) readApprovers(s *section) []string {
	var all []string
	for _, item := range s.list("approvers") {
		switch item.text {
		case "requester", "admins", "owner":
			all = append(all, item.text)
		default:
			if p, ok := d.readPerson(s, item); ok {
				all = append(all, p.String())
			}
		}
	}
	return all
}

// readAgentTools reads the tools that are granted to an agent.
func (d *decoder) readAgentTools(s *section) []string {
	var known []string
	for _, v := range d.config.Tools.Servers {
		known = append(known, v.Key)
	}
	for _, v := range d.config.Tools.Commands {
		known = append(known, v.Key)
	}
	known = slices.Concat(known, []string{WebTools, SkillTools}, GrantedTools)
	var all []string
	for _, item := range s.list("tools") {
		of, _, _ := strings.Cut(item.text, ".")
		if _, err := filepath.Match(item.text, ""); err != nil {
			s.addError(item.at, fmt.Sprintf("tools: %q is no pattern", item.text), "write a name, with * for any letters")
			continue
		}
		if !slices.ContainsFunc(known, func(name string) bool { return MatchesTool(of, name) }) {
			s.addError(item.at, fmt.Sprintf("tools: nothing under tools is called %q", of), textformat.DidYouMean(of, known))
			continue
		}
		all = append(all, item.text)
	}
	return all
}

// words returns the items of a list.
func (s *section) words(name string) []string {
	var all []string
	for _, item := range s.list(name) {
		all = append(all, item.text)
	}
	return all
}

func (s *section) sandbox() string {
	if word := s.oneOf("sandbox", "none"); word != "none" {
		return word
	}
	if !s.flag("network", true) {
		s.addError(s.positionOf("network"), "only a sandbox keeps a program from the network", "write sandbox: bwrap")
	}
	return ""
}

// flag returns the value of a flag, or fallback when the key is absent.
func (s *section) flag(name string, fallback bool) bool {
	if !s.has(name) {
		return fallback
	}
	return s.boolean(name)
}

// duration returns a length of time; 0 when the key is absent.
func (s *section) duration(name string) time.Duration {
	text := s.stringAt(name)
	if text == "" {
		return 0
	}
	v, err := ParseDuration(text)
	if err != nil || v < time.Second {
		s.addError(s.positionOf(name), fmt.Sprintf("%s: %q is no length of time of a second or more", name, text), "write it like 90s or 5m")
	}
	return v
}

// durationOr0 returns a length of time that may be 0; fallback when the key is absent.
func (s *section) durationOr0(name string, fallback time.Duration, remedy string) time.Duration {
	text := s.stringAt(name)
	if text == "" {
		return fallback
	}
	v, err := ParseDuration(text)
	if err != nil || v < 0 {
		s.addError(s.positionOf(name), fmt.Sprintf("%s: %q is no length of time", name, text), remedy)
		return fallback
	}
	return v
}

// eachValue calls read for each value of a mapping whose names the operator chooses.
func (s *section) eachValue(name string, read func(key string, n *node)) {
	n := s.get(name)
	switch {
	case n == nil || n.kind == nullNode:
	case n.kind != mapNode:
		s.addError(n.origin, name+" should hold names and values", "write "+name+": {NAME: value}")
	default:
		for _, e := range n.entries {
			read(e.key, e.value)
		}
	}
}

// secretMap returns values that are never printed, by name.
func (s *section) secretMap(name string) map[string]adapters.SecretString {
	var all map[string]adapters.SecretString
	s.eachValue(name, func(key string, n *node) {
		if all == nil {
			all = map[string]adapters.SecretString{}
		}
		all[key] = adapters.SecretString(s.scalarText(n, name+"."+key))
		s.files = append(s.files, n.files...)
	})
	return all
}

// wordMap returns words by name, each one of those that the key allows.
func (s *section) wordMap(name string) map[string]string {
	var all map[string]string
	s.eachValue(name, func(key string, n *node) {
		word := s.scalarText(n, name+"."+key)
		if words := s.key(name).form.words; !slices.Contains(words, word) {
			s.addError(n.origin, name+"."+key+": "+errNotOneOf(word, words).Error(), "")
			return
		}
		if all == nil {
			all = map[string]string{}
		}
		all[key] = word
	})
	return all
}

// inputSchema returns the JSON schema of arguments that are written by name.
func (s *section) inputSchema(name string) json.RawMessage {
	properties, required := map[string]any{}, []string{}
	s.eachValue(name, func(key string, n *node) {
		value, ok := plainValue(n).(map[string]any)
		if !ok {
			s.addError(n.origin, "the argument "+key+" has no schema", "write "+key+": {type: string}")
			return
		}
		if optional, _ := value["optional"].(bool); !optional {
			required = append(required, key)
		}
		delete(value, "optional")
		properties[key] = value
	})
	data, err := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false})
	var check jsonschema.Schema
	if err == nil {
		err = json.Unmarshal(data, &check)
	}
	if err == nil {
		_, err = check.Resolve(nil)
	}
	if err != nil {
		s.addError(s.positionOf(name), "the arguments have no valid schema: "+err.Error(), "write them like place: {type: string, description: …}")
		return nil
	}
	return data
}

// plainValue returns a node as JSON has it.
func plainValue(n *node) any {
	switch n.kind {
	case mapNode:
		m := map[string]any{}
		for _, e := range n.entries {
			m[e.key] = plainValue(e.value)
		}
		return m
	case listNode:
		list := make([]any, len(n.items))
		for i := range n.items {
			list[i] = plainValue(n.items[i])
		}
		return list
	case scalarNode:
		if !n.plain {
			return n.text
		}
		if on, err := parseBool(n.text); err == nil {
			return on
		}
		if number, err := strconv.ParseFloat(n.text, 64); err == nil {
			return number
		}
		return n.text
	case nullNode:
	}
	return nil
}

// deniedTools returns what is taken from the agents of a room.
func (s *section) deniedTools() []string {
	inner := s.subsection("tools")
	all := inner.words("deny")
	s.mergeErrors(inner)
	return all
}
