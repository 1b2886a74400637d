package telegram

import (
	"fmt"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown reads CommonMark with strikethrough, tables and ||spoilers||. It does
// not link bare addresses: Telegram does that itself.
type markdown struct {
	parser parser.Parser
}

func newMarkdown() markdown {
	return markdown{parser: goldmark.New(
		goldmark.WithExtensions(extension.Strikethrough, extension.Table, spoilers{}),
	).Parser()}
}

// style returns md as Telegram can show it.
func (m markdown) style(md string) *styled {
	source := []byte(legible(strings.ReplaceAll(md, "\r\n", "\n")))
	w := walk{draft: newDraft(), source: source}
	w.blocks(m.parser.Parse(text.NewReader(source)))
	return w.styled()
}

// legible returns s as valid text with spaces for control signs, as Telegram
// does it. No letter changes its place.
func legible(s string) string {
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
	source []byte
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
		w.span(tag{name: "b"}, func() { w.inlines(n) })
	case *ast.ThematicBreak:
		w.write("———")
	case *ast.CodeBlock:
		w.code("", n.Lines())
	case *ast.FencedCodeBlock:
		w.code(language(n.Language(w.source)), n.Lines())
	case *ast.HTMLBlock:
		w.rawBlock(n)
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

// code writes a code block. Telegram shows a tab as one space, so tabs become
// four.
func (w *walk) code(language string, lines *text.Segments) {
	code := strings.ReplaceAll(string(lines.Value(w.source)), "\t", "    ")
	code = strings.Trim(code, "\n")
	if blank(code) {
		return
	}
	if !w.fresh {
		w.breakLine(1)
	}
	w.span(tag{name: "pre", arg: language}, func() { w.lines(code) })
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

// quote writes a block quote. Telegram does not nest them: an inner one is marked
// by hand.
func (w *walk) quote(n ast.Node) {
	if w.open["blockquote"] {
		w.indent("> ", func() { w.blocks(n) })
		return
	}
	w.span(tag{name: "blockquote"}, func() { w.blocks(n) })
}

// indent begins every new line that fill writes with more.
func (w *walk) indent(more string, fill func()) {
	before := w.prefix
	w.prefix += more
	fill()
	w.prefix = before
}

// list writes a list; Telegram has none, so the marks are text.
func (w *walk) list(n *ast.List) {
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "• "
		if n.IsOrdered() {
			mark = fmt.Sprintf("%d. ", number)
			number++
		}
		w.write(mark)
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

// apart returns how many line breaks stand between a list's items.
func apart(n *ast.List) int {
	if n.IsTight {
		return 1
	}
	return 2
}
