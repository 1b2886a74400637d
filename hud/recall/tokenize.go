package recall

import (
	"unicode"
	"unicode/utf8"
)

// eachTerm calls f with every term of text, in order: lower-case words, lightly
// stemmed, without stop words; for scripts without spaces, pairs of characters. The
// bytes are valid until f returns. It returns scratch, perhaps grown, for reuse.
func eachTerm(text string, scratch []byte, f func(term []byte)) []byte {
	w := scratch[:0]
	var ideograph rune
	flush := func() {
		if len(w) > 0 {
			if t := stem(w); len(t) > 0 && !stopWord(t) {
				f(t)
			}
			w = w[:0]
		}
	}
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			i++
			ideograph = 0
			switch {
			case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
				w = append(w, c)
			case c >= 'A' && c <= 'Z':
				w = append(w, c|0x20)
			default: // an apostrophe too: what follows it is a separate word, mostly a stop word
				flush()
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		i += n
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
			flush()
			if ideograph != 0 {
				w = utf8.AppendRune(utf8.AppendRune(w, ideograph), r)
				f(w)
				w = w[:0]
			}
			ideograph = r
			continue
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r):
			w = utf8.AppendRune(w, unicode.ToLower(r))
		default:
			flush()
		}
		ideograph = 0
	}
	flush()
	return w[:0]
}

// stem removes the most frequent English endings, in place.
func stem(w []byte) []byte {
	n := len(w)
	ends := func(s string) bool { return n > len(s)+2 && string(w[n-len(s):]) == s }
	switch {
	case n < 4 || w[0] >= '0' && w[0] <= '9':
		return w
	case ends("ies"):
		return append(w[:n-3], 'y')
	case ends("sses"), ends("shes"), ends("ches"), ends("xes"):
		w = w[:n-2]
	case ends("ss"), ends("us"), ends("is"):
		return w
	case ends("s"):
		w = w[:n-1]
	}
	n = len(w)
	switch {
	case ends("ing"):
		w = undouble(w[:n-3])
	case ends("ied"):
		return append(w[:n-3], 'y')
	case ends("ed"):
		w = undouble(w[:n-2])
	case ends("ly"):
		w = w[:n-2]
	}
	if n = len(w); n > 3 && w[n-1] == 'e' {
		w = w[:n-1]
	}
	return w
}

// undouble removes one letter of a double consonant at the end.
func undouble(w []byte) []byte {
	n := len(w)
	if n > 3 && w[n-1] == w[n-2] && w[n-1] != 'l' && w[n-1] != 's' && w[n-1] != 'z' {
		return w[:n-1]
	}
	return w
}

// stopWord reports whether the stemmed word w is too frequent to be searched for.
func stopWord(w []byte) bool {
	if len(w) == 1 && w[0] < utf8.RuneSelf && (w[0] < '0' || w[0] > '9') {
		return true
	}
	switch string(w) {
	case "the", "and", "of", "to", "in", "is", "it", "on", "at", "be", "am", "are", "wa", "was", "were", "been",
		"an", "or", "as", "by", "if", "so", "do", "doe", "did", "don", "didn", "doesn", "isn", "wasn", "re", "ve", "ll", "we", "he",
		"she", "me", "my", "you", "your", "his", "her", "our", "their", "they", "them", "us", "its", "this", "that",
		"these", "those", "thi", "for", "from", "with", "but", "not", "no", "have", "hav", "has", "had", "will", "would", "can",
		"could", "should", "there", "here", "what", "which", "who", "when", "where", "wher", "how", "why", "about",
		"just", "some", "som", "any", "than", "then", "too", "very", "also", "into", "up", "out", "let", "get", "got":
		return true
	}
	return false
}
