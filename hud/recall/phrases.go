package recall

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A wordList holds the words of a text in lower case, as [phraseBook] compares them: runs
// of letters and digits with the apostrophes inside them, and each symbol by itself.
type wordList struct {
	text []byte
	ends []int // of each word in text
}

func (w *wordList) word(i int) []byte {
	from := 0
	if i > 0 {
		from = w.ends[i-1]
	}
	return w.text[from:w.ends[i]]
}

// read takes the words of text in place of those held before.
func (w *wordList) read(text string) {
	w.text, w.ends = w.text[:0], w.ends[:0]
	start := 0
	flush := func() {
		for len(w.text) > start && w.text[len(w.text)-1] == '\'' {
			w.text = w.text[:len(w.text)-1]
		}
		if len(w.text) > start {
			w.ends = append(w.ends, len(w.text))
		}
		start = len(w.text)
	}
	for _, r := range text {
		switch {
		case r == '\'' || r == '’':
			if len(w.text) > start {
				w.text = append(w.text, '\'')
			}
		case r < utf8.RuneSelf && (r >= 'a' && r <= 'z' || r >= '0' && r <= '9'):
			w.text = append(w.text, byte(r))
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r) && r != '\ufe0f':
			w.text = utf8.AppendRune(w.text, unicode.ToLower(r))
		default:
			flush()
			if unicode.Is(unicode.So, r) {
				w.text = utf8.AppendRune(w.text, r)
				flush()
			}
		}
	}
	flush()
}

// A phraseBook finds phrases of several classes in texts.
type phraseBook struct {
	whole    map[string][]phrase // by their first word
	prefixes map[string][]phrase // those that begin with the start of a word, by its first bytes
	classes  []string
}

// A phrase is a run of words: a word, the beginning of one before a *, or _ for any one.
type phrase struct {
	words []string
	class int
}

// prefixBytes is how long the beginning of a first word is at least.
const prefixBytes = 3

// readPhrases reads rows of a class and its phrases, separated by bars. Rows that begin
// with # are comments.
func readPhrases(text string) *phraseBook {
	b := &phraseBook{whole: map[string][]phrase{}, prefixes: map[string][]phrase{}}
	for row := range strings.Lines(text) {
		class, phrases, ok := strings.Cut(strings.TrimSpace(row), " ")
		if !ok || class == "#" {
			continue
		}
		n := slices.Index(b.classes, class)
		if n < 0 {
			n, b.classes = len(b.classes), append(b.classes, class)
		}
		for said := range strings.SplitSeq(phrases, "|") {
			p := phrase{strings.Fields(said), n}
			if len(p.words) == 0 {
				continue
			}
			if first, ok := strings.CutSuffix(p.words[0], "*"); ok {
				b.prefixes[first[:prefixBytes]] = append(b.prefixes[first[:prefixBytes]], p)
			} else {
				b.whole[first] = append(b.whole[first], p)
			}
		}
	}
	for _, of := range []map[string][]phrase{b.whole, b.prefixes} {
		for _, ps := range of { // the longest first
			slices.SortStableFunc(ps, func(x, y phrase) int { return len(y.words) - len(x.words) })
		}
	}
	return b
}

// class returns the number of a class.
func (b *phraseBook) class(name string) int { return slices.Index(b.classes, name) }

// hasWord reports whether a word is a phrase of the class.
func (b *phraseBook) hasWord(class int, word string) bool {
	return slices.ContainsFunc(b.whole[word], func(p phrase) bool { return p.class == class && len(p.words) == 1 })
}

// each calls f for each phrase that the words hold, with the words it takes. Of those of
// one class that begin with the same word only the longest is found.
func (b *phraseBook) each(w *wordList, f func(class, from, to int)) {
	for i := range w.ends {
		first := w.word(i)
		found := 0 // bits of the classes
		try := func(ps []phrase) {
			for k := range ps {
				if p := &ps[k]; found&(1<<p.class) == 0 && p.at(w, i) {
					found |= 1 << p.class
					f(p.class, i, i+len(p.words))
				}
			}
		}
		try(b.whole[string(first)])
		if len(first) >= prefixBytes {
			try(b.prefixes[string(first[:prefixBytes])])
		}
	}
}

// at reports whether the words from i on are the phrase.
func (p *phrase) at(w *wordList, i int) bool {
	if i+len(p.words) > len(w.ends) {
		return false
	}
	for k, want := range p.words {
		is := w.word(i + k)
		if want == "_" || string(is) == want {
			continue
		}
		if n := len(want) - 1; want[n] != '*' || len(is) < n || string(is[:n]) != want[:n] {
			return false
		}
	}
	return true
}
