package slack

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"pgregory.net/rapid"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/emoji"
	"github.com/trestle-bridge/trestle/adapters/markup"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// What each construct of Markdown is sent as: the form that keeps most of it.
func TestEveryConstructIsSentInTheFormThatKeepsIt(t *testing.T) {
	source, err := os.ReadFile(filepath.Join("testdata", "forms.md"))
	testutil.OK(t, err)
	c := new(Client)
	var out strings.Builder
	for i, md := range strings.Split(strings.TrimSpace(string(source)), "\n====\n") {
		fmt.Fprintf(&out, "== %d: %s\n", i+1, strings.ReplaceAll(md, "\n", "⏎"))
		for _, part := range c.Split(md) {
			form, text := formNamed(part)
			fmt.Fprintf(&out, "%s: %s\n", form, text)
		}
	}
	golden := filepath.Join("testdata", "forms.golden")
	testutil.Golden(t, *update, golden, out.String())
}

func formNamed(part string) (form, text string) {
	if md, ok := strings.CutPrefix(part, markdownSign); ok {
		return "markdown", md
	}
	if blocks, ok := strings.CutPrefix(part, blocksSign); ok {
		return "blocks", blocks
	}
	return "mrkdwn", part
}

// back reads a part as a message that came in.
func back(r reader, part string) string {
	form, text := formNamed(part)
	m := &message{}
	switch form {
	case "markdown":
		quoted, _ := json.Marshal(text) // a string always marshals
		m.Blocks = json.RawMessage(`[{"type":"markdown","text":` + string(quoted) + `}]`)
	case "blocks":
		m.Blocks = json.RawMessage(text)
	default:
		m.Text = text
	}
	return r.words(context.Background(), m).text //nolint:forbidigo // no call is made
}

// itemMark is what an item of a list begins with, which the forms write differently.
var itemMark = regexp.MustCompile(`(?m)^([\s>]*)[•-] `)

// wordsOnly returns what a reader sees, without white space and what makes words neutral.
func wordsOnly(md string) string {
	seen := strings.ReplaceAll(emoji.In(rich.Read(md).Words), joiner, "")
	return strings.Join(strings.Fields(itemMark.ReplaceAllString(seen, "$1")), "")
}

// roundTrip returns the words of md, and those that its parts read back as.
func roundTrip(r reader, md string) (want, got string) {
	var all strings.Builder
	for _, part := range new(Client).Split(md) {
		all.WriteString(wordsOnly(back(r, part)))
	}
	return wordsOnly(md), all.String()
}

func TestWhatIsSentReadsBackAsTheSameWords(t *testing.T) {
	words := rapid.SampledFrom([]string{
		"one", "two", "*", "_", "~", "`", "**bold**", "*it*", "~~no~~", "`code`", "[link](https://example.com/a?b=1&c=2)", "a*b*c", "x_y_z",
		"<b>", "&amp;", "&", "<!here>", "@channel", "\n", "\n\n", "\n\n# Title\n\n", "\n- item", "\n1. first", "\n> quoted\n\n", "\n```\nx < y\n```\n",
		"\n```go\nf()\n```\n", "https://example.com", "||hidden||", "🎉", "\n\n| a | b* |\n|---|---|\n| 1 \\| 2 | `c` |\n\n", ":tada:", "日本", "(", ")", "\\*", "|", "---",
	})
	nobody := alone(t)
	rapid.Check(t, func(r *rapid.T) {
		md := strings.Join(rapid.SliceOfN(words, 1, 12).Draw(r, "words"), rapid.SampledFrom([]string{"", " "}).Draw(r, "between"))
		if want, got := roundTrip(nobody, md); got != want {
			r.Errorf("%q reads back as %q, want %q", md, got, want)
		}
	})
}

func FuzzSplit(f *testing.F) {
	for _, seed := range []string{"hello, **world**", "# T\n\n- a\n  - b", "```go\nx\n```", "a*b*c", "> q\n\n<!here>", "| a | b |\n|---|---|\n| 1 | 2 |"} {
		f.Add(seed)
	}
	c, r := new(Client), alone(f)
	f.Fuzz(func(t *testing.T, md string) {
		for _, part := range c.Split(md) {
			form, text := formNamed(part)
			switch {
			case form == "blocks" && !json.Valid([]byte(text)):
				t.Errorf("%q makes blocks that are no JSON: %s", md, text)
			case markup.Blank(text):
				t.Errorf("%q makes a part that shows nothing", md)
			}
			for _, loud := range []string{"<!here", "<!channel", "<!everyone", "<!subteam", "<@"} {
				if form != "blocks" && strings.Contains(text, loud) {
					t.Errorf("%q makes a part that calls %s: %q", md, loud, text)
				}
			}
			_ = back(r, part) // reads whatever we write
		}
	})
}

// Whatever comes in is read, and shows no more and no less than its words.
func FuzzMrkdwn(f *testing.F) {
	for _, seed := range []string{"*b* _i_ ~s~ `c`", "<https://a.b|x> <@U1> <#C1|ops> <!here>", "&gt; q\nx", "```\ncode\n```", "a*b*c <", ":tada: :no_such: &lt;"} {
		f.Add(seed)
	}
	r := alone(f)
	f.Fuzz(func(t *testing.T, text string) {
		shown := r.words(t.Context(), &message{Text: text})
		if got, want := rich.Read(shown.text).Words, markup.Legible(shown.plain); !markup.SameWords(got, want) && len(text) < maxStyled {
			t.Errorf("%q is read as %q, which shows %q, not %q", text, shown.text, got, want)
		}
	})
}

func FuzzBlocks(f *testing.F) {
	f.Add(`[{"type":"rich_text","elements":[{"type":"rich_text_list","style":"ordered","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"a","style":{"bold":true}}]}]}]}]`)
	f.Add(`[{"type":"section","text":{"type":"mrkdwn","text":"*x*"},"fields":[{"type":"plain_text","text":"y"}]}]`)
	f.Add(`[{"type":"table","rows":[[{"type":"raw_text","text":"a"}]]}]`)
	r := alone(f)
	f.Fuzz(func(t *testing.T, blocks string) {
		_ = r.words(t.Context(), &message{Blocks: json.RawMessage(blocks), Attachments: json.RawMessage(blocks), Text: "fallback"}) // never panics
	})
}

// Frames and bodies from outside are taken, whatever they hold.
func FuzzFrame(f *testing.F) {
	f.Add([]byte(`{"envelope_id":"e1","type":"events_api","payload":{"type":"event_callback","event_id":"Ev1","event":{"type":"message","channel":"C1","ts":"1.2","text":"x"}}}`))
	f.Add([]byte(`{"envelope_id":"e1","type":"slash_commands","payload":{"command":"/trestle","channel_id":"C1","trigger_id":"t"}}`))
	f.Add([]byte(`{"type":"disconnect","reason":"warning"}`))
	f.Add([]byte(`{"envelope_id":"e1","type":`))
	r := alone(f)
	f.Fuzz(func(t *testing.T, frame []byte) {
		d, _ := deliveryOf(frame)
		if d == nil {
			return
		}
		for _, u := range r.read(t.Context(), d) {
			if u.Key == "" || u.Body == nil {
				t.Errorf("%q gives %+v without a key or a body", frame, u)
			}
			if bad, ok := u.Body.(adapters.UnreadableUpdate); ok && bad.Panicked {
				t.Errorf("%q panics", frame)
			}
		}
	})
}

// Slack reads standard Markdown by the letter of CommonMark, where emphasis beside the
// punctuation of languages without spaces is none.
func TestEmphasisBesideWidePunctuationIsReadByTheLetter(t *testing.T) {
	strict := goldmark.New(goldmark.WithExtensions(extension.Strikethrough))
	for md, want := range map[string]string{
		"- 边界：**社区显示：**第一。含**「重点」**内容。":        "<li>边界：<strong>社区显示：</strong>第一。含<strong>「重点」</strong>内容。</li>",
		"# 标题\n\n价格~~一百，~~现在*（旧价）*五十":          "<p>价格<del>一百，</del>现在<em>（旧价）</em>五十</p>",
		"- ***「都」***是**[文档](https://a.b/c)**和": `<li><em><strong>「都」</strong></em>是<strong><a href="https://a.b/c">文档</a></strong>和</li>`,
		"- 他说**“你好”**就走":                       "<li>他说<strong>“你好”</strong>就走</li>",
	} {
		form, text := formNamed(new(Client).Split(md)[0])
		var html strings.Builder
		testutil.OK(t, strict.Convert([]byte(text), &html))
		if got := strings.ReplaceAll(html.String(), joiner, ""); form != "markdown" || !strings.Contains(got, want) {
			t.Errorf("%q is sent as %s %q, which shows %q, want %q", md, form, text, got, want)
		}
	}
}

// Notices that Slack writes are no words of the person they name.
func TestNoticesOfSlackAreNoWords(t *testing.T) {
	for subtype, speech := range map[string]bool{
		"": true, "me_message": true, "bot_message": true, "thread_broadcast": true, "file_share": true,
		"brand_new": false, "channel_canvas_updated": false, "list_record_comment": false,
	} {
		updates, err := alone(t).happened(t.Context(), &message{Channel: "C1", ChannelType: "channel", TS: "1.2", User: "U1", Text: "words", Subtype: subtype})
		if err != nil || len(updates) != 1 {
			t.Errorf("%s: %v, %v", subtype, updates, err)
			continue
		}
		if _, said := updates[0].Body.(adapters.IncomingMessage); said != speech {
			t.Errorf("%q became %+v", subtype, updates[0].Body)
		}
	}
}
