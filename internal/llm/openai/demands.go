package openai

import (
	"fmt"
	"math/bits"
	"regexp"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
)

// A demandSet is a set of deviations from the book that an endpoint requires of
// requests.
type demandSet uint32

// The demands. The order is that of the names below.
const (
	noStreamOptions demandSet = 1 << iota
	noStreaming
	noCacheKey
	otherOutputLimit
	noOutputLimit
	noToolChoice
	noPictures
	signedCalls
	handBackReasoning
	reasoningEverywhere
	shortCallIDs
	plainNames
	plainSchemas
	namedResults
	filledContent
	noSystemRole
	singleCalls
	answeredResults
	alternatingRoles
	noToolMessages
	noTools
	allDemands demandSet = 1<<iota - 1
)

// demandNames are the names of the demands in the configuration and the capability
// record.
var demandNames = [...]string{
	"no_stream_options", "no_streaming", "no_cache_key", "other_output_limit", "no_output_limit", "no_tool_choice", "no_pictures",
	"signed_calls", "reasoning", "reasoning_everywhere", "short_call_ids", "plain_names", "plain_schemas", "named_results",
	"filled_content", "no_system_role", "single_calls", "answered_results", "alternating_roles", "no_tool_messages",
	llm.NoTools,
}

// DemandNames returns the names of all demands.
func DemandNames() []string { return slices.Clone(demandNames[:]) }

// inMessages are the demands that change the bytes of single messages or tools.
const inMessages = signedCalls | handBackReasoning | reasoningEverywhere | shortCallIDs | plainNames | plainSchemas | namedResults | filledContent

// inOrder are the demands that change the order and number of messages.
const inOrder = noSystemRole | singleCalls | answeredResults | alternatingRoles | noToolMessages

// names returns the names of the demands in the set.
func (d demandSet) names() []string {
	var all []string
	for d &= allDemands; d != 0; d &= d - 1 {
		all = append(all, demandNames[bits.TrailingZeros32(uint32(d))])
	}
	return all
}

// demandsOf returns the set of the names that are known.
func demandsOf(names []string) demandSet {
	var d demandSet
	for _, name := range names {
		if i := slices.Index(demandNames[:], name); i >= 0 {
			d |= 1 << i
		}
	}
	return d
}

// parseCompat reads what an operator says of an endpoint: names of demands, which are
// met from the first request on, and names after a minus, which are never met; -all
// means every one that is not named.
func parseCompat(words []string) (always, never demandSet, err error) {
	for _, word := range words {
		name, off := strings.CutPrefix(word, "-")
		d := demandsOf([]string{name})
		switch {
		case off && name == "all":
			d = allDemands
		case d == 0:
			return 0, 0, fmt.Errorf("openai: no demand is called %q", word)
		}
		if off {
			never |= d
		} else {
			always |= d
		}
	}
	return always, never &^ always, nil
}

// A demandRule tells by the words of a refusal which demand the endpoint has.
type demandRule struct {
	demand demandSet
	words  *regexp.Regexp
	// applies reports whether the refused request could be meant: it lacks what is
	// demanded.
	applies func(s *sentRequest) bool
}

// A sentRequest is a request that was refused, as it was sent.
type sentRequest struct {
	llm.ModelRequest
	parameters
}

func always(*sentRequest) bool { return true }

func (s *sentRequest) hasCalls() bool {
	return slices.ContainsFunc(s.Messages, func(m llm.TranscriptMessage) bool { return len(m.Calls) > 0 })
}

func (s *sentRequest) hasTools() bool { return len(s.Tools) > 0 }

// demandRules are tried in order; the first that fits and was not met counts. What
// endpoints say is taken from their own documentation, sources and public reports.
var demandRules = []demandRule{
	{noStreamOptions, regexp.MustCompile(`stream_options|include_usage`), func(s *sentRequest) bool { return s.usage }},
	{noCacheKey, regexp.MustCompile(`prompt_cache_key`), func(s *sentRequest) bool { return s.cacheKey != "" }},
	{noTools, regexp.MustCompile(`not support (any )?(tools?\b|(tool|function)[ _-]?(use|call))|support tool use|tools param requires|tool[ _]choice.{0,10} requires|(tool|function)s?[ _-]?(use|call(s|ing)?)?` +
		"['\"`]? (is|are) (not|un)[ -]?(support|enabl|allow|avail)|(unknown|unrecognized|unexpected|unsupported|extra).{0,40}['\"`]tools['\"`]"), (*sentRequest).hasTools},
	{noToolChoice, regexp.MustCompile(`tool_?choice|tool choice`), func(s *sentRequest) bool { return s.forbids }},
	{otherOutputLimit, regexp.MustCompile(maxTokens + `|` + maxCompletionTokens), func(s *sentRequest) bool { return s.maxOutput != "" }},
	{noOutputLimit, regexp.MustCompile(maxTokens + `|` + maxCompletionTokens), func(s *sentRequest) bool { return s.maxOutput != "" }},
	{noPictures, regexp.MustCompile(`image|vision|multi-?modal|content must be a string|content.{0,30}valid string`), func(s *sentRequest) bool { return s.pictures }},
	{signedCalls, regexp.MustCompile(`thought_?signature`), (*sentRequest).hasCalls},
	{handBackReasoning, regexp.MustCompile(`reasoning_content|reasoning content|reasoning_details|thinking (block|is enabled)|reasoning.{0,40}(missing|must be passed|required)`), (*sentRequest).hasCalls},
	{reasoningEverywhere, regexp.MustCompile(`reasoning_content|reasoning content|reasoning_details|thinking (block|is enabled)|reasoning.{0,40}(missing|must be passed|required)`), always},
	{shortCallIDs, regexp.MustCompile(`(tool_?calls?|tool_use|call|tool call)['"\]\d\[.]*[ ._]?ids?\b.{0,80}(length|a-z|alphanumeric|pattern|too long|must be|invalid|characters)`), (*sentRequest).hasCalls},
	{plainSchemas, regexp.MustCompile(`additional_?properties|schema|function_?declarations|\.parameters|input_schema|cannot start list|not repeating|grammar|properties: should be|any_?of|one_?of|description.{0,60}(too long|at most|maximum|exceed)`), (*sentRequest).hasTools},
	{namedResults, regexp.MustCompile(`function_?response.{0,10}name|tool (message|response|result).{0,60}['"` + "`" + `]?name|name.{0,60}(tool|function) (message|response|result)|role.{0,10}tool.{0,40}name`), (*sentRequest).hasCalls},
	{plainNames, regexp.MustCompile(`(invalid|illegal).{0,20} name|name.{0,100}(pattern|match|characters|too long|start with|at most|must be|may only|only contain|invalid|regex)`), (*sentRequest).hasTools},
	{singleCalls, regexp.MustCompile(`(single|one) (tool|function)[ -_]?calls?|parallel (tool|function) calls|multiple tool calls|more than one tool call`), (*sentRequest).hasCalls},
	{filledContent, regexp.MustCompile(`(content|text|parts?)\b.{0,80}(empty|null|none|missing|required|must be set|must not|whitespace|at least one|valid string|should be a (valid )?string)|empty.{0,40}(content|message|text)|null.{0,30}content|content or tool_calls|required.{0,20}content`), always},
	{noSystemRole, regexp.MustCompile(`(system|developer)['"` + "`" + `]?( role| message| prompt| instruction)?s?.{0,40}(not (be )?support|unsupported|not allowed|invalid|isn't|not enabled|not permitted|at the beginning|must be first)|(not support|unsupported|invalid|unknown|unexpected).{0,60}\b(system|developer)\b|role.{0,10}system`), func(s *sentRequest) bool {
		return slices.ContainsFunc(s.Messages, func(m llm.TranscriptMessage) bool { return m.Role == llm.System })
	}},
	{answeredResults, regexp.MustCompile(`after.{0,20}tool|following.{0,20}tool|tool.{0,60}followed by|message_order|unexpected role|invalid role|tool.{0,40}assistant`), (*sentRequest).hasCalls},
	{noToolMessages, regexp.MustCompile(`(not support|unsupported|invalid|unknown|unexpected|not allowed|not one of|variant).{0,40}(role.{0,10})?['"` + "`" + `]tool['"` + "`" + `]|role.{0,10}['"` + "`" + `]?tool['"` + "`" + `]?.{0,30}(not support|unsupported|invalid|unknown|not allowed|not one of)|tool (role|messages?).{0,30}(not support|unsupported|invalid|not allowed)`), (*sentRequest).hasCalls},
	{alternatingRoles, regexp.MustCompile(`alternat|consecutive|same role|roles? must|in a row|first message|start with|last (message|role)|conversation role|message order|message_order|unexpected role|jinja|template`), always},
	{noToolMessages, regexp.MustCompile(`alternat|roles? must|unexpected role|invalid role|jinja|template|tool_calls?|message order|message_order`), (*sentRequest).hasCalls},
	{noStreaming, modelhttp.RefusesStreams, always},
}

// learn returns the demand that a refusal tells of, beyond those that the request met
// already and those never to be met; 0 when it tells of none.
func (s *sentRequest) learn(r *modelhttp.EndpointError, never demandSet) demandSet {
	text := r.Reason.Lower()
	for _, rule := range demandRules {
		if (s.demands|never)&rule.demand == 0 && rule.words.MatchString(text) && rule.applies(s) {
			return rule.demand
		}
	}
	return 0
}

// guesses are the forms that are tried in turn after a refusal whose words tell of no
// demand: those that many chat templates need.
var guesses = []demandSet{answeredResults | alternatingRoles | filledContent, noToolMessages | alternatingRoles | filledContent}

// guess returns the next form to try, or 0 when there is none, or none would change
// the transcript.
func (s *sentRequest) guess() demandSet {
	if !s.hasCalls() {
		return 0
	}
	for _, g := range guesses {
		if s.demands&g != g {
			return g
		}
	}
	return 0
}
