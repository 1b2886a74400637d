package telegram

import (
	"cmp"
	"slices"
	"unicode/utf16"

	"github.com/trestle-bridge/trestle/adapters/markup"
)

// of returns text with its entities as CommonMark; see [markup.Reader.CommonMark].
func (m markdown) of(text string, entities []entity) string {
	entities = entities[:min(len(entities), maxEntities)]
	text = markup.Legible(text)
	return m.CommonMark(text, spansOf(text, entities))
}

// maxEntities bounds the entities of one text that are looked at; Telegram sends a
// hundred at most (core.telegram.org/api/entities).
const maxEntities = 1000

// maxAddress bounds the bytes of an address that is kept from being read as markup.
const maxAddress = 4096

// looks are Telegram's names of what CommonMark can show.
var looks = map[string]markup.TextStyle{
	"bold": markup.Bold, "italic": markup.Italic, "strikethrough": markup.Strikethrough, "spoiler": markup.Spoiler,
	"code": markup.Code, "pre": markup.Pre, "text_link": markup.Link, "url": markup.Address,
	"blockquote": markup.Quote, "expandable_blockquote": markup.Quote,
}

// spansOf returns the entities that CommonMark can show.
func spansOf(text string, entities []entity) []markup.TextSpan {
	var spans []markup.TextSpan
	at := unitOffsets(text, entities)
	for i, e := range entities {
		look, known := looks[e.Type]
		s := markup.TextSpan{From: at[2*i], To: at[2*i+1], Look: look}
		if !known || look == markup.Address && (s.To-s.From > maxAddress || markup.Escape(text[s.From:s.To]) == text[s.From:s.To]) {
			continue
		}
		if look == markup.Pre {
			s.Arg = e.Language
		}
		if look == markup.Link {
			s.Arg = e.URL
		}
		spans = append(spans, s)
	}
	return spans
}

// unitOffsets returns where each entity begins and ends, in bytes. Offsets beyond
// the text or inside a letter go to the next place that exists.
func unitOffsets(text string, entities []entity) []int {
	type want struct{ units, index int }
	wants := make([]want, 0, 2*len(entities))
	for i, e := range entities {
		from := min(max(e.Offset, 0), len(text)) // units are no more than bytes
		to := from + max(min(e.Length, len(text)), 0)
		wants = append(wants, want{from, 2 * i}, want{to, 2*i + 1})
	}
	slices.SortStableFunc(wants, func(a, b want) int { return cmp.Compare(a.units, b.units) })
	out := make([]int, len(wants))
	units := 0
	for i, r := range text {
		for len(wants) > 0 && wants[0].units <= units {
			out[wants[0].index] = i
			wants = wants[1:]
		}
		units += max(utf16.RuneLen(r), 1)
	}
	for _, w := range wants {
		out[w.index] = len(text)
	}
	return out
}
