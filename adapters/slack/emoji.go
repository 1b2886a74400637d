package slack

import (
	_ "embed" // for the table of names
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// emojiTable is Slack's own list of names: a line an emoji, its code points in
// hexadecimal, then its names, the first being the one Slack answers with. From
// emoji-datasource 16.0.0 (MIT, see the file's end).
//
//go:embed emoji.txt
var emojiTable string

// emojiNames reads the table once: emoji by name, and the first name by emoji
// without what only changes its looks.
var emojiNames = sync.OnceValue(func() (t struct{ named, names map[string]string }) {
	t.named, t.names = map[string]string{}, map[string]string{}
	for line := range strings.Lines(emojiTable) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] == "#" {
			continue
		}
		var b strings.Builder
		for point := range strings.SplitSeq(words[0], "-") {
			n, err := strconv.ParseInt(point, 16, 32)
			if err != nil {
				panic("slack: the emoji table holds " + words[0])
			}
			b.WriteRune(rune(n))
		}
		for _, name := range words[1:] {
			t.named[name] = b.String()
		}
		t.names[bareEmoji(b.String())] = words[1]
	}
	return t
})

// skinTones are the suffixes of a name by the tone.
var skinTones = []string{"\U0001F3FB", "\U0001F3FC", "\U0001F3FD", "\U0001F3FE", "\U0001F3FF"}

// emojiNamed returns the emoji with that name; one of the workspace's own stays a
// name in colons.
func emojiNamed(name string) string {
	base, tone, toned := strings.Cut(name, "::skin-tone-")
	emoji, ok := emojiNames().named[base]
	if !ok {
		return ":" + name + ":"
	}
	if n, err := strconv.Atoi(tone); toned && err == nil && n >= 2 && n <= 6 {
		return bareEmoji(emoji) + skinTones[n-2]
	}
	return emoji
}

// nameOfEmoji returns Slack's name for an emoji, or the name that stands in colons.
func nameOfEmoji(emoji string) (string, bool) {
	if name, ok := strings.CutPrefix(emoji, ":"); ok {
		if name, ok = strings.CutSuffix(name, ":"); ok && name != "" {
			return name, true
		}
	}
	name, ok := emojiNames().names[bareEmoji(emoji)]
	return name, ok
}

// bareEmoji returns emoji without presentation selectors and skin tones.
func bareEmoji(emoji string) string {
	return strings.Map(func(r rune) rune {
		if r == '\uFE0F' || (r >= '\U0001F3FB' && r <= '\U0001F3FF') {
			return -1
		}
		return r
	}, emoji)
}

// emojiName is a name in colons within words.
var emojiName = regexp.MustCompile(`:[a-z0-9_+\-]+(?:::skin-tone-[2-6])?:`)

// emojiIn returns words with the emoji that Slack names in them. A name Slack's
// list does not have is left as it is.
func emojiIn(words string) string {
	if strings.Count(words, ":") < 2 {
		return words
	}
	return emojiName.ReplaceAllStringFunc(words, func(name string) string { return emojiNamed(name[1 : len(name)-1]) })
}
