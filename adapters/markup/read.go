package markup

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Options say what a platform shows. The zero value is a platform without
// headings, lists and links.
type Options struct {
	// Headings is how many levels of headings the platform shows; deeper ones are
	// bold. Default: none.
	Headings int
	// Lists tells that the platform shows lists: their signs then are a [Mark]
	// as CommonMark writes them. Else they are words. Default: false.
	Lists bool
	// Tables tells that the platform shows tables as CommonMark's extension writes
	// them: they then are a [Mark]. Else they are drawn in a code block. Default: false.
	Tables bool
	// Reach says what the platform does with a link to address, and how it wants
	// the address written. Default: every address is [Shown].
	Reach func(address string) (string, LinkPolicy)
}

// A MarkdownReader reads CommonMark with strikethrough, tables and ||spoilers||. It does
// not link bare addresses: platforms do that themselves. Its methods may be
// called concurrently.
type MarkdownReader struct {
	parser  parser.Parser
	options Options
}

// New returns a reader for a platform that shows what o says.
func New(o Options) *MarkdownReader {
	if o.Reach == nil {
		o.Reach = func(address string) (string, LinkPolicy) { return address, Shown }
	}
	return &MarkdownReader{options: o, parser: goldmark.New(
		goldmark.WithExtensions(extension.Table, emphases, strikethroughs, spoilers),
	).Parser()}
}

// Read returns md as the platform can show it. Raw HTML is words.
func (r *MarkdownReader) Read(md string) *StyledText {
	source := []byte(Legible(strings.ReplaceAll(md, "\r\n", "\n")))
	w := walk{draft: newDraft(len(source)), source: source, options: r.options}
	w.blocks(r.parser.Parse(text.NewReader(source)))
	return w.finish()
}

// Legible returns s as valid text with spaces for control signs. No letter
// changes its place.
func Legible(s string) string {
	return strings.Map(func(r rune) rune {
		if (r < ' ' && r != '\n' && r != '\t') || r == 0x7F {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// walk goes through the tree and writes the draft. The tree is the only thing it
// knows of Markdown.
type walk struct {
	*draft
	source  []byte
	options Options
	called  map[string]bool // labels that links go by; nil before the first definition
}

// blocks writes the blocks inside n, with a blank line between them.
func (w *walk) blocks(n ast.Node) {
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		w.block(child)
		w.breakLine(2)
	}
}

// block writes one block.
func (w *walk) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		w.heading(n)
	case *ast.ThematicBreak:
		w.write("———")
	case *ast.CodeBlock:
		w.code("", string(n.Lines().Value(w.source)))
	case *ast.FencedCodeBlock:
		w.fenced(n)
	case *ast.HTMLBlock:
		w.rawBlock(n)
	case *ast.LinkReferenceDefinition:
		w.definition(n)
	case *ast.Blockquote:
		w.quote(n)
	case *ast.List:
		w.list(n)
	case *east.Table:
		w.table(n)
	case *ast.Paragraph, *ast.TextBlock:
		w.inlines(n)
	default:
		w.blocks(n)
	}
}

// heading writes a heading, or bold words where there are none so deep.
func (w *walk) heading(n *ast.Heading) {
	s := TextSpan{Look: Bold}
	if n.Level <= w.options.Headings {
		s = TextSpan{Look: Heading, Arg: strconv.Itoa(n.Level)}
	}
	w.span(s, func() { w.inlines(n) })
}

// code writes a code block. Some platforms show a tab as one space, so tabs
// become four.
func (w *walk) code(language, code string) {
	code = strings.Trim(strings.ReplaceAll(code, "\t", "    "), "\n")
	if Blank(code) {
		return
	}
	if !w.fresh {
		w.breakLine(1)
	}
	w.span(TextSpan{Look: Pre, Arg: language}, func() { w.lines(code) })
}

// fenced writes a code block between fences. What comes after the first fence
// is its language, and attributes at most; other words, and all that there is, were
// meant to be read.
func (w *walk) fenced(n *ast.FencedCodeBlock) {
	code := string(n.Lines().Value(w.source))
	info := ""
	if n.Info != nil {
		info = strings.TrimSpace(string(n.Info.Value(w.source)))
	}
	first, more, _ := strings.Cut(info, " ")
	if Blank(code) || more != "" && !strings.ContainsAny(info, "={") {
		w.code("", info+"\n"+code)
		return
	}
	w.code(language([]byte(first)), code)
}

// definition writes where a link leads, if no link of the text says so already.
func (w *walk) definition(n *ast.LinkReferenceDefinition) {
	if w.called == nil {
		w.called = calledIn(n.OwnerDocument())
	}
	if w.called[util.ToLinkReference(n.Label)] {
		return
	}
	words := "[" + resolve(n.Label) + "]: " + resolve(n.Destination)
	if len(n.Title) > 0 {
		words += ` "` + resolve(n.Title) + `"`
	}
	w.write(strings.ReplaceAll(words, "\n", " "))
}

// calledIn returns the labels of the definitions that links inside n go by.
func calledIn(n ast.Node) map[string]bool {
	called := map[string]bool{}
	note := func(by *ast.ReferenceLink) {
		if by != nil {
			called[util.ToLinkReference(by.Value)] = true
		}
	}
	_ = ast.Walk(n, func(n ast.Node, _ bool) (ast.WalkStatus, error) { // only the walker returns errors
		switch n := n.(type) {
		case *ast.Link:
			note(n.Reference)
		case *ast.Image:
			note(n.Reference)
		}
		return ast.WalkContinue, nil
	})
	return called
}

// language returns a code block's language if it is a plain word.
func language(info []byte) string {
	for _, c := range info {
		if !util.IsAlphaNumeric(c) && !strings.ContainsRune("+-#._", rune(c)) {
			return ""
		}
	}
	return string(info)
}

// rawBlock writes HTML as the text that it is.
func (w *walk) rawBlock(n *ast.HTMLBlock) {
	raw := string(n.Lines().Value(w.source))
	if n.HasClosure() {
		raw += string(n.ClosureLine.Value(w.source))
	}
	for line := range strings.SplitSeq(strings.Trim(raw, "\n"), "\n") {
		w.write(line)
		w.breakLine(1)
	}
}

// quote writes a block quote. Chat platforms do not nest them: an inner one is marked
// by hand.
func (w *walk) quote(n ast.Node) {
	if w.open[Quote] {
		w.indent("> ", func() { w.blocks(n) })
		return
	}
	w.span(TextSpan{Look: Quote}, func() { w.blocks(n) })
}

// indent begins every new line that fill writes with more.
func (w *walk) indent(more string, fill func()) {
	before := w.prefix
	w.prefix += more
	fill()
	w.prefix = before
}

// list writes a list. Where the platform has none the marks are text.
func (w *walk) list(n *ast.List) {
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "• "
		if w.options.Lists {
			mark = "- "
		}
		if n.IsOrdered() {
			mark = fmt.Sprintf("%d. ", number)
			number++
		}
		w.mark(mark)
		width := len([]rune(mark))
		w.indent(strings.Repeat(" ", width), func() {
			for child := item.FirstChild(); child != nil; child = child.NextSibling() {
				if _, nested := child.(*ast.List); nested && child.PreviousSibling() != nil {
					w.owed = 1
				}
				w.block(child)
				w.breakLine(apart(n))
			}
		})
		w.breakLine(apart(n))
	}
}

// mark writes what comes before an item.
func (w *walk) mark(mark string) {
	if !w.options.Lists {
		w.write(mark)
		return
	}
	w.span(TextSpan{Look: Mark}, func() { w.write(mark) })
}

// apart returns how many line breaks stand between a list's items.
func apart(n *ast.List) int {
	if n.IsTight {
		return 1
	}
	return 2
}
