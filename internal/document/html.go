package document

import (
	"bytes"
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"codeberg.org/readeck/go-readability/v2"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/strikethrough"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
)

// extractHTML reads the content of a page, without its navigation and without what a
// browser would not show.
func extractHTML(ctx context.Context, src FileSource, out *textWriter) error {
	address, err := url.Parse(src.Address)
	if err != nil {
		address = &url.URL{}
	}
	data, cut := src.Data, false
	if most := max(8*out.limits.Output, 16<<20); len(data) > most {
		data, cut = data[:most], true
	}
	enc, _, _ := charset.DetermineEncoding(data, htmlMediaType(src.MediaType))
	if validUTF8(data) {
		enc, _ = charset.Lookup("utf-8")
	}
	if marked, _ := markedEncoding(data); marked != nil {
		enc = marked
	}
	text, err := enc.NewDecoder().Bytes(data)
	if err != nil {
		return err
	}
	text, shortened := withoutRaw(bytes.TrimPrefix(text, []byte("\ufeff")), out.limits.Output+4096)
	cut = cut || shortened
	doc, err := html.Parse(bytes.NewReader(text))
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	out.setTitle(pageTitle(doc))
	markdown, err := pageMarkdown(doc, address)
	if err != nil {
		return err
	}
	out.writeBlock(markdown)
	out.cut = out.cut || cut
	return nil
}

// rawElements are long in many pages, and hold no text for a reader.
var rawElements = []string{"script", "style", "svg", "template", "noscript"}

// withoutRaw returns at most limit bytes of a page without the elements that hold no
// text, and whether that is less than there was: the tree of a page and its Markdown
// take thirty times its bytes.
func withoutRaw(page []byte, limit int) ([]byte, bool) {
	kept := make([]byte, 0, min(len(page), limit))
	z := html.NewTokenizer(bytes.NewReader(page))
	inside, depth := "", 0
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return kept, false
		}
		raw := z.Raw()
		name := ""
		if kind == html.StartTagToken || kind == html.EndTagToken {
			tag, _ := z.TagName()
			name = string(tag)
		}
		switch {
		case depth > 0 && name == inside && kind == html.StartTagToken:
			depth++
		case depth > 0 && name == inside && kind == html.EndTagToken:
			depth--
		case depth > 0, kind == html.CommentToken:
		case kind == html.StartTagToken && slices.Contains(rawElements, name):
			inside, depth = name, 1
		case len(kept)+len(raw) > limit:
			return kept, true
		default:
			kept = append(kept, raw...)
		}
	}
}

// htmlMediaType returns a declared type with what an HTML decoder looks for.
func htmlMediaType(declared string) string {
	if name := declaredCharset(declared); name != "" {
		return "text/html; charset=" + name
	}
	return "text/html"
}

// pageMarkdown returns the content of a page as Markdown with absolute links.
func pageMarkdown(doc *html.Node, address *url.URL) (string, error) {
	if b := firstElement(doc, "base"); b != nil {
		if u, err := address.Parse(attribute(b, "href")); err == nil {
			address = u
		}
	}
	pruneNode(doc, address, false)
	conv := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(),
		strikethrough.NewStrikethroughPlugin(), table.NewTablePlugin()))
	text, err := conv.ConvertNode(contentNode(doc, address))
	return string(text), err
}

// dropped are elements that have no text for a reader.
var dropped = []string{
	"script", "style", "noscript", "template", "iframe", "object", "embed", "svg", "canvas", "input", "button",
	"select", "textarea", "link", "meta", "nav", "dialog", "audio", "video", "map",
}

// droppedRoles are the ARIA roles of what surrounds the content.
var droppedRoles = []string{"navigation", "banner", "contentinfo", "search", "dialog", "alertdialog", "menu", "menubar", "complementary"}

// pruneNode removes what is not content below n, and makes addresses absolute. A head
// or foot within an article belongs to its text.
func pruneNode(n *html.Node, address *url.URL, inContent bool) {
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		switch {
		case c.Type == html.CommentNode, c.Type == html.ElementNode && isDropped(c, inContent):
			n.RemoveChild(c)
		case c.Type == html.ElementNode:
			cleanElement(c, address)
			pruneNode(c, address, inContent || isContent(c))
		}
		c = next
	}
}

func isContent(n *html.Node) bool {
	return n.Data == "main" || n.Data == "article" || attribute(n, "role") == "main"
}

func isDropped(n *html.Node, inContent bool) bool {
	if slices.Contains(dropped, n.Data) || slices.Contains(droppedRoles, attribute(n, "role")) {
		return true
	}
	if !inContent && (n.Data == "header" || n.Data == "footer" || n.Data == "aside") {
		return true
	}
	for _, a := range n.Attr {
		style := strings.ReplaceAll(strings.ToLower(a.Val), " ", "")
		switch {
		case a.Key == "hidden", a.Key == "aria-hidden" && a.Val == "true":
			return true
		case a.Key == "style" && (strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden")):
			return true
		}
	}
	return n.Data == "img" && (attribute(n, "alt") == "" || strings.HasPrefix(attribute(n, "src"), "data:"))
}

// maxSpan is the widest cell of a table that keeps its width: a span is repeated for
// each column.
const maxSpan = 20

// cleanElement makes the addresses of an element absolute, and drops attributes that
// would make its Markdown long or wrong.
func cleanElement(n *html.Node, address *url.URL) {
	n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool {
		switch a.Key {
		case "colspan", "rowspan":
			span, err := strconv.Atoi(strings.TrimSpace(a.Val))
			return err != nil || span > maxSpan
		case "srcset", "title":
			return true
		}
		return false
	})
	for i, a := range n.Attr {
		if a.Key != "href" && a.Key != "src" {
			continue
		}
		u, err := address.Parse(strings.TrimSpace(a.Val))
		switch {
		case err != nil, u.Scheme == "javascript", u.Scheme == "data":
			n.Attr[i].Val = ""
		default:
			n.Attr[i].Val = u.String()
		}
	}
	if n.Data == "a" && attribute(n, "href") == "" {
		n.Data, n.DataAtom, n.Attr = "span", 0, nil
	}
}

// minShare is how much of the text of a page, in per cent, its marked content must
// have to stand for the page, and minProse how much of the text outside links what the
// library finds. A page of fewer links than minLinks is taken whole.
const (
	minLinks = 15
	minShare = 30
	minProse = 60
)

// contentNode returns the element that holds the content of a pruned page: the one
// that the page marks, else what the readability library finds, else all of it.
func contentNode(doc *html.Node, address *url.URL) *html.Node {
	body := firstElement(doc, "body")
	if body == nil {
		return doc
	}
	whole := textLength(body)
	for _, is := range []func(*html.Node) bool{
		func(n *html.Node) bool { return n.Data == "main" || attribute(n, "role") == "main" },
		func(n *html.Node) bool { return n.Data == "article" },
	} {
		if found := findElements(body, is); len(found) == 1 && 100*textLength(found[0]) >= minShare*whole {
			return found[0]
		}
	}
	prose := proseLength(body)
	if 100*(whole-prose) < minLinks*whole {
		return body // there is hardly any navigation to leave out
	}
	parser := readability.NewParser()
	parser.MaxElemsToParse = 20_000 // it looks at each several times
	article, err := parser.ParseDocument(doc, address)
	if err != nil || article.Node == nil || 100*proseLength(article.Node) < minProse*prose {
		return body
	}
	return article.Node
}

// pageTitle returns the title of a page.
func pageTitle(doc *html.Node) string {
	if t := firstElement(doc, "title"); t != nil {
		return nodeText(t)
	}
	if h := firstElement(doc, "h1"); h != nil {
		return nodeText(h)
	}
	return ""
}

func nodeText(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}

func textLength(n *html.Node) int {
	total := 0
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			total += len(strings.TrimSpace(c.Data))
		}
	}
	return total
}

// proseLength returns the length of the text that is no link.
func proseLength(n *html.Node) int {
	total := 0
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.TextNode:
			total += len(strings.TrimSpace(c.Data))
		case c.Data != "a":
			total += proseLength(c)
		}
	}
	return total
}

func firstElement(n *html.Node, name string) *html.Node {
	for c := range n.Descendants() {
		if c.Type == html.ElementNode && c.Data == name {
			return c
		}
	}
	return nil
}

func findElements(n *html.Node, is func(*html.Node) bool) []*html.Node {
	var found []*html.Node
	for c := range n.Descendants() {
		if c.Type == html.ElementNode && is(c) {
			found = append(found, c)
		}
	}
	return found
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
