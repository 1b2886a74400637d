package markup

import (
	"strings"
	"testing"

	xhtml "golang.org/x/net/html"
)

func TestPagesShowCommonMark(t *testing.T) {
	for md, want := range map[string]string{
		"**now** and ~~then~~":                 "<p><strong>now</strong> and <del>then</del></p>\n",
		"one\ntwo":                             "<p>one<br>\ntwo</p>\n",
		"# Plan\n\n- a\n- b":                   "<h3>Plan</h3><ul>\n<li>a</li>\n<li>b</li>\n</ul>\n",
		"see https://go.dev/x?a=1&b=2.":        `<p>see <a href="https://go.dev/x?a=1&amp;b=2" rel="noopener noreferrer nofollow" target="_blank">https://go.dev/x?a=1&amp;b=2</a>.</p>` + "\n",
		"![a cat](https://x.test/cat.png)":     `<p><a href="https://x.test/cat.png" rel="noopener noreferrer nofollow" target="_blank">a cat</a></p>` + "\n",
		"[go](javascript:alert(1))":            "<p>go (javascript:alert(1))</p>\n",
		"[here](/runs/1/cancel)":               "<p>here (/runs/1/cancel)</p>\n",
		"a <b onclick=x>word</b>":              "<p>a &lt;b onclick=x&gt;word&lt;/b&gt;</p>\n",
		"<script>\nalert(1)\n</script>":        "<p>&lt;script&gt;<br>\nalert(1)<br>\n&lt;/script&gt;</p>\n",
		"||hidden||":                           `<p><span class="spoiler" tabindex="0">hidden</span></p>` + "\n",
		"| a | b |\n|:--|--:|\n| 1 | 2 |":      "<table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n<td>2</td>\n</tr>\n</tbody>\n</table>\n",
		"```go\nif a < b {}\n```":              "<pre><code class=\"language-go\">if a &lt; b {}\n</code></pre>\n",
		"mail kai@x.test or <DATA:text/html,>": "<p>mail <a href=\"mailto:kai@x.test\" rel=\"noopener noreferrer nofollow\" target=\"_blank\">kai@x.test</a> or DATA:text/html,</p>\n",
	} {
		if got := HTML(md); got != want {
			t.Errorf("%q becomes\n%swant\n%s", md, got, want)
		}
	}
}

// Whatever is written, a page gets only these elements and attributes, and links only where
// a reader may be led.
func FuzzPagesAreHarmless(f *testing.F) {
	for _, md := range []string{
		"[a](javascript:x)", "![a](data:text/html,<script>)", "<img src=x onerror=y>", "<a href=\"x\" b='c'>", "[a]: <javascript:x> 'b'\n\n[a]", "# a {#b onclick=c}",
		"<https://x.test/\"onclick=y>", "| a |\n|-|\n| <script> |", "||a|| ~b~ **c**", "```\"onclick=x\n```", "<!-- a", "&lt;script&gt; &#60;script&#62;", "[x](HTTPS://y 'z\"')",
	} {
		f.Add(md)
	}
	elements := map[string]string{
		"p": "", "br": "", "strong": "", "em": "", "del": "", "code": "class", "pre": "", "ul": "", "ol": "start", "li": "", "blockquote": "", "hr": "",
		"h3": "", "h4": "", "h5": "", "h6": "", "table": "", "thead": "", "tbody": "", "tr": "", "th": "", "td": "", "span": "class tabindex", "a": "href rel target",
	}
	f.Fuzz(func(t *testing.T, md string) {
		tokens := xhtml.NewTokenizer(strings.NewReader(HTML(md)))
		for tokens.Next() != xhtml.ErrorToken {
			tok := tokens.Token()
			if tok.Type == xhtml.TextToken || tok.Type == xhtml.EndTagToken {
				continue
			}
			allowed, known := elements[tok.Data]
			if !known || tok.Type != xhtml.StartTagToken {
				t.Fatalf("%q has the element %s", md, tok)
			}
			for _, a := range tok.Attr {
				if !strings.Contains(" "+allowed+" ", " "+a.Key+" ") {
					t.Fatalf("%q has the attribute %s", md, tok)
				}
				scheme, _, _ := strings.Cut(strings.ToLower(a.Val), ":")
				if a.Key == "href" && scheme != "http" && scheme != "https" && scheme != "mailto" {
					t.Fatalf("%q leads to %s", md, a.Val)
				}
			}
		}
	})
}
