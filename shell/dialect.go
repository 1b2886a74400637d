package shell

import (
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// fromCalls reads the tools dialect: the model's calls are the acts. Calls
// without an id, or with one already used, get one of their own so that every
// act has exactly one result.
func fromCalls(calls []llm.ToolCall, step int) []ToolCall {
	acts := make([]ToolCall, 0, len(calls))
	seen := map[string]bool{}
	for i, c := range calls {
		id := c.ID
		for n := i; id == "" || seen[id]; n++ {
			id = fmt.Sprintf("call_%d_%d", step, n)
		}
		seen[id] = true
		acts = append(acts, ToolCall{ID: id, Name: c.Name, Args: c.Args})
	}
	return acts
}

// Tags of the source texts and what they are in the tools dialect. The value
// names the argument that the text between the tags becomes.
var tagActs = map[string]struct{ act, content string }{
	"msg":      {"send_message", "text"},
	"reply":    {"send_reply", "text"},
	"ask":      {"ask", "question"},
	"react":    {"react", "emoji"},
	"edit":     {"edit_message", "text"},
	"delete":   {"delete_message", "message"},
	"use":      {"use", "input"},
	"enter":    {"enter_space", "space"},
	"view":     {"view", "what"},
	"look":     {"look", "what"},
	"remind":   {"remind", "note"},
	"read":     {"read_messages", "space"},
	"search":   {"search", "query"},
	"sleep":    {"sleep", "seconds"},
	"timer":    {"timer", "note"},
	"plan":     {"plan", "note"},
	"bookmark": {"bookmark", "label"},
	"note":     {"note", "text"},
	"goal":     {"goal", "text"},
	"remember": {"remember", "fact"},
	"forget":   {"forget", "id"},
	"done":     {"done", "account"},
	"setup":    {"set_up", wholeBody},
}

// wholeBody says that the text between the tags is the arguments themselves, as JSON.
const wholeBody = "{}"

var (
	openTag = regexp.MustCompile(`<([a-z]+)((?:\s+[a-z_]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(/?)>`)
	tagAttr = regexp.MustCompile(`([a-z_]+)\s*=\s*(?:"([^"]*)"|'([^']*)')`)
)

// fromTags reads the tags dialect. A tag is an act only if it carries the
// cycle's nonce and does not stand in code or a quotation: what people wrote
// and the model repeats is never obeyed (SECURITY 5). An unclosed tag reaches to
// the next act or the end (SEQ-90). What is left is returned as plain text.
func fromTags(text, nonce string, step int) (acts []ToolCall, plain string) {
	acts, plain, _ = readTags(text, nonce, step)
	return acts, plain
}

// fromCut is fromTags for an answer that was cut off: an act that was not closed by
// then is none, like a call of which a part has come (DELIVERY 2.8).
func fromCut(text, nonce string, step int) (acts []ToolCall, plain string) {
	acts, plain, open := readTags(text, nonce, step)
	if open {
		acts = acts[:len(acts)-1]
	}
	return acts, plain
}

// readTags also reports whether the last act was not closed.
func readTags(text, nonce string, step int) (acts []ToolCall, plain string, open bool) {
	visible, words := withoutCode(withoutQuotes(text)), withoutCode(text) // same length: offsets agree with text
	var rest strings.Builder
	at := 0
	for at < len(text) {
		m := nextTag(visible, nonce, at)
		if m == nil {
			break
		}
		rest.WriteString(text[at:m.start])
		body, end := "", m.end
		if !m.empty {
			body, end, open = tagBody(text, visible, words, nonce, m)
		}
		acts = append(acts, ToolCall{ID: fmt.Sprintf("tag_%d_%d", step, len(acts)), Name: tagActs[m.name].act, Args: tagArgs(m, body)})
		at = end
	}
	rest.WriteString(text[at:])
	return acts, strings.TrimSpace(rest.String()), open
}

type tag struct {
	name       string
	attrs      [][2]string
	start, end int
	empty      bool
}

// nextTag returns the first act's opening tag at or after from.
func nextTag(text, nonce string, from int) *tag {
	for from < len(text) {
		m := openTag.FindStringSubmatchIndex(text[from:])
		if m == nil {
			return nil
		}
		t := tag{name: text[from+m[2] : from+m[3]], start: from + m[0], end: from + m[1], empty: m[6] != m[7]}
		for _, a := range tagAttr.FindAllStringSubmatch(text[from+m[4]:from+m[5]], -1) {
			t.attrs = append(t.attrs, [2]string{a[1], html.UnescapeString(a[2] + a[3])})
		}
		if _, known := tagActs[t.name]; known && slices.Contains(t.attrs, [2]string{"k", nonce}) {
			return &t
		}
		from = t.end
	}
	return nil
}

// tagBody returns the text between the tag and its close, and where to go on. The
// close may end a quotation or a table, which are the agent's own words. Open is a tag
// that neither its close nor another act ends.
func tagBody(text, visible, words, nonce string, m *tag) (body string, end int, open bool) {
	closing := "</" + m.name + ">"
	stop, end, open := len(text), len(text), true
	if i := strings.Index(words[m.end:], closing); i >= 0 {
		stop, end, open = m.end+i, m.end+i+len(closing), false
	}
	if next := nextTag(visible, nonce, m.end); next != nil && next.start < stop {
		stop, end, open = next.start, next.start, false
	}
	return strings.TrimSpace(html.UnescapeString(text[m.end:stop])), end, open
}

// numeric are the arguments that are numbers in the schema.
var numeric = []string{"seconds", "limit"}

func tagArgs(m *tag, body string) string {
	args := map[string]any{}
	set := func(name, value string) {
		if n, err := strconv.Atoi(value); err == nil && slices.Contains(numeric, name) {
			args[name] = n
			return
		}
		if name == "options" {
			args[name] = strings.Split(value, "|")
			return
		}
		if name == "broadcast" || name == "wait" || name == "more" {
			args[name] = value == "true"
			return
		}
		args[name] = value
	}
	for _, a := range m.attrs {
		if a[0] != "k" {
			set(a[0], a[1])
		}
	}
	switch content := tagActs[m.name].content; {
	case body == "":
	case content == wholeBody:
		var whole map[string]any
		if json.Unmarshal([]byte(body), &whole) != nil {
			whole = map[string]any{"arguments": body} // which no act takes: the refusal says so
		}
		maps.Copy(args, whole)
	default:
		set(content, body)
	}
	data, err := json.Marshal(args)
	if err != nil {
		panic("shell: tag arguments do not marshal: " + err.Error())
	}
	return string(data)
}

// withoutQuotes blanks out quoted lines, keeping the length.
func withoutQuotes(text string) string {
	if !strings.Contains(text, ">") && !strings.Contains(text, "| ") {
		return text
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		if t := strings.TrimLeft(line, " \t"); strings.HasPrefix(t, ">") || strings.HasPrefix(t, "| ") {
			words := strings.TrimRight(line, "\n")
			line = strings.Repeat(" ", len(words)) + line[len(words):]
		}
		out.WriteString(line)
	}
	return out.String()
}

var section = regexp.MustCompile(`(?s)<(notes|goals|questions)>(.*?)(?:</(?:notes|goals|questions)>|$)`)

// sections returns the parts of a thought that are indexed, in order (SEQ-82,
// SEQ-84). Anything else in it stays as it is; no form is asked for.
func sections(thought string) (found [][2]string) {
	for _, m := range section.FindAllStringSubmatch(withoutCode(thought), -1) {
		for line := range strings.Lines(m[2]) {
			line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "-*•"))
			if line != "" {
				found = append(found, [2]string{m[1], line})
			}
		}
	}
	return found
}
