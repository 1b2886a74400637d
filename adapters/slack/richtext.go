package slack

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/trestle-bridge/trestle/adapters/markup"
)

// mrkdwnWriter writes Slack's own markup.
type mrkdwnWriter struct{}

var _ markup.StyleWriter = mrkdwnWriter{}

// Open returns what comes before a look.
func (mrkdwnWriter) Open(before []byte, s markup.TextSpan) string {
	switch s.Look {
	case markup.Pre:
		return "```\n"
	case markup.Quote:
		return "> "
	case markup.Link:
		return "<" + escapeMrkdwn(s.Arg) + "|"
	case markup.Bold, markup.Heading:
		return "*"
	case markup.Italic:
		return "_"
	case markup.Strikethrough:
		return "~"
	case markup.Code:
		return "`"
	case markup.Spoiler, markup.Address, markup.Mark:
	}
	return ""
}

// Close returns what comes after a look.
func (w mrkdwnWriter) Close(before []byte, s markup.TextSpan) string {
	switch s.Look {
	case markup.Pre:
		return "\n```"
	case markup.Link:
		return ">"
	case markup.Quote:
		return ""
	case markup.Bold, markup.Heading, markup.Italic, markup.Strikethrough, markup.Code, markup.Spoiler, markup.Address, markup.Mark:
	}
	return w.Open(before, s)
}

// Escape returns words, their lines quoted inside a quote.
func (mrkdwnWriter) Escape(_ []byte, words string, in []markup.TextSpan) string {
	words = escapeMrkdwn(neutral(words))
	for _, s := range in {
		if s.Look == markup.Quote {
			return strings.ReplaceAll(words, "\n", "\n> ")
		}
	}
	return words
}

// escapeMrkdwn writes the three signs that Slack reads as markup everywhere.
var escapeMrkdwn = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace

// writeMarkdown returns a stretch of t as standard Markdown.
func writeMarkdown(t *markup.StyledText, from, to int) string {
	return neutral(rich.CommonMark(joined(within(t, from, to))))
}

// joined returns words with an invisible joiner where an emphasis begins or ends with
// punctuation beside a letter, such as the full-width colon of **标题：**正文: by the
// letter of CommonMark such signs are no emphasis but words. The joiner is inside the
// emphasis, and outside the links and code that it begins or ends with.
func joined(words string, spans []markup.TextSpan) (string, []markup.TextSpan) {
	begins, ends := edges(words, spans)
	var b strings.Builder
	place := make([]int, len(words)+1) // where a byte is, behind the joiner before it
	for i := range len(words) + 1 {
		if (begins[i] == nil) != (ends[i] == nil) {
			b.WriteString(joiner)
		}
		if place[i] = b.Len(); i < len(words) {
			b.WriteByte(words[i])
		}
	}
	out := slices.Clone(spans)
	for i, s := range out {
		out[i].From, out[i].To = place[s.From], place[s.To]
		if by := begins[s.From]; by != nil && ends[s.From] == nil && i <= *by {
			out[i].From -= len(joiner)
		}
		if by := ends[s.To]; begins[s.To] != nil && by == nil || by != nil && begins[s.To] == nil && i > *by {
			out[i].To -= len(joiner)
		}
	}
	return b.String(), out
}

// edges returns where an emphasis begins behind a letter, and ends before one, with
// something else than a letter, and there the index of the innermost such emphasis.
func edges(words string, spans []markup.TextSpan) (begins, ends map[int]*int) {
	begins, ends = map[int]*int{}, map[int]*int{}
	linked := map[int]bool{} // positions of characters of links and code
	for i, s := range slices.Backward(spans) {
		switch s.Look {
		case markup.Link, markup.Code, markup.Address:
			linked[s.From], linked[s.To] = true, true
		case markup.Bold, markup.Italic, markup.Strikethrough:
			before, _ := utf8.DecodeLastRuneInString(words[:s.From])
			first, _ := utf8.DecodeRuneInString(words[s.From:])
			if inWord(before) && (!inWord(first) || linked[s.From]) && begins[s.From] == nil {
				begins[s.From] = &i
			}
			last, _ := utf8.DecodeLastRuneInString(words[:s.To])
			after, _ := utf8.DecodeRuneInString(words[s.To:])
			if inWord(after) && (!inWord(last) || linked[s.To]) && ends[s.To] == nil {
				ends[s.To] = &i
			}
		case markup.Pre, markup.Quote, markup.Heading, markup.Mark, markup.Spoiler:
		}
	}
	return begins, ends
}

// within returns the words of a stretch and the looks over them.
func within(t *markup.StyledText, from, to int) (string, []markup.TextSpan) {
	var spans []markup.TextSpan
	for _, s := range t.Spans {
		s.From, s.To = max(s.From, from)-from, min(s.To, to)-from
		if s.From < s.To {
			spans = append(spans, s)
		}
	}
	return t.Words[from:to], spans
}

// A richText is the one block of a message in rich text.
type richText struct {
	Type     string     `json:"type"`
	Elements []richPart `json:"elements"`
}

// A richPart is a paragraph, a quote or a code block of it.
type richPart struct {
	Type     string    `json:"type"`
	Elements []richRun `json:"elements"`
}

// A richRun is words of one look, a link, or a person's name.
type richRun struct {
	Type  string     `json:"type"`
	Text  string     `json:"text,omitempty"`
	URL   string     `json:"url,omitempty"`
	User  string     `json:"user_id,omitempty"`
	Style *richStyle `json:"style,omitempty"`
}

// A richStyle is how the words of a run look.
type richStyle struct {
	Bold   bool `json:"bold,omitempty"`
	Italic bool `json:"italic,omitempty"`
	Strike bool `json:"strike,omitempty"`
	Code   bool `json:"code,omitempty"`
}

// writeBlocks returns a stretch of t as the blocks of a message. No word of it is
// read as markup.
func writeBlocks(t *markup.StyledText, from, to int) string {
	words, spans := within(t, from, to)
	whole := richText{Type: "rich_text"}
	for at := 0; at < len(words); {
		end := len(words)
		for _, s := range spans {
			for _, edge := range []int{s.From, s.To} {
				if edge > at && edge < end {
					end = edge
				}
			}
		}
		whole.add(words[at:end], spans, at)
		at = end
	}
	whole.trim()
	out, err := json.Marshal([]richText{whole})
	if err != nil {
		panic("slack: words do not marshal: " + err.Error())
	}
	return string(out)
}

// add puts words, all of one look, at the end.
func (b *richText) add(words string, spans []markup.TextSpan, at int) {
	kind, run, looks := "rich_text_section", richRun{Type: "text", Text: words}, richStyle{}
	for _, s := range spans {
		if at < s.From || at >= s.To {
			continue
		}
		switch s.Look {
		case markup.Pre:
			kind = "rich_text_preformatted"
		case markup.Quote:
			kind = "rich_text_quote"
		case markup.Bold, markup.Heading:
			looks.Bold = true
		case markup.Italic:
			looks.Italic = true
		case markup.Strikethrough:
			looks.Strike = true
		case markup.Code:
			looks.Code = true
		case markup.Link:
			run.Type, run.URL = "link", s.Arg
		case markup.Spoiler, markup.Address, markup.Mark:
		}
	}
	if looks != (richStyle{}) && kind != "rich_text_preformatted" {
		run.Style = &looks
	}
	if last := len(b.Elements) - 1; last < 0 || b.Elements[last].Type != kind {
		run.Text = strings.TrimLeft(run.Text, "\n")
		b.Elements = append(b.Elements, richPart{Type: kind})
	}
	if run.Text != "" {
		last := &b.Elements[len(b.Elements)-1]
		last.Elements = append(last.Elements, run)
	}
}

// trim leaves out the paragraphs that only stood between others.
func (b *richText) trim() {
	kept := b.Elements[:0]
	for i, e := range b.Elements {
		if n := len(e.Elements); n > 0 && i < len(b.Elements)-1 {
			e.Elements[n-1].Text = strings.TrimRight(e.Elements[n-1].Text, "\n")
		}
		if len(e.Elements) > 1 || len(e.Elements) == 1 && !markup.Blank(e.Elements[0].Text) {
			kept = append(kept, e)
		}
	}
	b.Elements = kept
}
