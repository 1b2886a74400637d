package discord

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/trestle-bridge/trestle/adapters/markup"
)

// maxUnits is Discord's limit for one message. Its unit is not documented;
// UTF-16 units are never fewer than letters.
const maxUnits = 2000

// dialect is CommonMark as Discord shows it.
type dialect struct{ *markup.MarkdownReader }

func newDialect() dialect {
	return dialect{markup.New(markup.Options{Headings: 3, Lists: true, Reach: reach})}
}

// reach returns what Discord can do with address: it makes links of http and https only.
func reach(address string) (string, markup.LinkPolicy) {
	scheme, rest, _ := strings.Cut(address, ":")
	switch strings.ToLower(scheme) {
	case "http", "https":
		if !strings.HasPrefix(rest, "//") || strings.ContainsAny(rest, "<>\"") {
			return "", markup.Hidden
		}
		return address, markup.Linked
	case "mailto", "tel":
		bare, _, _ := strings.Cut(rest, "?")
		return bare, markup.Shown
	default:
		return "", markup.Hidden
	}
}

// Split cuts CommonMark into parts of Discord's Markdown that one message each
// can hold. What a cut goes through, such as a code block, is closed before it
// and opened again behind it.
func (c *Client) Split(text string) []string { return c.markup.split(text, maxUnits) }

// split is Split with the limit as a parameter.
func (d dialect) split(md string, limit int) []string {
	t := d.Read(md)
	plain := t.Only(func(markup.TextSpan) bool { return false })
	return t.Parts(markup.PartLimit{Units: limit, Markup: max(limit, 8), Size: units}, func(from, to int) (written string) {
		// Discord's rules see signs where CommonMark sees none, so that looks side by
		// side can spoil each other. What is not read as it was meant is written with
		// fewer.
		for _, form := range []struct {
			text   *markup.StyledText
			unlink bool
		}{{t, false}, {t.Only(sturdy), false}, {t.Only(code), false}, {t.Only(code), true}, {plain, true}} {
			written = form.text.Write(from, to, &writer{text: form.text})
			if form.unlink {
				// What Discord takes for an address swallows the signs behind it.
				written = strings.ReplaceAll(written, "://", ":"+breaker+"//")
			}
			if read, _ := readMarkdown(written, mentionNames{}); sameWords(read, t.Words[from:to]) {
				return written
			}
		}
		if fenced := "```\n" + strings.ReplaceAll(t.Words[from:to], "`", "`"+breaker) + "\n```"; units(fenced) <= limit {
			return fenced // which nothing is read in
		}
		return written
	})
}

// sturdy reports whether a look cannot be mistaken for another.
func sturdy(s markup.TextSpan) bool {
	switch s.Look {
	case markup.Bold, markup.Italic, markup.Strikethrough, markup.Spoiler, markup.Link:
		return false
	case markup.Code, markup.Address, markup.Pre, markup.Quote, markup.Heading, markup.Mark:
		return true
	}
	return false
}

// code reports whether a look keeps Discord from reading words.
func code(s markup.TextSpan) bool { return s.Look == markup.Code || s.Look == markup.Pre }

// sameWords reports whether a reader sees no difference between a and b but white space.
func sameWords(a, b string) bool {
	unseen := strings.NewReplacer(breaker, "")
	return markup.SameWords(unseen.Replace(a), unseen.Replace(b))
}

// units returns how long Discord takes s to be.
func units(s string) int {
	n := 0
	for _, r := range s {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}

// breaker separates characters that together would be markup. It is invisible.
const breaker = "\u200B"

// writer writes Discord's Markdown.
type writer struct{ text *markup.StyledText }

var _ markup.StyleWriter = (*writer)(nil)

// onBothSides are the signs that stand before words as well as after them.
var onBothSides = map[markup.TextStyle]string{
	markup.Bold: "**", markup.Italic: "*", markup.Strikethrough: "~~", markup.Spoiler: "||",
}

// Open returns what comes before the words of s.
func (w *writer) Open(before []byte, s markup.TextSpan) string {
	switch s.Look {
	case markup.Bold, markup.Italic, markup.Strikethrough, markup.Spoiler:
		return onBothSides[s.Look]
	case markup.Code:
		return w.fence(s) + w.pad(s)
	case markup.Link:
		if w.masks(s) {
			return "["
		}
	case markup.Pre:
		return "```" + s.Arg + "\n"
	case markup.Quote:
		return lineStart(before, "> ")
	case markup.Heading:
		return lineStart(before, strings.Repeat("#", level(s))+" ")
	case markup.Mark, markup.Address:
	}
	return ""
}

// Close returns what comes after the words of s.
func (w *writer) Close(_ []byte, s markup.TextSpan) string {
	switch s.Look {
	case markup.Bold, markup.Italic, markup.Strikethrough, markup.Spoiler:
		return onBothSides[s.Look]
	case markup.Code:
		return w.pad(s) + w.fence(s)
	case markup.Link:
		if w.masks(s) {
			return "](<" + s.Arg + ">)" // the brackets keep Discord from showing a preview
		}
	case markup.Pre:
		return "\n```"
	case markup.Quote, markup.Heading, markup.Mark, markup.Address:
	}
	return ""
}

// lineStart returns sign for the beginning of a line, making one if before does not end there.
func lineStart(before []byte, sign string) string {
	if atLineStart(before) {
		return sign
	}
	return "\n" + sign
}

// atLineStart reports whether a line, or a line of a quote, begins after before.
func atLineStart(before []byte) bool {
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	return len(line) == 0 || string(line) == "> "
}

// level returns a heading's level.
func level(s markup.TextSpan) int {
	n, _ := strconv.Atoi(s.Arg) // the reader writes it
	return min(max(n, 1), 3)
}

// masks reports whether Discord shows the words of a link instead of its
// address: not where they look like an address themselves.
func (w *writer) masks(s markup.TextSpan) bool {
	words := w.text.Words[s.From:s.To]
	return maskable.MatchString(words) && !strings.Contains(words, "://")
}

// maskable are words whose brackets Discord can tell from those of the link.
var maskable = regexp.MustCompile(`^(?:\[[^\[\]\n]*\]|[^\[\]\n])+$`)

// fence returns the signs around code in a line. Three of them would begin a block.
func (w *writer) fence(s markup.TextSpan) string {
	if strings.Contains(w.text.Words[s.From:s.To], "`") {
		return "``"
	}
	return "`"
}

// pad returns what keeps a fence apart from a backtick.
func (w *writer) pad(s markup.TextSpan) string {
	words := w.text.Words[s.From:s.To]
	if strings.HasPrefix(words, "`") || strings.HasSuffix(words, "`") {
		return " "
	}
	return ""
}

// Escape returns words so that Discord shows them.
func (w *writer) Escape(before []byte, words string, in []markup.TextSpan) string {
	has := func(l markup.TextStyle) bool {
		return slices.ContainsFunc(in, func(s markup.TextSpan) bool { return s.Look == l })
	}
	switch {
	case has(markup.Pre), has(markup.Code):
		words = apart(words)
	case has(markup.Mark):
	default:
		words = escape(words, atLineStart(before))
	}
	if has(markup.Heading) {
		words = strings.ReplaceAll(words, "\n", " ")
	}
	if has(markup.Quote) {
		words = strings.ReplaceAll(words, "\n", "\n> ")
	}
	return words
}

// apart keeps backticks apart from each other.
func apart(words string) string {
	return strings.ReplaceAll(strings.ReplaceAll(words, "``", "`"+breaker+"`"), "``", "`"+breaker+"`")
}
