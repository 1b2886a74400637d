package slack

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// textRenderer is what a reader sees of a message, whom it calls, and what a preview
// would fetch.
type textRenderer struct {
	text  string
	names []string // users
	loud  []string // here, channel, everyone, or a group
	urls  []string
}

// read returns what a reader sees of m.
func (m *message) read() textRenderer {
	if m.form == "text" || m.form == "" {
		return readMrkdwn(m.text)
	}
	var w textRenderer
	var blocks []json.RawMessage
	_ = json.Unmarshal(m.blocks, &blocks) // they were checked when they came
	var parts []string
	for _, b := range blocks {
		one := readBlock(b)
		parts = append(parts, one.text)
		w.add(one)
	}
	w.text = strings.Join(parts, "\n")
	return w
}

func (w *textRenderer) add(o textRenderer) {
	w.names, w.loud, w.urls = append(w.names, o.names...), append(w.loud, o.loud...), append(w.urls, o.urls...)
}

// The tokens and signs of mrkdwn.
var (
	token = regexp.MustCompile(`<([^<>]*)>`)
	bare  = regexp.MustCompile(`https?://[^\s<>|]+`)
	signs = []*regexp.Regexp{
		regexp.MustCompile(`(^|[^\pL\pN` + "`" + `])` + "`" + `([^` + "`" + `\n]+)` + "`" + `($|[^\pL\pN])`),
		regexp.MustCompile(`(^|[^\pL\pN*])\*([^\s*](?:[^*\n]*[^\s*])?)\*($|[^\pL\pN*])`),
		regexp.MustCompile(`(^|[^\pL\pN_])_([^\s_](?:[^_\n]*[^\s_])?)_($|[^\pL\pN_])`),
		regexp.MustCompile(`(^|[^\pL\pN~])~([^\s~](?:[^~\n]*[^\s~])?)~($|[^\pL\pN~])`),
	}
	entities = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")
)

// readMrkdwn reads Slack's own markup.
func readMrkdwn(s string) textRenderer {
	var w textRenderer
	var plain strings.Builder
	for i, part := range strings.Split(s, "```") {
		if i%2 == 1 {
			plain.WriteString(entities.Replace(w.tokens(strings.Trim(part, "\n"))))
			continue
		}
		var kept []string // code is not looked into
		part = signs[0].ReplaceAllStringFunc(part, func(code string) string {
			kept = append(kept, strings.Replace(strings.Replace(code, "`", "", 1), "`", "", 1))
			return "\x00"
		})
		part = w.tokens(part)
		for _, sign := range signs[1:] {
			for range 2 { // neighbours share the sign between them
				part = sign.ReplaceAllString(part, "$1$2$3")
			}
		}
		for _, code := range kept {
			part = strings.Replace(part, "\x00", w.tokens(code), 1)
		}
		lines := strings.Split(part, "\n")
		for j, line := range lines {
			lines[j] = strings.TrimPrefix(strings.TrimPrefix(line, "> "), "&gt; ")
		}
		plain.WriteString(entities.Replace(strings.Join(lines, "\n")))
	}
	w.text = plain.String()
	return w
}

// tokens replaces what is between angle brackets by what is shown.
func (w *textRenderer) tokens(s string) string {
	w.urls = append(w.urls, bare.FindAllString(s, -1)...)
	return token.ReplaceAllStringFunc(s, func(t string) string {
		what, label, labelled := strings.Cut(t[1:len(t)-1], "|")
		switch {
		case strings.HasPrefix(what, "@"):
			w.names = append(w.names, what[1:])
		case strings.HasPrefix(what, "!"):
			w.loud = append(w.loud, what[1:])
		}
		if labelled {
			return label
		}
		return what
	})
}

// element is any block or element.
type element struct {
	Type     string            `json:"type"`
	Text     json.RawMessage   `json:"text"`
	Elements []json.RawMessage `json:"elements"`
	User     string            `json:"user_id"`
	Range    string            `json:"range"`
	Group    string            `json:"usergroup_id"`
	URL      string            `json:"url"`
	Name     string            `json:"name"`
}

// readBlock reads one block or element.
func readBlock(raw json.RawMessage) textRenderer {
	var e element
	_ = json.Unmarshal(raw, &e) // they were checked when they came
	var w textRenderer
	switch e.Type {
	case "actions": // a reader sees buttons, which are no words
		return w
	case "markdown":
		return readMarkdown(decodeText(e.Text))
	case "section", "header", "mrkdwn", "plain_text":
		return readMrkdwn(decodeText(e.Text))
	case "user":
		return textRenderer{text: "@" + e.User, names: []string{e.User}}
	case "broadcast":
		return textRenderer{text: "@" + e.Range, loud: []string{e.Range}}
	case "usergroup":
		return textRenderer{text: "@" + e.Group, loud: []string{"subteam^" + e.Group}}
	case "link":
		w.urls = append(w.urls, e.URL)
		if w.text = decodeText(e.Text); w.text == "" {
			w.text = e.URL
		}
		return w
	case "emoji":
		return textRenderer{text: ":" + e.Name + ":"}
	case "text":
		return textRenderer{text: decodeText(e.Text)}
	}
	between := ""
	if e.Type == "rich_text" || e.Type == "rich_text_list" {
		between = "\n"
	}
	var parts []string
	for _, inner := range e.Elements {
		one := readBlock(inner)
		parts = append(parts, one.text)
		w.add(one)
	}
	w.text = strings.Join(parts, between)
	return w
}

func decodeText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var t struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(raw, &t) // anything else has no words
	return t.Text
}

// standard reads standard Markdown.
var standard = goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser()

// readMarkdown reads the words of standard Markdown, in which Slack still sees who
// is called.
func readMarkdown(md string) textRenderer {
	var w textRenderer
	w.tokens(md)
	source := []byte(md)
	var b strings.Builder
	_ = ast.Walk(standard.Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Value(source))
				if n.SoftLineBreak() || n.HardLineBreak() {
					b.WriteByte('\n')
				}
			}
		case *ast.AutoLink:
			if entering {
				b.Write(n.URL(source))
			}
		case *ast.FencedCodeBlock:
			if entering {
				b.Write(n.Lines().Value(source))
			}
		case *ast.CodeBlock:
			if entering {
				b.Write(n.Lines().Value(source))
			}
		case *ast.RawHTML, *ast.HTMLBlock:
			if entering {
				b.WriteString(" ")
			}
		default:
			if !entering && n.Type() == ast.TypeBlock && n.Parent() != nil {
				b.WriteByte('\n')
			}
		}
		return ast.WalkContinue, nil // which never fails
	})
	w.text = strings.TrimSpace(b.String())
	return w
}
