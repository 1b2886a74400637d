package console

import (
	"html/template"
	"regexp"
	"strings"
)

// problemPages is where every code of a problem is explained.
const problemPages = "https://github.com/trestle-bridge/trestle/blob/main/docs/problems.md"

var problemCode = regexp.MustCompile(`TRS-[A-Z][0-9]{2}`)

// coded writes text with a link to the page of each problem code in it.
func coded(text string) template.HTML {
	text = Plain(text)
	var out strings.Builder
	from := 0
	for _, at := range problemCode.FindAllStringIndex(text, -1) {
		code := text[at[0]:at[1]]
		out.WriteString(template.HTMLEscapeString(text[from:at[0]]))
		out.WriteString(`<a rel="noreferrer" href="` + problemPages + "#" + strings.ToLower(code) + `">` + code + `</a>`)
		from = at[1]
	}
	out.WriteString(template.HTMLEscapeString(text[from:]))
	return template.HTML(out.String()) //nolint:gosec // everything but the links, which are ours, is escaped
}
