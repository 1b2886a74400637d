package telegram

import (
	"testing"

	"github.com/trestle-bridge/trestle/adapters/markup"
)

// FuzzEntities: whatever the entities say, the CommonMark we make of a text shows the
// words of that text (SEQ-06).
func FuzzEntities(f *testing.F) {
	for _, seed := range []string{
		"", "a *b* _c_ [x](y) `z`", "# no heading\n- no list\n1. no list\n> no quote", "    indented\n\tcode", "===\n---\n| a | b |\n|---|---|",
		"&amp; &lt; <b> https://a.b/_c_ ||no|| ~~no~~", "snake_case_word 2 * 3 * 4 \\* \\", "😀 family 👨‍👩‍👧 été\u0301",
	} {
		f.Add(seed, uint64(0x0102030405060708), uint8(1))
	}
	kinds := []string{"bold", "italic", "strikethrough", "spoiler", "code", "pre", "text_link", "url", "blockquote"}
	m := newMarkdown()
	f.Fuzz(func(t *testing.T, text string, places uint64, n uint8) {
		var entities []entity
		for i := range int(n % 5) {
			bits := int(places >> (i * 12))
			entities = append(entities, entity{Type: kinds[(bits>>8)%len(kinds)], Offset: bits & 15, Length: bits >> 4 & 15, URL: "https://example.org/a_b"})
		}
		md := m.of(text, entities)
		if got := m.Read(md).Words; !markup.SameWords(got, markup.Legible(text)) {
			t.Errorf("%q with %+v\n became %q\n which shows %q", text, entities, md, got)
		}
	})
}
