package telegram

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"html"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

var update = flag.Bool("update", false, "rewrite the expected files")

const verdictsFile = "testdata/parser/verdicts.json"

// verdicts is what Telegram's own parser said: of what we render, and of a few
// texts it refuses. testdata/parser/README.md tells how the file is made.
type verdicts struct {
	Rendered []struct {
		Markdown string    `json:"markdown"`
		Parts    []verdict `json:"parts"`
	} `json:"rendered"`
	Others []verdict `json:"others"`
}

type verdict struct {
	HTML     string    `json:"html"`
	Text     string    `json:"text"`
	Entities []seenTag `json:"entities"`
	Error    string    `json:"error,omitempty"`
}

// seenTag is an entity as the parser returns it.
type seenTag struct {
	Type   string `json:"type"`
	Offset int    `json:"offset"`
	Length int    `json:"length"`
	Arg    string `json:"arg,omitempty"`
}

func loadVerdicts(t *testing.T) verdicts {
	t.Helper()
	raw, err := os.ReadFile(verdictsFile)
	testutil.OK(t, err)
	var v verdicts
	testutil.OK(t, json.Unmarshal(raw, &v))
	return v
}

// SEQ-97: what we render is what Telegram's own parser accepted.
func TestTelegramsParserAcceptsWhatWeRender(t *testing.T) {
	v := loadVerdicts(t)
	m := newMarkdown()
	if *update {
		for i, r := range v.Rendered {
			v.Rendered[i].Parts = nil
			for _, part := range m.split(r.Markdown, maxUnits) {
				v.Rendered[i].Parts = append(v.Rendered[i].Parts, verdict{HTML: part})
			}
		}
		raw, err := json.MarshalIndent(v, "", " ")
		testutil.OK(t, err)
		testutil.OK(t, os.WriteFile(verdictsFile, append(raw, '\n'), 0o600))
		t.Log("rewritten without verdicts; run testdata/parser/verdicts.mjs now")
		return
	}
	if len(v.Rendered) < 200 {
		t.Errorf("only %d inputs", len(v.Rendered))
	}
	for _, r := range v.Rendered {
		var want []string
		for _, p := range r.Parts {
			want = append(want, p.HTML)
			if p.Error != "" {
				t.Errorf("%q\n is refused: %s", p.HTML, p.Error)
			}
		}
		if diff := gocmp.Diff(want, m.split(r.Markdown, maxUnits)); diff != "" {
			t.Errorf("%q renders to what no verdict is known of (-known +got):\n%s", r.Markdown, diff)
		}
	}
}

// Our own checker, which the property tests rely on, agrees with Telegram's parser.
func TestCheckerAgreesWithTelegramsParser(t *testing.T) {
	v := loadVerdicts(t)
	all := slices.Clone(v.Others)
	for _, r := range v.Rendered {
		all = append(all, r.Parts...)
	}
	refused := 0
	for _, want := range all {
		text, tags, err := checkHTML(want.HTML)
		if (err != nil) != (want.Error != "") {
			t.Errorf("%q: we say %v, the parser %q", want.HTML, err, want.Error)
		}
		if want.Error != "" {
			refused++
			continue
		}
		if diff := gocmp.Diff(want.Text, text); diff != "" {
			t.Errorf("%q (-parser +ours):\n%s", want.HTML, diff)
		}
		if diff := gocmp.Diff(sorted(want.Entities), sorted(tags)); diff != "" {
			t.Errorf("%q (-parser +ours):\n%s", want.HTML, diff)
		}
	}
	if refused < 5 {
		t.Errorf("only %d refused inputs among the verdicts", refused)
	}
}

// canonical returns an address as Telegram keeps it.
func canonical(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme == "tg" {
		return address
	}
	rest := address[strings.Index(address, "://")+3:][len(u.Host):]
	if !strings.HasPrefix(rest, "/") {
		rest = "/" + rest
	}
	return strings.ToLower(u.Scheme+"://"+u.Host) + rest
}

func sorted(tags []seenTag) []seenTag {
	return slices.SortedFunc(slices.Values(tags), func(a, b seenTag) int {
		return cmp.Or(a.Offset-b.Offset, b.Length-a.Length, cmp.Compare(a.Type, b.Type))
	})
}

// What checkHTML takes: the tags that we use, as Telegram's parser takes them.
var (
	tagForm    = regexp.MustCompile(`^<(/?)([a-z-]+)(?: (href|class)="([^"<>]*)")?>`)
	tagTypes   = map[string]string{"b": "Bold", "i": "Italic", "s": "Strikethrough", "tg-spoiler": "Spoiler", "a": "TextUrl", "code": "Code", "pre": "Pre", "blockquote": "BlockQuote"}
	references = regexp.MustCompile(`&(?:lt|gt|amp|quot);`)
)

// checkHTML reads s as Telegram's parser does and returns what a reader sees and
// the entities, or why it is refused.
func checkHTML(s string) (string, []seenTag, error) {
	type opened struct {
		name, arg string
		at        int
	}
	var text strings.Builder
	var tags []seenTag
	var stack []opened
	units := 0
	for s != "" {
		words, _, _ := strings.Cut(s, "<")
		s = s[len(words):]
		words = references.ReplaceAllStringFunc(words, html.UnescapeString)
		text.WriteString(words)
		units += len(utf16.Encode([]rune(words)))
		if s == "" {
			break
		}
		form := tagForm.FindStringSubmatch(s)
		if form == nil || tagTypes[form[2]] == "" {
			return "", nil, fmt.Errorf("no tag of telegram's: %.20q", s)
		}
		s = s[len(form[0]):]
		if form[1] == "" {
			stack = append(stack, opened{form[2], html.UnescapeString(form[4]), units})
			continue
		}
		if len(stack) == 0 || stack[len(stack)-1].name != form[2] {
			return "", nil, fmt.Errorf("unexpected end tag %s", form[0])
		}
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		inPre := len(stack) > 0 && stack[len(stack)-1].name == "pre" && stack[len(stack)-1].at == top.at
		if language, ok := strings.CutPrefix(top.arg, "language-"); top.name == "code" && inPre && ok {
			stack[len(stack)-1].arg = language
			continue
		}
		tag := seenTag{Type: tagTypes[top.name], Offset: top.at, Length: units - top.at, Arg: canonical(top.arg)}
		if top.name == "pre" && top.arg != "" {
			tag.Type = "PreCode"
		}
		if tag.Length > 0 {
			tags = append(tags, tag)
		}
	}
	if len(stack) > 0 {
		return "", nil, errors.New("no end tag for " + stack[len(stack)-1].name)
	}
	return text.String(), tags, nil
}
