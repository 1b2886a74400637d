package recall

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// decisiveSigns are how often each sign is in a text; more than three times is three.
type decisiveSigns [signCount]uint8

func (s *decisiveSigns) add(sign decisiveSign) {
	s[sign] = min(s[sign]+1, uint8(len(signShares)-1))
}

// readWords adds the signs among the words of a text.
func (s *decisiveSigns) readWords(w *wordList) {
	book := decisivePhrases()
	book.each(w, func(class, from, _ int) {
		if sign := signClasses[book.classes[class]]; sign != signOpener || from == 0 {
			s.add(sign)
		}
	})
	switch n := len(w.ends); {
	case n < 4:
		s.add(signTiny)
	case n < 14:
		s.add(signBrief)
	case n > 24:
		s.add(signLong)
		if n > 40 {
			s.add(signLengthy)
		}
	}
}

// contrasts are what stands between one thing and another that it is not.
var contrasts = []string{", not ", " and not ", " instead", ", nicht ", ", pas ", ", no "}

// readCharacters adds the signs of the numbers, marks and capitals of a text.
func (s *decisiveSigns) readCharacters(text string) {
	text = strings.TrimRight(text, " \n\t)")
	if strings.Contains(text, "://") {
		s.add(signLink)
	}
	for _, c := range contrasts {
		if strings.Contains(text, c) {
			s.add(signContrast)
			break
		}
	}
	if n := strings.IndexAny(text, ":="); n > 0 && n < len(text)-1 && (text[n] == '=' || text[n+1] == ' ') && strings.Contains(text[:n], " ") {
		s.add(signColon)
	}
	before, last := ' ', ' ' // the character before, and the last one that was no space
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r >= '0' && r <= '9' && !unicode.IsLetter(before):
			sign, n := numberSign(text[i:], before)
			if sign < signCount {
				s.add(sign)
			}
			size = n
		case unicode.IsUpper(r) && before == ' ' && !strings.ContainsRune(".!?:\n ", last) && i+size < len(text) && text[i+size] >= 'a':
			s.add(signName)
		default:
			s.readMark(r, text[i+size:])
		}
		if before = r; r != ' ' {
			last = r
		}
		i += size
	}
}

// readMark adds the signs of a character that is neither a number nor a capital, before the
// rest of a text.
func (s *decisiveSigns) readMark(r rune, rest string) {
	switch {
	case r == '?' && rest == "":
		s.add(signAsked)
	case r == '?':
		s[signAsks] = 1
	case r == '!':
		s[signShout] = 1
	case r == '.' && strings.HasPrefix(rest, " "):
		s.add(signSentence)
	case r == ',':
		s.add(signComma)
	}
}

// numberSign returns what the number at the beginning of text, behind a character, is a
// sign of, and how many bytes it has. The sign is signCount for none.
func numberSign(text string, before rune) (sign decisiveSign, n int) {
	digits, parts := 0, 0
	for ; n < len(text); n++ {
		if c := text[n]; c >= '0' && c <= '9' {
			digits++
		} else if rest := text[n+1:]; (c == ':' || c == '.') && digits <= 2 && len(rest) > 1 && rest[0] >= '0' && rest[0] <= '5' && rest[1] >= '0' && rest[1] <= '9' {
			parts++ // of an hour, or of a sum
		} else {
			break
		}
	}
	unit := strings.ToLower(strings.TrimPrefix(text[n:min(len(text), n+8)], " "))
	if end := strings.IndexFunc(unit, func(r rune) bool { return !unicode.IsLetter(r) && !strings.ContainsRune("€$£%", r) }); end >= 0 {
		unit = unit[:end]
	}
	switch unit {
	case "am", "pm", "h", "uhr", "o", "€", "$", "£", "%", "eur", "euro", "euros", "quid", "k", "pp":
		parts++
	case "st", "nd", "rd", "th":
		return signDate, n
	}
	switch {
	case digits > 4:
		return signCount, n
	case parts > 0 || strings.ContainsRune("€$£", before):
		return signClock, n
	case digits <= 2 && strings.HasPrefix(text[n:], ". "):
		return signDate, n
	}
	return signNumber, n
}
