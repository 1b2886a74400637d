package telegram

import (
	"bytes"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// inlines writes what stands in the lines of n.
func (w *walk) inlines(n ast.Node) {
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		w.inline(child)
	}
}

// inline writes one inline node.
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
		w.span(tag{name: "code"}, func() { w.write(w.codeWords(n)) })
	case *ast.Emphasis:
		name := "i"
		if n.Level == 2 {
			name = "b"
		}
		w.span(tag{name: name}, func() { w.inlines(n) })
	case *east.Strikethrough:
		w.span(tag{name: "s"}, func() { w.inlines(n) })
	case *spoiler:
		w.span(tag{name: "tg-spoiler"}, func() { w.inlines(n) })
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

// codeWords returns what stands in a code span, line breaks as spaces.
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

// image writes a picture as a link to it. Telegram must not fetch it.
func (w *walk) image(n *ast.Image) {
	w.link(n.Destination, func() {
		if n.FirstChild() == nil {
			w.write("image")
			return
		}
		w.inlines(n)
	})
}

// link writes a link. Where Telegram would drop the address or spoil it, the
// address follows the words; one that must not be followed is left out.
func (w *walk) link(destination []byte, words func()) {
	switch to, how := target(strings.ReplaceAll(resolve(destination), " ", "%20")); how {
	case linked:
		w.span(tag{name: "a", arg: to}, words)
	case shown:
		before := w.text.Len()
		words()
		if !strings.Contains(w.text.String()[before:], to) {
			w.write(" (" + to + ")")
		}
	case hidden:
		words()
	}
}

// reach says what becomes of an address.
type reach int

const (
	linked reach = iota // a link
	shown               // text beside the words
	hidden              // nothing
)

// maxAddress bounds an address, so that the markup of a part stays small.
const maxAddress = 2048

// target returns what Telegram can do with address. Its parser takes http, https
// and tg, the first two only with a host that has a dot or is an IP address; it
// makes a false link of mailto and drops tel. tg://user would call anybody, so
// only [adapters.Post.Mentions] may make one.
func target(address string) (string, reach) {
	u, err := url.Parse(address)
	if err != nil || len(address) > maxAddress || strings.ContainsAny(address, "\n\t\x00") {
		return "", hidden
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		if !reachable(u) {
			return address, shown
		}
		return address, linked
	case "tg":
		if strings.EqualFold(u.Host, "user") || strings.EqualFold(u.Opaque, "user") {
			return "", hidden
		}
		return address, linked
	case "mailto", "tel":
		bare, _, _ := strings.Cut(u.Opaque, "?")
		return bare, shown
	default:
		return "", hidden
	}
}

// reachable reports whether Telegram takes u's host and port, and whether the
// host is what it seems: a user's name before it makes it look like another.
func reachable(u *url.URL) bool {
	if u.User != nil {
		return false
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return false
		}
	}
	_, err := netip.ParseAddr(u.Hostname())
	return err == nil || strings.Contains(strings.Trim(u.Hostname(), "."), ".")
}
