// Package emoji knows emoji by the names that people type in colons.
//
// It promises that a name it gives back is read as the same emoji, and that what
// it does not know stays as it is: a server's own emoji keep their names. It knows
// no platform; the names are Slack's, which most others share.
package emoji

import (
	_ "embed" // for the table of names
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// table is Slack's own list of names: a line an emoji, its code points in
// hexadecimal, then its names, the first being the one Slack answers with. From
// emoji-datasource 16.0.0 (MIT, see the file's end).
//
//go:embed names.txt
var table string

// names reads the table once: emoji by name, and the first name by emoji
// without what only changes its looks.
var names = sync.OnceValue(func() (t struct{ named, names map[string]string }) {
	t.named, t.names = map[string]string{}, map[string]string{}
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] == "#" {
			continue
		}
		var b strings.Builder
		for point := range strings.SplitSeq(words[0], "-") {
			n, err := strconv.ParseInt(point, 16, 32)
			if err != nil {
				panic("emojis: the table holds " + words[0])
			}
			b.WriteRune(rune(n))
		}
		for _, name := range words[1:] {
			t.named[name] = b.String()
		}
		t.names[StripModifiers(b.String())] = words[1]
	}
	return t
})

// skinTones are the suffixes of a name by the tone.
var skinTones = []string{"\U0001F3FB", "\U0001F3FC", "\U0001F3FD", "\U0001F3FE", "\U0001F3FF"}

// Named returns the emoji with that name, which may end in a skin tone as Slack
// writes it; a name that is not in the list stays one, in colons.
func Named(name string) string {
	base, tone, toned := strings.Cut(name, "::skin-tone-")
	emoji, ok := names().named[base]
	if !ok {
		return ":" + name + ":"
	}
	if n, err := strconv.Atoi(tone); toned && err == nil && n >= 2 && n <= 6 {
		return inTone(emoji, skinTones[n-2])
	}
	return emoji
}

// inTone returns emoji with a skin tone, which comes after the person: what they do or
// are may follow (unicode.org/reports/tr51, emoji modifier sequences).
func inTone(emoji, tone string) string {
	_, size := utf8.DecodeRuneInString(emoji)
	return emoji[:size] + tone + strings.TrimPrefix(emoji[size:], "\uFE0F")
}

// ToUnicode returns the emoji that a name in colons means; anything else, a server's
// own emoji among it, is returned as it is.
func ToUnicode(emoji string) string {
	if name, ok := inColons(emoji); ok {
		return Named(name)
	}
	return emoji
}

func inColons(emoji string) (string, bool) {
	if len(emoji) < 3 || emoji[0] != ':' || emoji[len(emoji)-1] != ':' {
		return "", false
	}
	return emoji[1 : len(emoji)-1], true
}

// Name returns the first name of an emoji, or the name that is in colons.
func Name(emoji string) (string, bool) {
	if name, ok := inColons(emoji); ok {
		return name, true
	}
	name, ok := names().names[StripModifiers(emoji)]
	return name, ok
}

// StripModifiers returns emoji without presentation selectors and skin tones.
func StripModifiers(emoji string) string {
	return strings.Map(func(r rune) rune {
		if r == '\uFE0F' || (r >= '\U0001F3FB' && r <= '\U0001F3FF') {
			return -1
		}
		return r
	}, emoji)
}

// within is a name in colons within words.
var within = regexp.MustCompile(`:[a-z0-9_+\-]+(?:::skin-tone-[2-6])?:`)

// In returns words with the emoji that are named in them. A name that is not in the
// list is left as it is.
func In(words string) string {
	if strings.Count(words, ":") < 2 {
		return words
	}
	return within.ReplaceAllStringFunc(words, func(name string) string { return Named(name[1 : len(name)-1]) })
}
