package markup

import "strings"

// byteRange marks bytes of a text.
type byteRange struct{ from, to int }

// findURLs returns the places of URLs with a scheme in text, and of what starts
// with "www.", in order.
func findURLs(text string) []byteRange {
	var us []byteRange
	if !strings.Contains(text, ":") && !strings.Contains(text, "ww.") && !strings.Contains(text, "WW.") {
		return nil
	}
	for i, end := 0, 0; i < len(text); {
		from, ok := urlAt(text, i, end)
		if !ok {
			i++
			continue
		}
		end = urlEnd(text, i)
		us = append(us, byteRange{from, end})
		i = end
	}
	return us
}

// urlAt reports whether a URL is recognised at i, by the "://" or ":" after its
// scheme or by "www.", and where it begins, at end or later.
func urlAt(text string, i, end int) (from int, ok bool) {
	rest := text[i:]
	switch {
	case strings.HasPrefix(rest, "://"), rest[0] == ':' && len(rest) > 1 && !blank(rest[1]):
		from = i
		for from > end && schemeByte(text[from-1]) {
			from--
		}
		for from < i && !isLetter(text[from]) {
			from++
		}
		if strings.HasPrefix(rest, "://") {
			return from, from < i
		}
		return from, activeScheme(text[from:i])
	case len(rest) > 4 && strings.EqualFold(rest[:4], "www.") && !blank(rest[4]):
		return i, i == 0 || !isLetter(text[i-1]) && text[i-1] != '/' && text[i-1] != '.'
	}
	return 0, false
}

// activeScheme reports whether links of the scheme do something without "//".
func activeScheme(s string) bool {
	switch strings.ToLower(s) {
	case "mailto", "javascript", "data", "tel", "sms", "vbscript", "blob", "tg", "slack", "file", "http", "https", "ftp", "xmpp", "sip", "magnet":
		return true
	}
	return false
}

func schemeByte(c byte) bool {
	return isLetter(c) || c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'
}
func blank(c byte) bool { return c <= ' ' }

// urlEnd returns where a URL that was recognised at i ends: at a blank, a quote
// or an angle bracket, without the punctuation that follows it in a sentence.
func urlEnd(text string, i int) int {
	to := i
	depth := 0
	for to < len(text) && !blank(text[to]) && !strings.ContainsRune("<>\"`|\\^", rune(text[to])) {
		switch text[to] {
		case '(', '[':
			depth++
		case ')', ']':
			if depth == 0 {
				return trimURL(text, i, to)
			}
			depth--
		}
		to++
	}
	return trimURL(text, i, to)
}

func trimURL(text string, i, to int) int {
	for to > i+1 && strings.ContainsRune(".,;:!?'*_~", rune(text[to-1])) {
		to--
	}
	return to
}
