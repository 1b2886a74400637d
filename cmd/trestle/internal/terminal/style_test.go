package terminal

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

var update = flag.Bool("update", false, "write the golden files")

// visible shows the escape character as a sign.
func visible(text string) string { return strings.ReplaceAll(text, "\x1b", "␛") }

func TestAnswerIsRenderedForATerminal(t *testing.T) {
	md, err := os.ReadFile("testdata/answer.md")
	testutil.OK(t, err)
	testutil.Golden(t, *update, "testdata/answer.golden", visible(renderMarkdown(string(md)))+"\n")
}

// A message of one line is shown behind its author, one of several lines below. Without styles
// the Markdown stays as it was written.
func TestHeardLineIsShownAsItIsAskedFor(t *testing.T) {
	plain, named, styled := LineForm{}, LineForm{Names: true}, LineForm{Names: true, Styled: true}
	for _, c := range []struct {
		form             LineForm
		kind, text, want string
	}{
		{plain, "posted", "**one**\n- a", "**one**\n- a"},
		{named, "posted", "**one**\n- a", "Ada: **one**\n- a"},
		{styled, "posted", "**one**", "Ada: ␛[1mone␛[22m"},
		{styled, "posted", "- a\n- b", "Ada:\n• a\n• b"},
		{LineForm{Styled: true}, "posted", "- a\n- b", "• a\n• b"},
		{styled, "edited", "*two*", "Ada (edited): ␛[3mtwo␛[23m"},
		{styled, "reacted", "👍", "Ada 👍"},
		{styled, "reacted", "", ""},
		{styled, "skipped", "2 *lines* were not shown", "[2 *lines* were not shown]"},
		{styled, "typing", "", ""},
		{plain, "said", "hello", ""},
	} {
		got := visible(LineText(control.HeardLine{Kind: c.kind, Who: "Ada", Text: c.text}, c.form))
		testutil.Same(t, c.kind+" "+c.text, c.want, got)
	}
}

// What is heard cannot steer the terminal, by its text or by its author's name.
func TestHeardLineShowsControlsAsEscapes(t *testing.T) {
	for kind, want := range map[string]string{
		"posted": `\x1b[2J: \x07`, "edited": `\x1b[2J (edited): \x07`, "reacted": `\x1b[2J \x07`, "skipped": `[\x07]`, "typing": "",
	} {
		for _, styled := range []bool{false, true} {
			got := LineText(control.HeardLine{Kind: kind, Who: "\x1b[2J", Text: "\a"}, LineForm{Names: true, Styled: styled})
			testutil.Same(t, kind, want, got)
		}
	}
}

// reasonRoom is a room that knows one reason.
type reasonRoom struct {
	JoinedRoom
	reason string
	err    error
}

func (r reasonRoom) Reason(context.Context, string) (string, error) { return r.reason, r.err }

// The reason why a line woke no agent is grey where there are styles, and one line.
func TestReasonIsShownGrey(t *testing.T) {
	for _, c := range []struct {
		room   reasonRoom
		styled bool
		want   string
	}{
		{reasonRoom{reason: "not \aaddressed"}, true, "␛[90mnot \\x07addressed␛[39m\n"},
		{reasonRoom{reason: "not addressed"}, false, "not addressed\n"},
		{reasonRoom{}, true, ""},
		{reasonRoom{reason: "half", err: errors.New("gone")}, true, ""},
	} {
		var screen bytes.Buffer
		printReason(t.Context(), c.room, "1", &screen, c.styled)
		testutil.Same(t, c.room.reason, c.want, visible(screen.String()))
	}
}

// Whatever an agent writes, a terminal gets no other escape sequences than those of the styles,
// each of which ends.
func FuzzRenderMarkdown(f *testing.F) {
	for _, md := range []string{
		"**b** _i_ ~~s~~ `c`", "&#27;[2J", "&#x1B;", "`&#27;`", "```\n&#27;\x1b\n```", "[a](&#27;[2J)", "[a](<\u009b2J>)", "![&#27;](x)", "> &#x9b;\n> - a\n>   ```\n>   b",
		"| a&#27; |\n|--|\n| &#8238; |", "||&#7;||", "\x1b]0;title\a", "a\rb", "[a]: &#27; '&#27;'", "<b \x1b>", "**a\n\n&#27;**", "***a** b*",
	} {
		f.Add(md)
	}
	f.Fuzz(func(t *testing.T, md string) {
		shown := renderMarkdown(md)
		for look, marks := range around {
			if strings.HasPrefix(marks[0], "\x1b") && strings.Count(shown, marks[0]) != strings.Count(shown, marks[1]) {
				t.Errorf("%q: %s does not end in %q", md, look, shown)
			}
			shown = strings.NewReplacer(marks[0], "", marks[1], "").Replace(shown)
		}
		if strings.ContainsFunc(shown, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' || r == '\u202e' }) {
			t.Errorf("%q is shown as %q", md, shown)
		}
	})
}
