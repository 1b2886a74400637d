package slack

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/trestle-bridge/trestle/adapters/emoji"
	"github.com/trestle-bridge/trestle/adapters/markup"
)

// Slack takes a message in three forms, and each keeps something that the others
// lose. A part begins with the sign of its form; without one it is mrkdwn.
const (
	markdownSign = "\x01markdown\n" // standard Markdown: headings, lists, languages of code
	blocksSign   = "\x01blocks\n"   // rich text: words that mrkdwn would take for its signs
)

// The safe lengths of each form (PLATFORMS 2.4), in letters as Slack counts them.
var (
	mrkdwnLimit   = markup.PartLimit{Units: 3900, Markup: 4000, Size: utf8.RuneCountInString}
	markdownLimit = markup.PartLimit{Units: 8000, Markup: 11500, Size: utf8.RuneCountInString}
	blocksLimit   = markup.PartLimit{Units: 3900, Markup: 40 << 10}
)

// The readers of what agents write. rich keeps all that Markdown has; flat is
// for forms that know neither headings nor lists.
var (
	rich = markup.New(markup.Options{Headings: 6, Lists: true, Tables: true, Reach: reach})
	flat = markup.New(markup.Options{Reach: reach})
)

// Split cuts CommonMark into parts that one message each can hold, in the form
// that keeps most of it: mrkdwn where that keeps everything, standard Markdown
// for what only it has, rich text for the rest.
func (*Client) Split(text string) []string {
	whole := rich.Read(text)
	if structured(whole) {
		return whole.Parts(markdownLimit, func(from, to int) string {
			return markdownSign + writeMarkdown(whole, from, to)
		})
	}
	plain := flat.Read(text)
	if mrkdwnKeeps(plain) {
		return plain.Parts(mrkdwnLimit, func(from, to int) string { return plain.Write(from, to, mrkdwnWriter{}) })
	}
	return plain.Parts(blocksLimit, func(from, to int) string { return blocksSign + writeBlocks(plain, from, to) })
}

// structured reports whether t has what only standard Markdown shows.
func structured(t *markup.StyledText) bool {
	return slices.ContainsFunc(t.Spans, func(s markup.TextSpan) bool {
		return s.Look == markup.Heading || s.Look == markup.Mark || s.Look == markup.Pre && s.Arg != ""
	})
}

// mrkdwnKeeps reports whether t, written as mrkdwn, is read as the same words
// with the same looks. Mrkdwn has no way to write its signs as themselves, and
// knows no looks inside a word.
func mrkdwnKeeps(t *markup.StyledText) bool {
	if len(t.Words) > maxStyled/2 {
		return len(t.Spans) == 0 && !strings.ContainsAny(t.Words, "*_~`")
	}
	written := t.Write(0, len(t.Words), mrkdwnWriter{})
	if strings.Contains(strings.ReplaceAll(written, "```", ""), "``") {
		return false // code beside code
	}
	p := &page{}
	p.mrkdwn(written)
	words, spans := p.finish()
	return markup.SameWords(words, neutral(emoji.In(t.Words))) && slices.Equal(looks(words, spans), looks(neutral(t.Words), t.Spans))
}

// looks lists which words have which look, in an order of its own. Spans of the
// words before they were made neutral still lie over them: what that adds is
// invisible and compared nowhere.
func looks(words string, spans []markup.TextSpan) []string {
	var list []string
	for _, s := range spans {
		if s.Look == markup.Spoiler || s.Look == markup.Address || s.To > len(words) {
			continue
		}
		list = append(list, string(s.Look)+" "+s.Arg+" "+strings.Join(strings.Fields(words[s.From:s.To]), ""))
	}
	slices.Sort(list)
	return list
}

// reach says what becomes of an address: Slack takes any web address and mail.
// Others must not be followed.
func reach(address string) (string, markup.LinkPolicy) {
	scheme, rest, _ := strings.Cut(address, ":")
	switch strings.ToLower(scheme) {
	case "http", "https":
		if strings.ContainsAny(address, " \n\t\x00<>|") || len(address) > 2900 || !strings.HasPrefix(rest, "//") || strings.Contains(hostOf(rest), "@") {
			return "", markup.Hidden
		}
		return address, markup.Linked
	case "mailto", "tel":
		bare, _, _ := strings.Cut(rest, "?")
		return bare, markup.Shown
	}
	return "", markup.Hidden
}

// hostOf returns the part of "//host/path" before the path. A user's name in it
// makes it look like another.
func hostOf(rest string) string {
	host := strings.TrimPrefix(rest, "//")
	if end := strings.IndexAny(host, "/?#"); end >= 0 {
		host = host[:end]
	}
	return host
}

// neutral takes the power to call a whole channel, or anybody by a raw id, from
// words: an invisible joiner breaks what Slack would recognise.
func neutral(words string) string {
	if !strings.ContainsAny(words, "@<") {
		return words
	}
	return calls.Replace(words)
}

const joiner = "\u2060"

// calls are the ways to call people that an agent may not use by itself.
var calls = strings.NewReplacer(
	"@here", "@"+joiner+"here", "@channel", "@"+joiner+"channel", "@everyone", "@"+joiner+"everyone",
	"@Here", "@"+joiner+"Here", "@Channel", "@"+joiner+"Channel", "@Everyone", "@"+joiner+"Everyone",
	"@HERE", "@"+joiner+"HERE", "@CHANNEL", "@"+joiner+"CHANNEL", "@EVERYONE", "@"+joiner+"EVERYONE",
	"<!here", "<"+joiner+"!here", "<!channel", "<"+joiner+"!channel", "<!everyone", "<"+joiner+"!everyone",
	"<!subteam", "<"+joiner+"!subteam", "<!group", "<"+joiner+"!group", "<@", "<"+joiner+"@", "<#", "<"+joiner+"#",
)
