package browsertest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

// elements are those of HTML, SVG and MathML that a parser takes as they come,
// wherever they stand in the body of a page.
var elements = strings.Fields(`a abbr acronym address applet area article aside audio b base bdi bdo bgsound big blink blockquote br button canvas
center cite code command content custom-element data datalist dd del details dfn dialog dir div dl dt element em embed fieldset figcaption
figure font footer form h1 h2 h3 h4 h5 h6 header hgroup hr i iframe image img input ins isindex kbd keygen label legend li link listing main
map mark marquee math menu menuitem meta meter mi mn mo ms mtext multicol nav nextid nobr noembed noframes noscript object ol optgroup option
output p param picture pre progress q rb rp rt rtc ruby s samp script section select shadow slot small source spacer span strike strong style
sub summary sup svg textarea time title track tt u ul var video wbr xmp xss`)

// handlers are attributes that are scripts.
var handlers = strings.Fields(`onabort onafterprint onanimationend onanimationiteration onanimationstart onauxclick onbeforecopy onbeforeinput
onbeforetoggle onbegin onblur oncanplay onchange onclick oncontextmenu oncopy oncuechange ondblclick ondrag ondrop ondurationchange onend
onended onerror onfocus onfocusin onformdata onhashchange oninput oninvalid onkeydown onkeyup onload onloadeddata onloadstart onmessage
onmousedown onmouseover onpageshow onpaste onpointerdown onpopstate onrepeat onresize onscroll onscrollend onsearch`)

// crossed returns every element with every handler: the table that lists of
// vectors are mostly made of.
func crossed() []string {
	var all []string
	for _, e := range elements {
		for _, h := range handlers {
			all = append(all, "<"+e+" "+h+"=marked() autofocus tabindex=1 src=x href=x open>x</"+e+">")
		}
	}
	return all
}

// commonMark returns the examples of CommonMark's specification, as the module
// that reads it for us brings them.
func commonMark(t *testing.T) []string {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/yuin/goldmark").Output()
	testutil.OK(t, err)
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "_test", "spec.json"))
	testutil.OK(t, err)
	var examples []struct{ Markdown string }
	testutil.OK(t, json.Unmarshal(text, &examples))
	all := make([]string, len(examples))
	for i, e := range examples {
		all[i] = e.Markdown
	}
	return all
}
