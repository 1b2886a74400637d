package telegram

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// verdict is what the platform's own parser (TDLib 1.8.65) said about a text.
type verdict struct {
	HTML     string       `json:"html"`
	Error    string       `json:"error"`
	Text     string       `json:"text"`
	Entities []TextEntity `json:"entities"`
}

func verdicts(tb testing.TB) []verdict {
	tb.Helper()
	b, err := os.ReadFile("testdata/html.jsonl")
	if err != nil {
		tb.Fatal(err)
	}
	var all []verdict
	for line := range bytes.Lines(b) {
		var v verdict
		if err := json.Unmarshal(line, &v); err != nil {
			tb.Fatal(err)
		}
		all = append(all, v)
	}
	if len(all) < 400 {
		tb.Fatalf("%d verdicts, want at least 400", len(all))
	}
	return all
}

// PLATFORMS 1.4, 5: the fixtures are verdicts of Telegram's own parser.
func TestHTMLIsJudgedAsThePlatformJudgesIt(t *testing.T) {
	for _, v := range verdicts(t) {
		text, entities, err := parseHTML(v.HTML)
		got := verdict{HTML: v.HTML, Text: text}
		if err != nil {
			got.Error = err.Error()
		}
		for _, e := range entities {
			got.Entities = append(got.Entities, TextEntity{Type: e.Type, Offset: e.Offset, Length: e.Length, Language: e.Language})
		}
		if d := cmp.Diff(v, got, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%q: (-platform +fake)\n%s", v.HTML, d)
		}
	}
}

func TestLinksLeadWhereThePlatformLeads(t *testing.T) {
	for address, want := range map[string]string{
		"https://example.com":   "https://example.com/",
		"https://e.org/a?b=c":   "https://e.org/a?b=c",
		"example.com/x":         "http://example.com/x",
		"tg://resolve?domain=x": "tg://resolve?domain=x",
		"x":                     "",
		"javascript:alert(1)":   "",
		"mailto:a@example.com":  "http://mailto:a@example.com/",
		"https://EXAMPLE.com":   "https://example.com/",
		"http://localhost:80/x": "",
		"ftp://e.com":           "",
	} {
		if e, ok := (TextEntity{}).link(address); ok != (want != "") || e.URL != want {
			t.Errorf("link(%q) = %v, %q; want %q", address, ok, e.URL, want)
		}
	}
}

func TestEntitiesAreFoundInPlainText(t *testing.T) {
	text := "😀 /start@ada_bot hi @maya, see https://example.com/a. or `x`"
	var got []string
	for _, e := range detect(text, nil) {
		got = append(got, e.Type+" "+cutUTF16(text, e.Offset, e.Length))
	}
	want := []string{"bot_command /start@ada_bot", "mention @maya", "url https://example.com/a"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestNothingIsFoundInsideCode(t *testing.T) {
	text, entities, err := parseHTML("<code>@maya</code> @kai")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range detect(text, entities) {
		got = append(got, e.Type)
	}
	if d := cmp.Diff([]string{"code", "mention"}, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func FuzzParseHTML(f *testing.F) {
	for _, v := range verdicts(f) {
		f.Add(v.HTML)
	}
	f.Fuzz(func(t *testing.T, in string) {
		text, entities, err := parseHTML(in)
		if err != nil {
			return
		}
		if utf8.ValidString(in) && !utf8.ValidString(text) {
			t.Errorf("valid %q became invalid %q", in, text)
		}
		text, entities = trim(text, entities)
		size := lenUTF16(text)
		for _, e := range detect(text, entities) {
			if e.Offset < 0 || e.Length <= 0 || e.Offset+e.Length > size {
				t.Errorf("%q: entity %+v outside of %d units", in, e, size)
			}
		}
	})
}
