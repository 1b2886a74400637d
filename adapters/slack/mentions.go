package slack

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/markup"
	"github.com/trestle-bridge/trestle/adapters/mentions"
)

// maxMentions bounds how many people one message calls (SECURITY 5).
const maxMentions = 3

// written returns how the name of a person may stand in mrkdwn, in Markdown and in words,
// if they can be called.
func written(who adapters.Person, name string) []string {
	if who.ID == "" || strings.Trim(who.ID, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != "" {
		return nil
	}
	return slices.Compact([]string{name, escapeMrkdwn(name), markup.Escape(name)})
}

// A caller calls people who are named, up to so many.
type caller struct {
	names mentions.NameSet
	left  int
}

// cut splits words at the first name of a person who is to be notified; id is empty
// when there is none.
func (c *caller) cut(words string) (before, id, after string) {
	if c.left == 0 {
		return words, "", ""
	}
	m, found := c.names.Cut(words)
	if found {
		c.left--
	}
	return m.Before, m.Who.ID, m.After
}

// inText calls people in mrkdwn or Markdown, outside code and links.
func (c *caller) inText(text string) string {
	var b strings.Builder
	for text != "" {
		at, end := protected(text)
		for words := text[:at]; words != ""; {
			before, id, after := c.cut(words)
			b.WriteString(before)
			if id != "" {
				b.WriteString("<@" + id + ">")
			}
			words = after
		}
		b.WriteString(text[at:end])
		text = text[end:]
	}
	return b.String()
}

// The links of mrkdwn and of Markdown, as we write them. Other brackets are words.
var (
	angled  = regexp.MustCompile(`^<[A-Za-z][A-Za-z0-9+.-]*:[^<>\n]*>`)
	labeled = regexp.MustCompile(`^\[(?:\\.|[^\[\]\\\n])*\]\((?:<[^<>\n]*>|[^()\s]*)\)`)
)

// protected returns the bounds of the next code or link in text; the text's end when
// there is none.
func protected(text string) (from, to int) {
	for at := 0; ; at++ {
		next := strings.IndexAny(text[at:], "`<[")
		if next < 0 {
			return len(text), len(text)
		}
		at += next
		rest, size := text[at:], 0
		switch rest[0] {
		case '`':
			size = codeSize(rest)
		case '<':
			size = len(angled.FindString(rest))
		case '[':
			size = len(labeled.FindString(rest))
		}
		if size > 0 {
			return at, at + size
		}
	}
}

// codeSize returns how much of text, which begins with a backtick, is code; at least
// the sign.
func codeSize(text string) int {
	run := len(text) - len(strings.TrimLeft(text, "`"))
	if end := strings.Index(text[run:], text[:run]); end >= 0 {
		return run + end + run
	}
	return run
}

// inBlocks calls people in rich text, outside code and links.
func (c *caller) inBlocks(blocks string) string {
	var list []richText
	if json.Unmarshal([]byte(blocks), &list) != nil {
		return blocks
	}
	for i := range list {
		for j := range list[i].Elements {
			part := &list[i].Elements[j]
			if part.Type == "rich_text_preformatted" {
				continue
			}
			var runs []richRun
			for _, run := range part.Elements {
				runs = append(runs, c.inRun(run)...)
			}
			part.Elements = runs
		}
	}
	out, err := json.Marshal(list)
	if err != nil {
		panic("slack: words do not marshal: " + err.Error())
	}
	return string(out)
}

// inRun calls people in one run of words.
func (c *caller) inRun(run richRun) []richRun {
	if run.Type != "text" || run.Style != nil && run.Style.Code {
		return []richRun{run}
	}
	var runs []richRun
	for words := run.Text; words != ""; {
		before, id, after := c.cut(words)
		if before != "" {
			runs = append(runs, richRun{Type: "text", Text: before, Style: run.Style})
		}
		if id != "" {
			runs = append(runs, richRun{Type: "user", User: id})
		}
		words = after
	}
	return runs
}
