package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/textformat"
)

// A ModelCard is what a model at its endpoint can do.
type ModelCard struct {
	Part  string     `json:"part"`
	Model string     `json:"model"` // the endpoint's name for it
	Lines []CardLine `json:"lines"`
}

// A CardLine is one ability of a model.
type CardLine struct {
	Trait  string `json:"trait"`
	Answer string `json:"answer"`         // yes, no, worked around, unknown; of the first word its time
	Note   string `json:"note,omitempty"` // what was seen, and what it means for people
}

// The abilities on a card, in its order.
const (
	traitTools     = "tools"
	traitParallel  = "parallel calls"
	traitStreaming = "streaming"
	traitPictures  = "pictures"
	traitCaching   = "caching"
	traitWindow    = "window"
	traitFirstWord = "first word"
	traitPrice     = "price"
)

var traits = []string{traitTools, traitParallel, traitStreaming, traitPictures, traitCaching, traitWindow, traitFirstWord, traitPrice}

// The answers of a card.
const (
	yes     = "yes"
	no      = "no"
	around  = "worked around"
	unknown = "unknown"
)

// filled is said of an answer that has no more room than for what the model thinks.
const filled = "its answer was cut off before the end"

// without are the demands of an endpoint that lacks an ability.
var without = map[string]string{traitTools: llm.NoTools, traitStreaming: "no_streaming", traitPictures: "no_pictures"}

// worked are the demands with which requests get an ability all the same.
var worked = map[string][]string{
	traitTools: {
		"no_tool_choice", "signed_calls", "reasoning", "reasoning_everywhere", "short_call_ids", "plain_names", "plain_schemas", "named_results",
		"answered_results", "no_tool_messages",
	},
	traitParallel:  {"single_calls"},
	traitStreaming: {"no_stream_options"},
	traitCaching:   {"no_cache_key"},
}

// meaning is what people notice where an ability is missing.
var meaning = map[string]string{
	traitTools:     "its agents only answer: they note nothing, look nothing up, set no reminders and write to nobody first",
	traitParallel:  "what takes several calls takes as many steps: more time and more tokens",
	traitStreaming: "an answer is there at once or not at all: people see no draft, and timeout.first_token has to last for a whole answer",
	traitPictures:  "agents know of a picture that people post, and not what it shows",
	traitCaching:   "every step reads its whole prompt anew: slower, and at the full price",
	traitWindow:    "what was said first is cut off without a word",
	traitPrice:     "runs cost nothing by the count, and tokens limit where money is to: set price",
}

// Card returns what the last examination found the model to be capable of; nil when it did not
// answer at all.
func (e *ModelEndpoint) Card() *ModelCard { return e.card }

// put sets a line of the card. A demand that was learned counts more than what was seen.
func (e *ModelEndpoint) put(trait, answer, note string) {
	demands := llm.CapabilityOf(e.Model, e.Name).Demands
	needs := slices.DeleteFunc(slices.Clone(demands), func(name string) bool { return !slices.Contains(worked[trait], name) })
	switch {
	case without[trait] != "" && slices.Contains(demands, without[trait]):
		answer, note = no, without[trait]
	case answer == yes && len(needs) > 0:
		answer, note = around, strings.TrimPrefix(note+"; ", "; ")+"requests need "+strings.Join(needs, ", ")
	}
	if answer == no {
		note = strings.TrimPrefix(note+": ", ": ") + meaning[trait]
	}
	e.card.Lines = append(e.card.Lines, CardLine{trait, answer, note})
}

// putFailed sets the line of an ability whose exchange failed.
func (e *ModelEndpoint) putFailed(trait string, err error) {
	note := "no answer: " + said(err)
	if errors.Is(err, context.DeadlineExceeded) {
		note = fmt.Sprintf("not found out within %d minutes", int(cardTime.Minutes()))
	}
	e.put(trait, unknown, note)
}

// finish sets the lines that need no exchange, and puts all in order.
func (e *ModelEndpoint) finish() {
	if e.PriceFrom == "" {
		e.put(traitPrice, no, "")
	} else {
		e.put(traitPrice, yes, e.Price+", "+e.PriceFrom)
	}
	slices.SortFunc(e.card.Lines, func(a, b CardLine) int { return slices.Index(traits, a.Trait) - slices.Index(traits, b.Trait) })
}

// begins asks for something short, and shows whether the answer comes in pieces and how soon
// the first one.
func (e *ModelEndpoint) begins(ctx context.Context, text string) (answer llm.ModelResponse, took time.Duration, err error) {
	began, first, pieces := time.Now(), time.Duration(0), 0
	r := e.request(text+"\nCount from one to twelve, in words.", nil)
	r.Grew = func(int) {
		if pieces++; pieces == 1 {
			first = time.Since(began)
		}
	}
	if answer, err = e.Model.Generate(ctx, r); err != nil {
		return answer, 0, err
	}
	took = time.Since(began)
	e.card = &ModelCard{Model: e.Name}
	if pieces > 1 {
		e.put(traitStreaming, yes, "")
	} else {
		first = took
		e.put(traitStreaming, no, "")
	}
	e.put(traitFirstWord, fmt.Sprintf("%.1f s", first.Seconds()), "")
	return answer, took, nil
}

// callsTwo finds out whether one answer has several calls, and returns such an answer.
func (e *ModelEndpoint) callsTwo(ctx context.Context) (llm.ModelResponse, bool) {
	answer, err := e.ask(ctx, "Call the tool note two times in this one answer: with the text one, and with the text two.", probeTool)
	switch {
	case err != nil:
		e.putFailed(traitParallel, err)
	case len(answer.Calls) > 1:
		e.put(traitParallel, yes, "")
	case answer.Finish == llm.Length:
		e.put(traitParallel, unknown, filled)
	default:
		e.put(traitParallel, no, "")
	}
	return answer, err == nil && len(answer.Calls) > 1
}

// seesPictures finds out whether the model sees what it is shown.
func (e *ModelEndpoint) seesPictures(ctx context.Context) {
	r := e.request("Which two colours does this picture have? Answer with the two words alone.", nil)
	r.Messages[0].Pictures = []llm.ModelImage{{Media: "image/png", Data: twoColours(), Tokens: 300}}
	answer, err := e.Model.Generate(ctx, r)
	text := strings.ToLower(answer.Text)
	switch {
	case err != nil:
		e.putFailed(traitPictures, err)
	case strings.Contains(text, "red") && strings.Contains(text, "blue"):
		e.put(traitPictures, yes, "")
	case answer.Finish == llm.Length:
		e.put(traitPictures, unknown, filled)
	default:
		e.put(traitPictures, no, "the endpoint takes one, and the model does not say what it shows")
	}
}

// twoColours returns a picture whose left half is red and whose right half is blue.
func twoColours() []byte {
	const side = 128
	picture := image.NewPaletted(image.Rect(0, 0, side, side), color.Palette{color.RGBA{R: 255, A: 255}, color.RGBA{B: 255, A: 255}})
	for i := range picture.Pix {
		if i%side >= side/2 {
			picture.Pix[i] = 1
		}
	}
	var out bytes.Buffer
	_ = png.Encode(&out, picture) // a buffer takes all
	return out.Bytes()
}

// repeated is the longest prompt that is sent twice to see whether the endpoint keeps what
// it has read. The caches of some models begin at 4,096 tokens.
const repeated = 4_500

// caches sends the beginning of a prompt twice.
func (e *ModelEndpoint) caches(ctx context.Context) {
	prefix := filler(e.Count, min(repeated, e.Window/2))
	var u llm.TokenUsage
	for _, question := range []string{"Answer with the word yes.", "Answer with the word no."} {
		r := e.request(question, nil)
		r.Messages = slices.Insert(r.Messages, 0, llm.TranscriptMessage{Role: llm.System, Text: prefix})
		answer, err := e.Model.Generate(ctx, r)
		if err != nil {
			e.putFailed(traitCaching, err)
			return
		}
		u = answer.Usage
	}
	switch of := textformat.Thousands(u.Prompt) + " tokens of a prompt that begins as the one before"; {
	case u.Estimated || u.Prompt == 0:
		e.put(traitCaching, unknown, "the endpoint does not say how many tokens it read")
	case u.Cached > 0:
		e.put(traitCaching, yes, textformat.Thousands(u.Cached)+" of "+of)
	default:
		e.put(traitCaching, no, "none of "+of)
	}
}

// printCard writes the card of a part.
func (r CheckReport) printCard(w io.Writer, indent int, part string) {
	for i := range r.Cards {
		if r.Cards[i].Part != part {
			continue
		}
		for _, l := range r.Cards[i].Lines {
			fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("%*s%-16s%-15s%s", indent, "", l.Trait, l.Answer, l.Note), " "))
		}
	}
}
