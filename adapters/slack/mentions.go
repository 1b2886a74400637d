package slack

import (
	"encoding/json"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/mentions"
)

// maxMentions bounds how many people one message calls (SECURITY 5).
const maxMentions = 3

// written returns how the name of somebody stands in words, if they can be called.
func written(who adapters.Person, name string) []string {
	if who.ID == "" || strings.Trim(who.ID, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != "" {
		return nil
	}
	return []string{name}
}

// A caller calls people who are named, up to so many.
type caller struct {
	names mentions.Names
	left  int
}

// cut splits words at the first name of somebody who is to be called; id is empty
// where nobody is.
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
		end := strings.IndexAny(text, "`<[")
		if end < 0 {
			end = len(text)
		}
		words := text[:end]
		for words != "" {
			before, id, after := c.cut(words)
			b.WriteString(before)
			if id != "" {
				b.WriteString("<@" + id + ">")
			}
			words = after
		}
		skip := protected(text[end:])
		b.WriteString(text[end : end+skip])
		text = text[end+skip:]
	}
	return b.String()
}

// protected returns how much of text, which begins with a sign, is code or a
// link; at least the sign.
func protected(text string) int {
	if text == "" {
		return 0
	}
	if text[0] == '`' {
		run := len(text) - len(strings.TrimLeft(text, "`"))
		if end := strings.Index(text[run:], text[:run]); end >= 0 {
			return run + end + run
		}
		return run
	}
	closer := map[byte]string{'<': ">", '[': ")"}[text[0]]
	line, _, _ := strings.Cut(text, "\n")
	if end := strings.Index(line, closer); end > 0 && (text[0] == '<' || strings.Contains(line[:end], "](")) {
		return end + 1
	}
	return 1
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
