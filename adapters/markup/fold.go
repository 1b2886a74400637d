package markup

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// hiddenRunes are those that a reader does not see and that a platform may drop.
var hiddenRunes = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034F, Hi: 0x034F, Stride: 1},
		{Lo: 0x115F, Hi: 0x1160, Stride: 1},
		{Lo: 0x17B4, Hi: 0x17B5, Stride: 1},
		{Lo: 0x180B, Hi: 0x180F, Stride: 1},
		{Lo: 0x3164, Hi: 0x3164, Stride: 1},
		{Lo: 0xFE00, Hi: 0xFE0F, Stride: 1},
		{Lo: 0xFFA0, Hi: 0xFFA0, Stride: 1},
	},
	R32: []unicode.Range32{{Lo: 0xE0000, Hi: 0xE0FFF, Stride: 1}},
}

// hidden reports whether a reader sees nothing of r, not even a blank.
func hidden(r rune) bool {
	return r >= 0x80 && unicode.In(r, unicode.Cf, hiddenRunes) || r < ' ' && r != '\n' && r != '\t'
}

// foldedText is a text without hidden characters.
type foldedText struct {
	words string
	at    []int // for each byte of words, and for its end, its offset in the text; nil: the same offset
}

// fold returns words without hidden characters.
func fold(words string) foldedText {
	if strings.IndexFunc(words, hidden) < 0 {
		return foldedText{words: words}
	}
	var b strings.Builder
	at := make([]int, 0, len(words)+1)
	for i := 0; i < len(words); {
		r, size := utf8.DecodeRuneInString(words[i:])
		if !hidden(r) {
			b.WriteString(words[i : i+size])
			for j := range size {
				at = append(at, i+j)
			}
		}
		i += size
	}
	return foldedText{b.String(), append(at, len(words))}
}

// place returns the bytes of the text that bytes from until before to of words are, with
// the hidden characters between them.
func (f foldedText) place(from, to int) (int, int) {
	if f.at == nil {
		return from, to
	}
	return f.at[from], f.at[to-1] + 1
}
