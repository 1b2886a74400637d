package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/textformat"
)

// A ModelEndpoint is a model as an agent uses it. It is examined once.
type ModelEndpoint struct {
	Model  llm.ChatModel
	Name   string // the endpoint's name for the model
	Entry  string // where it is configured: "model", "agents.ada.model"
	Window int    // the tokens of a prompt that agents use
	// WindowFrom and PriceFrom tell people who says so, such as "as its endpoint tells". No
	// price is known where PriceFrom is empty.
	Price, WindowFrom, PriceFrom string
	// InWords names the agents for which the model is known to answer in words in place
	// of calling a tool.
	InWords []string
	// Tags is true when its agents ask for acts in their text, and need no tools.
	Tags bool
	// Embeddings is the endpoint's name for the model by which lines are found by what
	// they mean; empty: none is.
	Embeddings string
	// Count counts tokens as the program does.
	Count func(text string) int

	card *ModelCard
}

const (
	// longest bounds the canary, which is paid for.
	longest = 40_000
	// short is the length of the request that shows how the endpoint counts.
	short = 1_000
	// kept is the share of a prompt that must be read to count as all of it.
	kept = 0.85
	// cardTime limits the time of all exchanges.
	cardTime = 15 * time.Minute
)

// Examine plays eight exchanges with the endpoint: something short, a call of a tool, two calls
// in one answer, their results, a picture, the same beginning twice, and a prompt nearly as long
// as the window, whose first line must be known at its end. Endpoints that cut prompts say so
// only in usage.prompt_tokens. At most 50,000 tokens are read, and it ends within [cardTime].
func (e *ModelEndpoint) Examine(ctx context.Context) []adapters.AccountDiagnosis {
	ctx, stop := context.WithTimeout(ctx, cardTime)
	defer stop()
	text := filler(e.Count, short)
	answer, took, err := e.begins(ctx, text)
	if err != nil {
		return []adapters.AccountDiagnosis{e.refused(err)}
	}
	ratio := e.ratio(text, answer.Usage)
	found := append(e.odd(ratio), e.takesTools(ctx)...)
	e.seesPictures(ctx)
	e.caches(ctx)
	read, cut := e.canary(ctx, ratio)
	found = slices.Concat(found, cut, e.embeds(ctx))
	e.finish()
	if len(found) > 0 {
		return append(found, e.learned()...)
	}
	return append([]adapters.AccountDiagnosis{Fine(fmt.Sprintf("%s answers in %.1f s, takes tools, read a prompt of %s tokens whole%s",
		e.Name, took.Seconds(), textformat.Thousands(read), ratioNote(ratio)))}, e.learned()...)
}

// learned says what was learned of the model, now or earlier.
func (e *ModelEndpoint) learned() []adapters.AccountDiagnosis {
	c := llm.CapabilityOf(e.Model, e.Name)
	var parts []string
	if len(c.Demands) > 0 {
		parts = append(parts, "requests are changed for it: "+strings.Join(c.Demands, ", "))
	}
	if c.Window > 0 {
		parts = append(parts, "its window holds "+textformat.Thousands(c.Window)+" tokens")
	}
	if c.MaxOutput > 0 {
		parts = append(parts, "its answers have at most "+textformat.Thousands(c.MaxOutput)+" tokens")
	}
	if len(e.InWords) > 0 {
		parts = append(parts, "it often answers in words in place of calling a tool, and they are sent as the answer of "+strings.Join(e.InWords, ", ")+" (plain_text)")
	}
	if parts == nil {
		return nil
	}
	return one(Fine("learned of it: " + strings.Join(parts, "; ")))
}

func ratioNote(ratio float64) string {
	if ratio == 0 {
		return "; it does not say how many tokens it read"
	}
	return fmt.Sprintf("; it counts %.2f tokens for each of ours", ratio)
}

func (e *ModelEndpoint) ask(ctx context.Context, text string, tools []llm.ToolSpec) (llm.ModelResponse, error) {
	return e.Model.Generate(ctx, e.request(text, tools))
}

func (e *ModelEndpoint) request(text string, tools []llm.ToolSpec) llm.ModelRequest {
	return llm.ModelRequest{
		Model: e.Name, Messages: []llm.TranscriptMessage{{Role: llm.User, Text: text}}, Tools: tools, MaxOutput: 512, CacheKey: "trestle-doctor",
	}
}

// refused says what it means that the endpoint does not answer something short.
func (e *ModelEndpoint) refused(err error) adapters.AccountDiagnosis {
	switch llm.KindOf(err) {
	case llm.Denied:
		return Fail("TRS-M01", "the endpoint refuses the key: "+said(err), "set "+e.Entry+".api_key to a key that is good, and see that it has credit")
	case llm.NoModel:
		if !strings.Contains(strings.ToLower(said(err)), "model") { // there is no such path
			return Fail("TRS-M11", "nothing speaks chat completions at "+e.Entry+".base_url: "+said(err), "see that it ends in the API's version, such as /v1, and not in /chat/completions")
		}
		return Fail("TRS-M02", fmt.Sprintf("the endpoint has no model called %q", e.Name), "set "+e.Entry+".name to one that it lists under /models")
	case llm.Limited:
		return Warn("TRS-M10", "the endpoint takes no more requests for now: "+said(err), "wait, or ask its provider for a higher limit")
	case llm.Garbled, llm.Rejected:
		if strings.Contains(said(err), "cut off") { // the path is right
			return Fail("TRS-M11", "the endpoint's answers are not whole: "+said(err), "see that it finishes what it answers, and that no proxy before "+e.Entry+".base_url breaks it off")
		}
		return Fail("TRS-M11", "the endpoint does not speak chat completions: "+said(err), "see that "+e.Entry+".base_url ends in the API's version, such as /v1")
	case llm.TooLong:
		return Fail("TRS-M03", "the endpoint refuses a prompt of "+textformat.Thousands(short)+" tokens", "raise the server's context; agents need 8,000 tokens and more")
	case llm.Unavailable, llm.Timeout:
	}
	return Fail("TRS-M05", "the endpoint does not answer: "+said(err), "see that it runs and that this machine reaches "+e.Entry+".base_url")
}

// said returns the innermost words of a failed call.
func said(err error) string {
	if e, ok := errors.AsType[*llm.Error](err); ok && e.Err != nil {
		return e.Err.Error()
	}
	return err.Error()
}

// ratio is how many tokens the endpoint counts for each of ours; 0 when it does
// not say. Few tokens go to what surrounds the text.
func (e *ModelEndpoint) ratio(text string, u llm.TokenUsage) float64 {
	if u.Estimated || u.Prompt == 0 {
		return 0
	}
	return float64(u.Prompt) / float64(e.Count(text))
}

// odd warns of a tokenizer so different that budgets do not fit it.
func (e *ModelEndpoint) odd(ratio float64) []adapters.AccountDiagnosis {
	if ratio == 0 || ratio > 0.5 && ratio < 1.5 {
		return nil
	}
	return one(Warn("TRS-M06", fmt.Sprintf("the model counts %.2f tokens for each that is counted here", ratio),
		fmt.Sprintf("set %s.context_tokens to %.1f times what its window holds", e.Entry, 1/ratio)))
}

func one(f adapters.AccountDiagnosis) []adapters.AccountDiagnosis {
	return []adapters.AccountDiagnosis{f}
}

var probeTool = []llm.ToolSpec{{
	Name: "note", Description: "Writes something down.",
	Schema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`),
}}

// takesTools finds a model that cannot act: its endpoint refuses tools, or it does
// not call the one that it is told to call. Such an agent is silent everywhere.
func (e *ModelEndpoint) takesTools(ctx context.Context) []adapters.AccountDiagnosis {
	if e.Tags {
		e.put(traitTools, unknown, "not needed: its agents ask for acts in their text (dialect: tags)")
		return nil
	}
	answer, err := e.ask(ctx, "Call the tool note with the text "+password+". Answer with nothing but that call.", probeTool)
	switch {
	case err == nil && len(answer.Calls) > 0:
		if both, ok := e.callsTwo(ctx); ok {
			answer = both
		}
		refused := e.goesOn(ctx, answer)
		if len(refused) > 0 {
			e.put(traitTools, no, "results are refused")
		} else {
			e.put(traitTools, yes, "")
		}
		return refused
	case err != nil && llm.KindOf(err).Retryable() || err == nil && answer.Finish != llm.Stopped:
		if err == nil {
			err = fmt.Errorf("the answer ended by %s", answer.Finish)
		}
		e.putFailed(traitTools, err)
		return nil
	}
	e.put(traitTools, no, "")
	e.put(traitParallel, no, "")
	switch {
	case err != nil:
		return one(Fail("TRS-M04", "the endpoint refuses tools: "+said(err), "set dialect: tags for its agents, or name a model that takes tools"))
	case !llm.CapabilityOf(e.Model, e.Name).TakesTools():
		return one(Warn("TRS-M04", "the endpoint takes no tools: its agents only talk", "have the server read calls ("+readCalls+"), set dialect: tags for its agents, or name a model that takes tools"))
	case strings.Contains(answer.Text, password):
		return one(Fail("TRS-M07", "the call of a tool comes as words: the server does not read it", "have the server read calls ("+readCalls+"), or set dialect: tags for its agents"))
	}
	return one(Fail("TRS-M07", "the model takes tools and calls none when it is told to",
		"name a model that is made for tools, or set dialect: tags for its agents"))
}

// readCalls says how servers are told to read the calls of a model.
const readCalls = "vLLM: --enable-auto-tool-choice and --tool-call-parser; llama.cpp: --jinja"

// goesOn finds an endpoint that refuses every transcript with a call and its result,
// in whatever form. Otherwise its client has learned here what it demands of one.
func (e *ModelEndpoint) goesOn(ctx context.Context, answer llm.ModelResponse) []adapters.AccountDiagnosis {
	r := llm.ModelRequest{Model: e.Name, Tools: probeTool, MaxOutput: 512, NoCalls: true, Messages: []llm.TranscriptMessage{
		{Role: llm.System, Text: "You take notes."},
		{Role: llm.User, Text: "Call the tool note with the text " + password + "."},
		{Role: llm.Assistant, Calls: answer.Calls},
	}}
	for _, call := range answer.Calls {
		r.Messages = append(r.Messages, llm.TranscriptMessage{Role: llm.Result, CallID: call.ID, Text: "noted"})
	}
	r.Messages = append(r.Messages, llm.TranscriptMessage{Role: llm.User, Text: "Answer with the word yes."})
	if _, err := e.Model.Generate(ctx, r); llm.KindOf(err) == llm.Rejected && err != nil {
		return one(Fail("TRS-M13", "the endpoint refuses a call and its result in any form: "+said(err), "set dialect: tags for its agents"))
	}
	return nil
}

// embeds warns when lines cannot be found by what they mean although they should be.
func (e *ModelEndpoint) embeds(ctx context.Context) []adapters.AccountDiagnosis {
	client, can := e.Model.(llm.Embedder)
	if e.Embeddings == "" || !can {
		return nil
	}
	_, _, err := client.Embed(ctx, e.Embeddings, []string{"yes"})
	if err == nil {
		return nil
	}
	return one(Warn("TRS-M12", fmt.Sprintf("the endpoint makes no vectors by %q: %s", e.Embeddings, said(err)),
		"set relevance.embeddings to a model that it has, or take the key away"))
}

// password is what the canary's first line says and its last line asks for, and what
// the probe of tools is to write down.
const password = "heron-4711"

// canary sends a prompt that fills the window and returns its length as the
// endpoint should count it.
func (e *ModelEndpoint) canary(ctx context.Context, ratio float64) (length int, cut []adapters.AccountDiagnosis) {
	first, last := "The password is "+password+".\n", "\nWhat is the password in the first line? Answer with it alone."
	size := min(e.Window, longest) * 9 / 10
	text := first + filler(e.Count, size) + last
	length = e.Count(text)
	if ratio > 0 {
		length = int(float64(length) * ratio)
	}
	answer, err := e.ask(ctx, text, nil)
	cut = e.judgeCanary(answer, length, ratio, err)
	window := textformat.Thousands(e.Window) + " tokens, " + e.WindowFrom
	switch learned := llm.CapabilityOf(e.Model, e.Name).Window; {
	case len(cut) == 0:
		e.put(traitWindow, yes, window+"; "+textformat.Thousands(length)+" were read whole")
		return length, nil
	case learned > 0:
		e.put(traitWindow, around, window+"; prompts are cut to "+textformat.Thousands(learned))
	case err != nil:
		e.putFailed(traitWindow, err)
	default:
		e.put(traitWindow, no, window)
	}
	return length, cut
}

// judgeCanary returns what the answer to the canary tells of how much is read.
func (e *ModelEndpoint) judgeCanary(answer llm.ModelResponse, length int, ratio float64, err error) []adapters.AccountDiagnosis {
	switch {
	case err != nil && llm.KindOf(err) == llm.TooLong:
		return one(Fail("TRS-M03", fmt.Sprintf("the endpoint refuses a prompt of %s tokens", textformat.Thousands(length)),
			fmt.Sprintf("raise the server's context, or set %s.context_tokens below %d", e.Entry, length)))
	case err != nil:
		return one(Warn("TRS-M03", "how much the endpoint reads is not known: "+said(err), "run trestle doctor model again"))
	}
	forgot := answer.Finish != llm.Length && !strings.Contains(answer.Text, password) // thoughts may have filled it
	switch {
	case ratio == 0 && forgot:
		return one(Fail("TRS-M03", fmt.Sprintf("the endpoint forgot the first line of a %s-token prompt", textformat.Thousands(length)),
			"raise the server's context, or set "+e.Entry+".context_tokens to what it holds"))
	case ratio > 0 && float64(answer.Usage.Prompt) < kept*float64(length):
		what := fmt.Sprintf("the endpoint kept %s of a %s-token prompt", textformat.Thousands(answer.Usage.Prompt), textformat.Thousands(length))
		if forgot {
			what += " and forgot its first line"
		}
		return one(Fail("TRS-M03", what,
			fmt.Sprintf("raise the server's context, or set %s.context_tokens: %d", e.Entry, answer.Usage.Prompt)))
	}
	return nil
}

// words make the filler: ordinary ones, so that every tokenizer has them.
var words = strings.Fields("river stone lamp garden window letter morning bread winter road bridge paper cloud table silver music " +
	"orange market little seven yellow under before answer many other people water place work year night home hand")

// filler returns about n tokens of text, the same every time.
func filler(count func(string) int, n int) string {
	var out strings.Builder
	line := func(k int) string {
		var l strings.Builder
		for i := range 20 {
			l.WriteString(words[(k*7+i*i+i*k)%len(words)] + " ")
		}
		return strings.TrimSpace(l.String()) + ".\n"
	}
	each := max(count(line(0)), 1)
	for k := range max(n/each, 1) {
		out.WriteString(line(k))
	}
	return out.String()
}
