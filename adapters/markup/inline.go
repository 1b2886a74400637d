package markup

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// inlines writes what is in the lines of n.
func (w *walk) inlines(n ast.Node) {
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		w.inline(child)
	}
}

func (w *walk) inline(n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		w.write(w.words(n))
		if n.SoftLineBreak() || n.HardLineBreak() {
			w.breakLine(1)
		}
	case *ast.String:
		w.write(string(n.Value))
	case *ast.CodeSpan:
		w.span(TextSpan{Look: Code}, func() { w.write(w.codeWords(n)) })
	case *ast.Emphasis:
		look := Italic
		if n.Level == 2 {
			look = Bold
		}
		w.span(TextSpan{Look: look}, func() { w.inlines(n) })
	case *east.Strikethrough:
		w.span(TextSpan{Look: Strikethrough}, func() { w.inlines(n) })
	case *spoiler:
		w.span(TextSpan{Look: Spoiler}, func() { w.inlines(n) })
	case *ast.Link:
		w.link(n.Destination, func() { w.inlines(n) })
	case *ast.Image:
		w.image(n)
	case *ast.AutoLink:
		w.write(string(n.Label(w.source)))
	case *ast.RawHTML:
		w.raw(n)
	default:
		w.inlines(n)
	}
}

// words returns a text node's words, with backslashes and references resolved.
func (w *walk) words(n *ast.Text) string {
	value := n.Value(w.source)
	if n.IsRaw() {
		return string(value)
	}
	return resolve(value)
}

// resolve takes the backslashes before punctuation away and puts in what
// references such as &amp; stand for, in one pass: what comes out is not read again.
func resolve(value []byte) string {
	if bytes.IndexByte(value, '\\') < 0 && bytes.IndexByte(value, '&') < 0 {
		return string(value)
	}
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		switch {
		case value[i] == '\\' && i+1 < len(value) && util.IsPunct(value[i+1]):
			i++
			b.WriteByte(value[i])
		case value[i] == '&':
			found := reference.Find(value[i:min(i+40, len(value))])
			if found == nil {
				b.WriteByte('&')
				continue
			}
			b.Write(util.ResolveEntityNames(util.ResolveNumericReferences(found)))
			i += len(found) - 1
		default:
			b.WriteByte(value[i])
		}
	}
	return b.String()
}

// codeWords returns what is in a code span, line breaks as spaces.
func (w *walk) codeWords(n *ast.CodeSpan) string {
	var b strings.Builder
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		if t, ok := child.(*ast.Text); ok {
			b.Write(t.Segment.Value(w.source))
		}
	}
	return strings.ReplaceAll(b.String(), "\n", " ")
}

// raw writes inline HTML as the text that it is.
func (w *walk) raw(n *ast.RawHTML) {
	for i := range n.Segments.Len() {
		segment := n.Segments.At(i)
		line := string(segment.Value(w.source))
		w.write(strings.TrimSuffix(line, "\n"))
		if strings.HasSuffix(line, "\n") {
			w.breakLine(1)
		}
	}
}

// image writes a picture as a link to it. The platform must not fetch it.
func (w *walk) image(n *ast.Image) {
	w.link(n.Destination, func() {
		if n.FirstChild() == nil {
			w.write("image")
			return
		}
		w.inlines(n)
	})
}

// link writes a link. Where the platform would drop the address or spoil it, the
// address follows the words; one that must not be followed is left out.
func (w *walk) link(destination []byte, words func()) {
	to := strings.ReplaceAll(resolve(destination), " ", "%20")
	how := Hidden
	if len(to) <= maxAddress && !strings.ContainsAny(to, "\n\t\x00") {
		to, how = w.options.Reach(to)
	}
	if !w.affords(len(to)) {
		how = Hidden
	}
	switch how {
	case Linked:
		w.span(TextSpan{Look: Link, Arg: to}, words)
	case Shown:
		before := w.text.Len()
		words()
		if !strings.Contains(w.text.String()[before:], to) {
			w.write(" (" + to + ")")
		}
	case Hidden:
		words()
	}
}

// LinkPolicy says what becomes of an address in a link.
type LinkPolicy int

// What may become of an address.
const (
	Linked LinkPolicy = iota // a link
	Shown                    // text beside the words
	Hidden                   // nothing
)

// maxAddress bounds an address, so that the markup of a part stays small.
const maxAddress = 2048
