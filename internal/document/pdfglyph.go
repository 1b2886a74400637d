package document

import (
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// standardLetters are the codes of StandardEncoding beyond ASCII that text uses (ISO
// 32000-2, annex D.2).
var standardLetters = map[int]string{
	0xa1: "¡", 0xa2: "¢", 0xa3: "£", 0xa4: "⁄", 0xa5: "¥", 0xa6: "ƒ", 0xa7: "§", 0xa8: "¤", 0xa9: "'", 0xaa: "“", 0xab: "«",
	0xac: "‹", 0xad: "›", 0xae: "fi", 0xaf: "fl", 0xb1: "–", 0xb2: "†", 0xb3: "‡", 0xb4: "·", 0xb6: "¶", 0xb7: "•", 0xb8: "‚",
	0xb9: "„", 0xba: "”", 0xbb: "»", 0xbc: "…", 0xbd: "‰", 0xbf: "¿", 0xd0: "—", 0xe1: "Æ", 0xe3: "ª", 0xe8: "Ł", 0xe9: "Ø",
	0xea: "Œ", 0xeb: "º", 0xf1: "æ", 0xf5: "ı", 0xf8: "ł", 0xf9: "ø", 0xfa: "œ", 0xfb: "ß",
}

// glyphNames lists names of the Adobe Glyph List with what they show. Letters with
// accents are composed by accentNames.
const glyphNames = `space \u0020|nbspace \u0020|nonbreakingspace \u0020|exclam !|quotedbl "|numbersign #|dollar $|percent %|ampersand &|quotesingle '
parenleft (|parenright )|asterisk *|plus +|comma ,|hyphen -|minus −|period .|slash /|zero 0|one 1|two 2|three 3|four 4|five 5|six 6
seven 7|eight 8|nine 9|colon :|semicolon ;|less <|equal =|greater >|question ?|at @|bracketleft [|backslash \|bracketright ]
asciicircum ^|underscore _|grave ` + "`" + `|braceleft {|bar \u007c|braceright }|asciitilde ~|quoteleft ‘|quoteright ’|quotedblleft “
quotedblright ”|quotesinglbase ‚|quotedblbase „|guillemotleft «|guillemotright »|guilsinglleft ‹|guilsinglright ›|endash –|emdash —
bullet •|periodcentered ·|ellipsis …|dagger †|daggerdbl ‡|section §|paragraph ¶|copyright ©|registered ®|trademark ™|degree °
exclamdown ¡|questiondown ¿|cent ¢|sterling £|yen ¥|Euro €|euro €|currency ¤|florin ƒ|fraction ⁄|perthousand ‰|onequarter ¼|onehalf ½
threequarters ¾|onesuperior ¹|twosuperior ²|threesuperior ³|ordfeminine ª|ordmasculine º|multiply ×|divide ÷|plusminus ±|logicalnot ¬
brokenbar ¦|mu µ|germandbls ß|AE Æ|ae æ|OE Œ|oe œ|Oslash Ø|oslash ø|Eth Ð|eth ð|Thorn Þ|thorn þ|Lslash Ł|lslash ł|Dcroat Đ|dcroat đ
Hbar Ħ|hbar ħ|dotlessi ı|dotlessj ȷ|Idotaccent İ|Eng Ŋ|eng ŋ|ff ff|fi fi|fl fl|ffi ffi|ffl ffl|f_f ff|f_i fi|f_l fl|IJ IJ|ij ij
acute ´|circumflex ˆ|tilde ˜|dieresis ¨|ring ˚|cedilla ¸|caron ˇ|breve ˘|macron ¯|ogonek ˛|dotaccent ˙|hungarumlaut ˝|sfthyphen -
softhyphen -|Alpha Α|Beta Β|Gamma Γ|Delta Δ|Epsilon Ε|Zeta Ζ|Eta Η|Theta Θ|Iota Ι|Kappa Κ|Lambda Λ|Mu Μ|Nu Ν|Xi Ξ|Omicron Ο|Pi Π
Rho Ρ|Sigma Σ|Tau Τ|Upsilon Υ|Phi Φ|Chi Χ|Psi Ψ|Omega Ω|alpha α|beta β|gamma γ|delta δ|epsilon ε|epsilon1 ϵ|zeta ζ|eta η|theta θ
iota ι|kappa κ|lambda λ|nu ν|xi ξ|omicron ο|pi π|rho ρ|sigma σ|sigma1 ς|tau τ|upsilon υ|phi φ|phi1 ϕ|chi χ|psi ψ|omega ω
partialdiff ∂|summation ∑|product ∏|integral ∫|radical √|infinity ∞|approxequal ≈|notequal ≠|lessequal ≤|greaterequal ≥|lozenge ◊
equivalence ≡|element ∈|notelement ∉|subset ⊂|superset ⊃|union ∪|intersection ∩|emptyset ∅|universal ∀|existential ∃|logicaland ∧
logicalor ∨|arrowright →|arrowleft ←|arrowup ↑|arrowdown ↓|arrowboth ↔|arrowdblright ⇒|arrowdblleft ⇐|arrowdblboth ⇔|nabla ∇
gradient ∇|proportional ∝|similar ∼|asteriskmath ∗|dotmath ⋅|circlemultiply ⊗|circleplus ⊕|prime ′|minute ′|second ″|angle ∠
perpendicular ⊥|therefore ∴|checkmark ✓|estimated ℮|numero №|afii61352 №|apple |commaaccent ,|.notdef |visiblespace ␣|openbullet ◦
filledbox ■|H18533 ■|H22073 □|triagrt ▶|square □|circle ○|star ☆|heart ♥|club ♣|diamond ♦|spade ♠`

// accentNames are the ends of names of letters with an accent, and the accents as
// combining characters.
var accentNames = []struct{ name, mark string }{
	{"grave", "\u0300"},
	{"acute", "\u0301"},
	{"circumflex", "\u0302"},
	{"tilde", "\u0303"},
	{"dieresis", "\u0308"},
	{"ring", "\u030a"},
	{"cedilla", "\u0327"},
	{"commaaccent", "\u0326"},
	{"caron", "\u030c"},
	{"breve", "\u0306"},
	{"macron", "\u0304"},
	{"ogonek", "\u0328"},
	{"hungarumlaut", "\u030b"},
	{"dotaccent", "\u0307"},
}

// glyphTable returns glyphNames as a map.
var glyphTable = sync.OnceValue(func() map[string]string {
	table := map[string]string{}
	for entry := range strings.FieldsFuncSeq(glyphNames, func(c rune) bool { return c == '|' || c == '\n' }) {
		name, letters, _ := strings.Cut(entry, " ")
		if code, ok := strings.CutPrefix(letters, `\u`); ok {
			n, _ := strconv.ParseUint(code, 16, 32)
			letters = string(rune(n))
		}
		table[name] = letters
	}
	return table
})

// glyphLetters returns what a glyph of that name shows, by the rules of the Adobe
// Glyph List Specification; "" for a name that does not tell.
func glyphLetters(name string) string {
	if letters, ok := glyphTable()[name]; ok {
		return letters
	}
	base, _, _ := strings.Cut(name, ".") // a variant, such as a.sc
	if base == "" {
		return ""
	}
	var b strings.Builder
	for part := range strings.SplitSeq(base, "_") { // of a ligature
		b.WriteString(partLetters(part))
	}
	return b.String()
}

func partLetters(name string) string {
	if letters, ok := glyphTable()[name]; ok {
		return letters
	}
	if utf8.RuneCountInString(name) == 1 {
		return name
	}
	if hex, ok := strings.CutPrefix(name, "uni"); ok && len(hex) >= 4 && len(hex)%4 == 0 {
		var b strings.Builder
		for ; hex != ""; hex = hex[4:] {
			n, err := strconv.ParseUint(hex[:4], 16, 32)
			if err != nil {
				return ""
			}
			b.WriteRune(rune(n))
		}
		return b.String()
	}
	if hex, ok := strings.CutPrefix(name, "u"); ok && len(hex) >= 4 && len(hex) <= 6 {
		if n, err := strconv.ParseUint(hex, 16, 32); err == nil {
			return string(rune(n))
		}
	}
	for _, a := range accentNames {
		if letter, ok := strings.CutSuffix(name, a.name); ok && len(letter) == 1 {
			return norm.NFC.String(letter + a.mark)
		}
	}
	return ""
}
