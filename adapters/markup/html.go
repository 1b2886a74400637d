package markup

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"
)

// page renders CommonMark for pages: the same tree as that of a [MarkdownReader], and
// bare addresses as links.
var page = goldmark.New(
	goldmark.WithExtensions(extension.Linkify, extension.Table, emphases, strikethroughs, spoilers),
	goldmark.WithRenderer(renderer.NewRenderer(renderer.WithNodeRenderers(
		util.Prioritized(pageNodes{}, 100),
		util.Prioritized(extension.NewTableHTMLRenderer(extension.WithTableCellAlignMethod(extension.TableCellAlignNone)), 500),
		util.Prioritized(extension.NewStrikethroughHTMLRenderer(), 500),
		util.Prioritized(html.NewRenderer(html.WithHardWraps()), 1000),
	))),
)

// HTML returns md as HTML that a page can contain: HTML in md is shown as
// words, an image as a link, and a link leads to http, https or mail addresses alone and has
// rel="noopener noreferrer nofollow". No element has an id, a style or a script, and none
// loads anything. Headings begin at the third level.
func HTML(md string) string {
	var out bytes.Buffer
	source := []byte(Legible(strings.ReplaceAll(md, "\r\n", "\n")))
	if err := page.Convert(source, &out); err != nil { // a buffer takes everything
		return "<p>" + string(util.EscapeHTML(source)) + "</p>"
	}
	return out.String()
}

// pageNodes renders the nodes that a page must not have as they stand.
type pageNodes struct{}

// RegisterFuncs implements [renderer.NodeRenderer].
func (pageNodes) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindRawHTML, pageRawHTML)
	r.Register(ast.KindHTMLBlock, pageHTMLBlock)
	r.Register(ast.KindLink, pageLink)
	r.Register(ast.KindImage, pageLink)
	r.Register(ast.KindAutoLink, pageAutoLink)
	r.Register(ast.KindHeading, pageHeading)
	r.Register(kindSpoiler, pageSpoiler)
}

func pageRawHTML(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.Write(util.EscapeHTML(n.(*ast.RawHTML).Segments.Value(source)))
	}
	return ast.WalkSkipChildren, nil
}

func pageHTMLBlock(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	block := n.(*ast.HTMLBlock)
	if !entering {
		return ast.WalkContinue, nil
	}
	text := block.Lines().Value(source)
	if block.HasClosure() {
		text = append(bytes.Clone(text), block.ClosureLine.Value(source)...)
	}
	_, _ = fmt.Fprintf(w, "<p>%s</p>\n", bytes.ReplaceAll(util.EscapeHTML(bytes.TrimSpace(text)), []byte("\n"), []byte("<br>\n")))
	return ast.WalkContinue, nil
}

// openLink begins a link to an address, and reports whether it may lead there.
func openLink(w util.BufWriter, address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mailto" {
		return false
	}
	_, _ = fmt.Fprintf(w, `<a href="%s" rel="noopener noreferrer nofollow" target="_blank">`, util.EscapeHTML(util.URLEscape([]byte(address), true)))
	return true
}

// pageLink renders a link or an image. The address of one that leads nowhere follows its words.
func pageLink(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	address := ""
	switch n := n.(type) {
	case *ast.Link:
		address = string(n.Destination)
	case *ast.Image:
		address = string(n.Destination)
	}
	switch {
	case entering && openLink(w, address):
		n.SetAttributeString("linked", true)
	case entering:
	case hasAttribute(n, "linked"):
		_, _ = w.WriteString("</a>")
	default:
		_, _ = fmt.Fprintf(w, " (%s)", util.EscapeHTML([]byte(address)))
	}
	return ast.WalkContinue, nil
}

func hasAttribute(n ast.Node, name string) bool {
	_, ok := n.AttributeString(name)
	return ok
}

func pageAutoLink(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	link := n.(*ast.AutoLink)
	if !entering {
		return ast.WalkContinue, nil
	}
	address := string(link.URL(source))
	if link.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(address), "mailto:") {
		address = "mailto:" + address
	}
	linked := openLink(w, address)
	_, _ = w.Write(util.EscapeHTML(link.Label(source)))
	if linked {
		_, _ = w.WriteString("</a>")
	}
	return ast.WalkContinue, nil
}

func pageHeading(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	sign := ""
	if !entering {
		sign = "/"
	}
	_, _ = fmt.Fprintf(w, "<%sh%d>", sign, min(n.(*ast.Heading).Level+2, 6))
	return ast.WalkContinue, nil
}

// pageSpoiler renders what is shown on request: the page's style covers it until a reader points
// at it.
func pageSpoiler(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString(`<span class="spoiler" tabindex="0">`)
	} else {
		_, _ = w.WriteString("</span>")
	}
	return ast.WalkContinue, nil
}
