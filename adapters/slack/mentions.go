package slack

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/trestle-bridge/trestle/adapters"
)

// maxMentions bounds how many people one message calls (SECURITY 5).
const maxMentions = 3

// callName is a way to name somebody after @.
type callName struct{ name, id string }

// callNames returns the names of the people who can be called, the longest first,
// so that "Ann Lee" is not taken for "Ann".
func callNames(people []adapters.Person) []callName {
	var names []callName
	for _, p := range people {
		if strings.Trim(p.ID, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != "" || p.ID == "" {
			continue
		}
		for _, name := range []string{p.Name, p.Handle} {
			if name != "" {
				names = append(names, callName{name, p.ID})
			}
		}
	}
	slices.SortStableFunc(names, func(a, b callName) int { return len(b.name) - len(a.name) })
	return names
}

// A caller replaces names after @, up to so many.
type caller struct {
	names []callName
	left  int
}

// cut splits words at the first @name: what stands before it, who is called, and
// what follows. No call is the zero callName.
func (c *caller) cut(words string) (before string, called callName, after string) {
	for at := 0; c.left > 0; at++ {
		i := strings.IndexByte(words[at:], '@')
		if i < 0 {
			break
		}
		at += i
		if r, _ := utf8.DecodeLastRuneInString(words[:at]); at > 0 && (inWord(r) || r == '_') {
			continue
		}
		for _, n := range c.names {
			rest := words[at+1:]
			if len(rest) < len(n.name) || !strings.EqualFold(rest[:len(n.name)], n.name) {
				continue
			}
			if r, _ := utf8.DecodeRuneInString(rest[len(n.name):]); len(rest) > len(n.name) && (inWord(r) || r == '_') {
				continue
			}
			c.left--
			return words[:at], n, rest[len(n.name):]
		}
	}
	return words, callName{}, ""
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
			before, called, after := c.cut(words)
			b.WriteString(before)
			if called.id != "" {
				b.WriteString("<@" + called.id + ">")
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
		before, called, after := c.cut(words)
		if before != "" {
			runs = append(runs, richRun{Type: "text", Text: before, Style: run.Style})
		}
		if called.id != "" {
			runs = append(runs, richRun{Type: "user", User: called.id})
		}
		words = after
	}
	return runs
}
