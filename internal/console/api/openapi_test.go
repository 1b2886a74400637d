package api

import (
	"bytes"
	"encoding/json"
	"flag"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/jobs"
	"github.com/trestle-bridge/trestle/internal/pubsub"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/shell/prompts"
	"github.com/trestle-bridge/trestle/spaces"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// An operation is what openapi.json says about one route.
type operation struct {
	summary string
	query   []string // "name: what it is"
	takes   any      // nil: no body
	gives   any
	stream  bool
}

var paging = []string{"before: the word next of the page before", "limit: how many, at most 500; 50 when absent", "since: a time such as 2h, 7d or 2026-01-31T00:00:00Z"}

// operations are the documented routes. A route of the API that is not here, or
// an entry without a route, fails the test.
var operations = map[string]operation{
	"GET /health":           {summary: "One word to anybody: starting (503), healthy or degraded. The whole of it to those who hold a token or a session.", gives: console.Health{}},
	"GET /health/bootstrap": {summary: "What became of the start, stage by stage.", gives: console.Boot{}},
	"GET /events": {
		summary: "Live events as they happen, as server-sent events: `id:` and `data:` with one event. A reader that comes back with Last-Event-ID, or from, goes on where it stood; what is kept no more comes as one event of type skipped.",
		query:   []string{"from: the id of the event that was seen last", "type: types, with commas between them", "mind: agent/circle", "space: a space's id", "run: a run's id"}, gives: pubsub.LiveEvent{}, stream: true,
	},
	"GET /api/openapi.json": {summary: "This description.", gives: map[string]any{}},
	"GET /api/status":       {summary: "How everything stands: health, the four lights, and the record in numbers.", gives: statusAnswer{}},
	"GET /api/figures": {
		summary: "What happened over time: messages in and out, how long answers took, model calls, tokens and money, failures and denials; up to about a minute ago. A run counts when it ends.",
		query:   []string{"range: day and week by the hour, month by the day, year by the week; week when absent", "space: only in this space", "agent: only of this agent: messages it was to be shown, its own, its runs", "platform: only on this platform, such as telegram"}, gives: FiguresAnswer{},
	},
	"GET /api/spaces":      {summary: "Every space.", gives: spacesAnswer{}},
	"GET /api/spaces/{id}": {summary: "One space with a page of its log, newest first: what each mind made of every event, and why.", query: paging[:2], gives: SpaceAnswer{}},
	"GET /api/minds":       {summary: "Every mind with its newest run.", gives: mindsAnswer{}},
	"GET /api/memory/{agent}/{circle...}": {
		summary: "What a mind has of its own: a page of its memories, newest first, with their sources and who may learn them; with the first page goals, plans, notes and summaries.",
		query:   append([]string{"words: all of which must be in the memory", "reader: only what this one may learn, an id or a part of a name"}, paging[:2]...), gives: MemoryAnswer{},
	},
	"DELETE /api/memory/{agent}/{circle...}": {summary: "Has a mind forget a memory, timer or plan.", query: []string{"id: of the memory, timer or plan"}, gives: console.Nothing{}},
	"PATCH /api/memory/{agent}/{circle...}": {
		summary: "Puts a fact in place of a memory's, which keeps its sources and who may learn it.", query: []string{"id: of the memory"}, takes: MemoryEdit{}, gives: console.Nothing{},
	},
	"GET /api/runs":                {summary: "Runs, newest first.", query: append([]string{"stop: only those that ended so", "agent: only of this agent", "space: only in this space"}, paging...), gives: RunsAnswer{}},
	"GET /api/runs/{id}":           {summary: "One run with everything that explains it. The unique beginning of an id is enough.", gives: RunAnswer{}},
	"GET /api/runs/{id}/steps/{n}": {summary: "What the model was shown in one step, message by message.", gives: FrameAnswer{}},
	"POST /api/runs/{id}/deliveries/{action}/{verb}": {
		summary: "Has a message of a run that failed, expired or may not have arrived be sent again (resend), or one that waits or may not have arrived be dropped (drop). 422 when it is in no such state.", gives: SendChange{},
	},
	"POST /api/runs/{id}/cancel":         {summary: "Ends a run where it stands, with the stop reason human_cancelled. 409 when it is not under way.", gives: cancelAnswer{}},
	"GET /api/tools":                     {summary: "The acts that agents may ask for, with tier and risk, and the versions of them that runs were offered.", query: []string{"version: its name or the unique beginning of it; the acts of now when absent"}, gives: ToolsAnswer{}},
	"GET /api/tools/diff":                {summary: "How one version of the acts differs from another.", query: []string{"from: the name of a version or the unique beginning of it", "to: the same; the acts of now when absent"}, gives: ToolsDiff{}},
	"GET /api/tools/outside":             {summary: "The tools from outside: the servers that have them, what agents are granted, and how long the newest calls took and how many failed.", gives: console.OutsideTools{}},
	"POST /api/tools/accept":             {summary: "Accepts the tools of a server as they are described now.", takes: console.AcceptRequest{}, gives: console.AcceptedTools{}},
	"GET /api/approvals":                 {summary: "The calls of tools that a person has to decide about, oldest first, and what is always allowed.", gives: console.Approvals{}},
	"POST /api/approvals":                {summary: "Decides about a call in the name of the operator, or takes back what is always allowed.", takes: console.ApprovalDecision{}, gives: console.ApprovalOutcome{}},
	"GET /api/denials":                   {summary: "What was refused, newest first.", query: append([]string{"agent: only of this agent"}, paging...), gives: DenialsAnswer{}},
	"GET /api/missions":                  {summary: "Missions, newest first.", query: paging[1:2], gives: MissionsAnswer{}},
	"GET /api/missions/{id}":             {summary: "One mission with its tasks, every change of state, and what its runs used. The unique end of an id is enough.", gives: console.MissionRecord{}},
	"GET /api/missions/{id}/checkpoints": {summary: "How a mission stood when its plan took effect and when each task was verified, oldest first: it can go on from there again.", gives: CheckpointsAnswer{}},
	"POST /api/missions/{id}/{verb}": {
		summary: "Starts, pauses, resumes or cancels a mission, as the verb says: start, pause, resume or cancel. 422 when it does not take that in its state.",
		query:   []string{"from_checkpoint: with resume, of a mission in any state: the number of a checkpoint, or latest; what came of tasks after it is superseded"}, gives: spaces.Mission{},
	},
	"GET /api/search":                    {summary: "Messages by their words, newest first: edited ones with their last words, deleted ones never. The newest 20,000 messages are looked through.", query: append([]string{"q: words, all of which must be there", "space: only in this space"}, paging[1:]...), gives: searchAnswer{}},
	"GET /api/answers/{command}":         {summary: "What a reading command of the program answers there with -o json, as docs/commands.md has it: status, adapters, problems, jobs, hud, events, config show. Its arguments are parameters.", gives: map[string]any{}},
	"GET /api/problems":                  {summary: "Open problems, worst first.", gives: problemsAnswer{}},
	"GET /api/jobs":                      {summary: "Long work, newest first: how far it is, how fast, how long it will take, how it ended.", query: paging[:2], gives: jobsAnswer{}},
	"POST /api/jobs/{id}/{verb}":         {summary: "Has a job pause, resume or cancel, as the verb says; a running one stops after its next piece. 409 when it is over.", gives: jobs.JobSnapshot{}},
	"GET /api/prompts":                   {summary: "The sections of the prompts with their versions, those that are active, and those that are missing.", gives: PromptsAnswer{}},
	"GET /api/prompts/diff":              {summary: "How one version of a section differs from another.", query: []string{"from: a version such as identity@1; what agents without a version of their own are told when absent", "to: a version"}, gives: PromptDiff{}},
	"GET /api/prompts/{version}":         {summary: "One version of a section, such as identity@2; the newest without a number.", gives: PromptText{}},
	"POST /api/prompts/{version}/{verb}": {summary: "Activates a version, or rolls its section back to the version before, as the verb says: activate or rollback. It counts from the next run on.", query: []string{"agent: only for this agent; all agents without a version of their own when absent"}, gives: prompts.PromptChange{}},
	"GET /api/adapters":                  {summary: "Every account as it stands now.", gives: adaptersAnswer{}},
	"GET /api/config":                    {summary: "The configuration in force, with where each value was written. Credentials are ***.", gives: configAnswer{}},
	"GET /api/config/schema":             {summary: "The JSON schema of the configuration.", gives: map[string]any{}},
	"GET /api/pairings":                  {summary: "Who waits to be let in, who was let in, and who was refused lately. Codes are not told.", gives: pairingsAnswer{}},
	"POST /api/pairings":                 {summary: "Lets in the person with a code, or a whole chat, as trestle pair does.", takes: console.PairRequest{}, gives: console.AdmittedPerson{}},
	"POST /api/pairings/revoke":          {summary: "Takes access from a person or a chat at once; the code of one who waits is void. They are named by who, or by account and id.", takes: console.RevokeRequest{}, gives: revokedAnswer{}},
	"POST /api/problems/{id}/ack":        {summary: "Has an open problem not be told again for two hours.", gives: quietAnswer{}},
	"POST /api/spaces/{id}/agents/{agent}/{verb}": {
		summary: "Stops, mutes or unmutes an agent in a space, as the verb says: stop, mute or unmute. A stop takes back what was not sent; a muted agent follows the space in silence.", gives: SteerAnswer{},
	},
	"GET /api/tokens":         {summary: "The tokens; their secrets are nowhere.", gives: console.TokensAnswer{}},
	"POST /api/tokens":        {summary: "Makes a token and tells its secret, this once. On the control socket alone.", takes: console.TokenRequest{}, gives: console.NewToken{}},
	"DELETE /api/tokens/{id}": {summary: "Ends a token and the sessions it opened, at once. On the control socket alone.", gives: console.Nothing{}},
	"POST /api/links":         {summary: "Makes a link that opens one browser, once, for ten minutes. On the control socket alone.", gives: console.NewLink{}},
}

// ECOSYSTEM 3.1, PRD-6.1-A3: the description is that of the routes and structs.
func TestOpenAPIIsThatOfTheRoutesAndStructs(t *testing.T) {
	paths, seen := map[string]map[string]any{}, 0
	schemas := &schemaSet{defs: map[string]any{}}
	for _, r := range console.New(console.Options{}, nil, New(console.Options{}).Routes()).Routes() {
		method, path, _ := strings.Cut(strings.ReplaceAll(r.Pattern, "...", ""), " ")
		if path != "/events" && !strings.HasPrefix(path, "/health") && !strings.HasPrefix(path, "/api/") {
			continue
		}
		op, ok := operations[r.Pattern]
		if !ok {
			t.Errorf("%s is not described", r.Pattern)
			continue
		}
		seen++
		if paths[path] == nil {
			paths[path] = map[string]any{}
		}
		paths[path][strings.ToLower(method)] = op.describe(path, r.Access, schemas)
	}
	if seen != len(operations) {
		t.Errorf("%d operations are described, %d are routes", len(operations), seen)
	}
	got, err := marshal(map[string]any{
		"openapi": "3.1.0",
		"info": map[string]any{
			"title": "Trestle", "version": "1", "description": "New fields may appear, none vanishes. The control socket in the data folder speaks the same without a credential.",
		},
		"paths": paths,
		"components": map[string]any{
			"schemas":         schemas.defs,
			"securitySchemes": map[string]any{"token": map[string]any{"type": "http", "scheme": "bearer"}, "session": map[string]any{"type": "apiKey", "in": "cookie", "name": "trestle7420"}},
		},
	})
	testutil.OK(t, err)
	testutil.Golden(t, *update, "openapi.json", string(got))
}

func marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return out.Bytes(), err
}

func (op operation) describe(path string, who console.RouteAccess, s *schemaSet) map[string]any {
	var params []any
	for part := range strings.SplitSeq(path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			params = append(params, map[string]any{"name": strings.TrimSuffix(name, "}"), "in": "path", "required": true, "schema": map[string]any{"type": "string"}})
		}
	}
	for _, q := range op.query {
		name, what, _ := strings.Cut(q, ": ")
		params = append(params, map[string]any{"name": name, "in": "query", "description": what, "schema": map[string]any{"type": "string"}})
	}
	kind := "application/json"
	if op.stream {
		kind = "text/event-stream"
	}
	d := map[string]any{
		"summary": op.summary,
		"responses": map[string]any{
			"200":     map[string]any{"description": "the answer", "content": map[string]any{kind: map[string]any{"schema": s.of(reflect.TypeOf(op.gives))}}},
			"default": map[string]any{"description": "why not", "content": map[string]any{"application/json": map[string]any{"schema": s.of(reflect.TypeFor[console.ErrorAnswer]())}}},
		},
	}
	if params != nil {
		d["parameters"] = params
	}
	if op.takes != nil {
		d["requestBody"] = map[string]any{"required": true, "content": map[string]any{"application/json": map[string]any{"schema": s.of(reflect.TypeOf(op.takes))}}}
	}
	switch who {
	case console.ForCredential:
		d["security"] = []any{map[string]any{"token": []string{}}, map[string]any{"session": []string{}}}
	case console.ForPerson, console.ForOwner:
		d["description"] = "Not served over the network."
	case console.ForAnyone:
		d["security"] = []any{}
	}
	return d
}

// A schemaSet makes JSON schemas of the structs that are answered with.
type schemaSet struct{ defs map[string]any }

func (s *schemaSet) of(t reflect.Type) map[string]any {
	switch t {
	case reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case reflect.TypeFor[json.RawMessage](), reflect.TypeFor[spaces.EventBody]():
		return map[string]any{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return map[string]any{"anyOf": []any{s.of(t.Elem()), map[string]any{"type": "null"}}}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map, reflect.Interface:
		return map[string]any{"type": "object"}
	case reflect.Struct:
		return s.named(t)
	default:
		return map[string]any{"type": "integer"}
	}
}

func (s *schemaSet) named(t reflect.Type) map[string]any {
	name := strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
	if _, known := s.defs[name]; !known {
		s.defs[name] = nil // it may hold itself
		props, required := map[string]any{}, []string{}
		s.fields(t, props, &required)
		slices.Sort(required)
		s.defs[name] = map[string]any{"type": "object", "properties": props, "required": required}
	}
	return map[string]any{"$ref": "#/components/schemas/" + name}
}

// fields adds the fields of a struct; those of an embedded one are its own,
// unless a field of the same name hides them.
func (s *schemaSet) fields(t reflect.Type, props map[string]any, required *[]string) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-":
			continue
		case f.Anonymous && name == "":
			s.fields(f.Type, props, required)
			continue
		case name == "":
			name = f.Name
		}
		if _, hidden := props[name]; !hidden && !strings.Contains(options, "omit") {
			*required = append(*required, name)
		}
		props[name] = s.of(f.Type)
	}
}
