package telegram

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/adapters"
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

// Places that no text has are read as its end, whatever is added to them.
func TestEntityFarOutsideIsRead(t *testing.T) {
	for _, at := range []int{math.MaxInt64, math.MaxInt64 - 1, math.MinInt64, -1, 1 << 32} {
		for _, length := range []int{math.MaxInt64, 1, 0, -1, math.MinInt64} {
			for _, kind := range []string{"bold", "url", "text_link", "mention", "bot_command", "text_mention", "blockquote"} {
				raw := fmt.Sprintf(`{"update_id":1,"message":{"message_id":2,"date":3,"chat":{"id":4,"type":"private"},"from":{"id":4},"text":"/hello @maya",`+
					`"entities":[{"type":%q,"offset":%d,"length":%d,"url":"https://a.b","user":{"id":5}}],"quote":{"text":"x","is_manual":true,"entities":[{"type":%q,"offset":%d,"length":%d}]}}}`,
					kind, at, length, kind, at, length)
				_, updates := testReader().decode(json.RawMessage(raw), 1)
				if said, ok := updates[0].Body.(adapters.IncomingMessage); !ok || !strings.Contains(said.Text, "hello") {
					t.Errorf("%s at %d of %d: %+v", kind, at, length, updates[0].Body)
				}
			}
		}
	}
}

// FuzzEntityPlaces: entities of any kind at any place are read.
func FuzzEntityPlaces(f *testing.F) {
	f.Add("hello 😀 @maya", "bold", math.MaxInt64, 1, 3, math.MaxInt64)
	f.Add("/help@ada_bot x", "bot_command", 0, 5, -1, math.MinInt64)
	f.Add("a\nb", "blockquote", 0, 3, 1, 1)
	m := newMarkdown()
	f.Fuzz(func(_ *testing.T, text, kind string, from, length, from2, length2 int) {
		entities := []entity{{Type: kind, Offset: from, Length: length}, {Type: "bold", Offset: from2, Length: length2}, {Type: "mention", Offset: from2, Length: length}}
		_ = m.of(text, entities)
		_ = peopleIn(text, entities, user{Username: "ada_bot"})
		_, _ = commandOf(text, entities)
	})
}
