package modelhttp

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// mostForms is how many forms of one request are tried.
const mostForms = 8

// A FormRule tells by the words of a refusal what an endpoint demands of requests.
type FormRule struct {
	// Demand is the name of the demand, as `model.compat` takes it.
	Demand string
	// Words match what the endpoint says, in lower case.
	Words *regexp.Regexp
	// Applies reports whether the refused request lacks what is demanded.
	Applies func(*llm.ModelRequest) bool
	// Once keeps the demand for the request that was refused alone.
	Once bool
}

// A RequestForm is the form in which a request is sent.
type RequestForm struct {
	demands []string
	// MaxOutput is the largest output limit that the endpoint accepts; 0 is unknown.
	MaxOutput int
}

// Meets reports whether the form meets the demand of that name.
func (f RequestForm) Meets(demand string) bool { return slices.Contains(f.demands, demand) }

// A FormLearner sends requests in the form that an endpoint demands.
type FormLearner struct {
	*BaseClient
	rules         []FormRule
	always, never []string
}

// NewFormLearner returns a learner with the rules of a provider, which are tried in order,
// and what the operator says of the endpoint: names of demands, names after a minus of
// those that are never met, and -all. Names that no rule has are of other providers.
func NewFormLearner(c *BaseClient, rules []FormRule) FormLearner {
	l := FormLearner{BaseClient: c, rules: rules}
	for _, word := range c.Options.Compat {
		name, off := strings.CutPrefix(word, "-")
		switch {
		case off && name == "all":
			for _, rule := range rules {
				l.never = append(l.never, rule.Demand)
			}
		case off:
			l.never = append(l.never, name)
		default:
			l.always = append(l.always, name)
		}
	}
	return l
}

// Capability returns what was learned of a model, with what the operator says of it.
func (l FormLearner) Capability(model string) llm.ModelCapability {
	known := l.Known.Of(model)
	known.Demands = l.demands(known)
	return known
}

// demands returns the demands that a request meets from its first form on.
func (l FormLearner) demands(known llm.ModelCapability) []string {
	all := slices.Clone(l.always)
	for _, name := range known.Demands {
		if !slices.Contains(all, name) && !l.isNever(name) {
			all = append(all, name)
		}
	}
	return all
}

func (l FormLearner) isNever(demand string) bool {
	return slices.Contains(l.never, demand) && !slices.Contains(l.always, demand)
}

// Generate sends a request with ask, once more in each form that a refusal tells of, and
// keeps what helped. The error of a call whose ctx ended is [llm.Interrupted].
func (l FormLearner) Generate(ctx context.Context, r *llm.ModelRequest, ask func(context.Context, *CallTimeouts, RequestForm) (llm.ModelResponse, error)) (llm.ModelResponse, error) {
	call, w := l.Watch(ctx, r.Grew)
	defer w.Stop()
	known := l.Known.Of(r.Model)
	form := RequestForm{l.demands(known), known.MaxOutput}
	var learned []string
	for n := 1; ; n++ {
		w.StartOver(l.Options.FirstToken)
		resp, err := ask(call, w, form)
		if err == nil {
			l.keep(r, resp, form, learned)
			return resp, nil
		}
		rule, limit := l.otherForm(r, err, form)
		switch {
		case n == mostForms, call.Err() != nil, rule == nil && limit == 0:
			e := l.Explain(ctx, call, err)
			if e.Kind == llm.TooLong {
				e.Window = l.LearnWindow(call, r, AsRefusal(err))
			}
			return llm.ModelResponse{}, e
		case limit > 0:
			form.MaxOutput = limit
		default:
			form.demands = append(slices.Clip(form.demands), rule.Demand)
			if !rule.Once {
				learned = append(learned, rule.Demand)
			}
		}
	}
}

// keep stores what an answered request has shown of its endpoint.
func (l FormLearner) keep(r *llm.ModelRequest, resp llm.ModelResponse, form RequestForm, learned []string) {
	l.Known.Update(r.Model, func(k *llm.ModelCapability) {
		for _, demand := range learned {
			if !slices.Contains(k.Demands, demand) {
				k.Demands = append(slices.Clip(k.Demands), demand)
			}
		}
		k.MaxOutput = form.MaxOutput
		if Outgrown(r, resp.Usage, k.Window) {
			k.Window = 0
		}
	})
}

// otherForm returns the rule that a refusal means, or a smaller output limit; neither when
// there is no other form.
func (l FormLearner) otherForm(r *llm.ModelRequest, err error, form RequestForm) (rule *FormRule, limit int) {
	refusal := AsRefusal(err)
	if refusal == nil {
		return nil, 0
	}
	if kind := refusal.Kind(); kind == llm.TooLong || kind == llm.Limited || kind == llm.Denied {
		return nil, 0
	}
	asked := r.MaxOutput
	if form.MaxOutput > 0 {
		asked = form.MaxOutput
	}
	if n := refusal.Reason.OutputLimit(max(asked, thoughtRoom+1)); n > 0 && n != form.MaxOutput {
		return nil, n
	}
	text := refusal.Reason.Lower()
	for i := range l.rules {
		rule := &l.rules[i]
		if !form.Meets(rule.Demand) && !l.isNever(rule.Demand) && rule.Words.MatchString(text) && rule.Applies(r) {
			return rule, 0
		}
	}
	return nil, 0
}

// thoughtRoom is how many tokens a model that thinks may take beside its answer.
const thoughtRoom = 16 << 10

// OutputLimit returns the output limit of a request to a model of a provider that counts
// thinking as output: what the caller allows, with room for thoughts unless the model is
// known to have none, within what the model and the endpoint accept. It returns 0 when
// nothing limits the output.
func OutputLimit(provider string, r *llm.ModelRequest, form RequestForm) int {
	facts, known := llm.KnownModel(provider, r.Model)
	limit := r.MaxOutput
	if limit > 0 && (facts.Thinking || !known) {
		limit += thoughtRoom
	}
	for _, most := range []int{facts.MaxOutput, form.MaxOutput} {
		if most > 0 && limit > most {
			limit = most
		}
	}
	return limit
}

// HasPictures reports whether any message of a request has images.
func HasPictures(r *llm.ModelRequest) bool {
	return slices.ContainsFunc(r.Messages, func(m llm.TranscriptMessage) bool { return len(m.Pictures) > 0 })
}

// HasCalls reports whether any message of a request has tool calls.
func HasCalls(r *llm.ModelRequest) bool {
	return slices.ContainsFunc(r.Messages, func(m llm.TranscriptMessage) bool { return len(m.Calls) > 0 })
}

// HasSystem reports whether a request begins with a system text.
func HasSystem(r *llm.ModelRequest) bool {
	return len(r.Messages) > 0 && r.Messages[0].Role == llm.System
}

// RefusesStreams matches the words of an endpoint that answers at once alone, in lower case.
var RefusesStreams = regexp.MustCompile(`verified to stream|stream.{0,40}(not (be )?support|unsupported|must be verified|not allowed|not available|not enabled|false)|(not support|unsupported).{0,40}stream`)

// TrimVersion returns the base URL of an endpoint without the version that people add from
// habit, which the provider's library adds itself.
func TrimVersion(base string, versions ...string) string {
	base = strings.TrimRight(base, "/")
	for _, v := range versions {
		base = strings.TrimSuffix(base, "/"+v)
	}
	return base
}

// MissingKey returns the error of a client without a key.
func MissingKey(provider string) error {
	return fmt.Errorf("%s: a key is needed; set model.api_key", provider)
}

// EstimateUsage returns the usage of a call whose endpoint reports none: a quarter of the
// bytes of the request and of the answer, and the tokens of the images.
func EstimateUsage(r *llm.ModelRequest, output int) llm.TokenUsage {
	seen := 0
	for i := range r.Messages {
		for j := range r.Messages[i].Pictures {
			seen += r.Messages[i].Pictures[j].Tokens
		}
	}
	return llm.TokenUsage{Prompt: (r.Size()+3)/4 + seen, Output: (output + 3) / 4, Estimated: true}
}

// notInName matches the characters that APIs do not accept in the name of a tool.
var notInName = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// mostName is the longest name of a tool that APIs accept.
const mostName = 64

// CallName returns the name of a tool in a form that APIs accept in later requests: models
// call invalid names, and a request with such a call is refused.
func CallName(name string) string {
	for _, namespace := range []string{"functions.", "default_api.", "default_api:"} { // of models' own training
		name = strings.TrimPrefix(name, namespace)
	}
	name = notInName.ReplaceAllString(name, "_")
	return cmp.Or(name[:min(len(name), mostName)], "_")
}
