package hud

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// massCalls match mentions of everybody in a room, in any platform's form.
var massCalls = regexp.MustCompile(`(?i)<!(everyone|here|channel)(?:\|[^>]*)?>|(^|[^\p{L}\p{N}_.+@-])@+(everyone|here|channel)\b`)

// mostNested is how often mass mentions are removed from a text before all of its
// mention characters are: calls are not nested by mistake.
const mostNested = 8

// uncalled returns text without mentions of everybody in a room.
func uncalled(text string) string {
	for range mostNested {
		if !strings.ContainsAny(text, "@!") || !massCalls.MatchString(text) {
			return text
		}
		text = massCalls.ReplaceAllString(text, "$1$2$3")
	}
	return strings.NewReplacer("<", "", "@", "").Replace(text)
}

// Defang returns text that can carry nothing out of the program: mentions of everybody
// in a room become plain words; a URL for which seen is false is written so that no
// platform links or fetches it; bare addresses and file names that look like addresses
// are put between backticks; and Markdown images become their words. A URL that a
// message of the room has verbatim stays unchanged.
func Defang(text string, seen func(url string) bool) string {
	if strings.Contains(text, "![") {
		text = images.ReplaceAllString(text, "$1")
	}
	text = uncalled(text)
	var b strings.Builder
	last := 0
	for _, u := range findURLs(text) {
		b.WriteString(defangBare(text[last:u.from], seen))
		url := text[u.from:u.to]
		if seen(url) {
			b.WriteString(url)
		} else {
			b.WriteString(defangURL(url))
		}
		last = u.to
	}
	b.WriteString(defangBare(text[last:], seen))
	return b.String()
}

// images match Markdown's images, inline and by reference.
var images = regexp.MustCompile(`!(\[[^\]]*\])`)

// defangURL breaks the scheme and the dots of the host: hxxps://evil[.]com/x.
func defangURL(url string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	switch {
	case ok:
		scheme = strings.NewReplacer("http", "hxxp", "HTTP", "HXXP").Replace(scheme)
		if !strings.HasPrefix(strings.ToLower(scheme), "hxxp") {
			scheme = strings.ReplaceAll(scheme, ":", "")
		}
		return scheme + "[:]//" + dots(rest)
	case strings.Contains(url, ":"):
		scheme, rest, _ = strings.Cut(url, ":")
		return scheme + "[:]" + dots(rest)
	}
	return dots(url)
}

func dots(s string) string {
	return strings.NewReplacer(".", "[.]", "@", "[@]").Replace(s)
}

// bare matches what a platform may take for an address although it has no
// scheme: labels with dots, a last label of letters, and a path.
var bare = regexp.MustCompile(`[\p{L}\p{N}_%+-]+(?:[.@][\p{L}\p{N}_-]+)*\.(?:\p{L}{2,24}|xn--[a-z0-9-]+)(?::\d+)?(?:[/?#][^\s<>"` + "`" + `]*)?`)

// defangBare puts bare addresses between backticks, where nothing links them.
// Text between backticks stays unchanged, and so do words whose last label is no
// top-level domain.
func defangBare(text string, seen func(string) bool) string {
	if !dotted(text) {
		return text
	}
	var b strings.Builder
	last, code := 0, codeSpans{text: text}
	for _, at := range bare.FindAllStringIndex(text, -1) {
		word := text[at[0]:at[1]]
		if !addressLike(word) || seen(word) || code.inCode(at[0]) {
			continue
		}
		b.WriteString(text[last:at[0]])
		if strings.ContainsAny(word, "/?#@:") {
			b.WriteString(dots(word))
		} else {
			b.WriteString("`" + word + "`")
		}
		last = at[1]
	}
	b.WriteString(text[last:])
	return b.String()
}

// dotted reports whether text has a letter behind a dot, as every address has.
func dotted(text string) bool {
	for i := range len(text) - 1 {
		if next := text[i+1]; text[i] == '.' && (letter(next) || next >= utf8.RuneSelf) {
			return true
		}
	}
	return false
}

// addressLike reports whether the last label of the host is one that platforms
// link: a country code or one of the general domains in wide use.
func addressLike(word string) bool {
	host := word
	if i := strings.IndexAny(host, "/?#:"); i >= 0 {
		host = host[:i]
	}
	label := strings.ToLower(host[strings.LastIndexByte(host, '.')+1:])
	if len(label) == 2 {
		return !strings.Contains(notCountries, " "+label+" ")
	}
	return strings.HasPrefix(label, "xn--") || strings.Contains(generalDomains, " "+label+" ") || label != "" && label[0] >= 0x80
}

const (
	// Two letters after a dot that are mostly code and that no registry has.
	notCountries   = " go js ts kt cs vb hs hx db tf ui os ip id eg ie "
	generalDomains = " com net org info biz name pro mobi edu gov mil int arpa app dev page xyz top site online shop store " +
		"club vip live life world today news blog tech cloud space website web link click email zip mov foo bar ing meme day " +
		"run sh codes chat team work zone wiki tools systems network digital media social agency design studio academy " +
		"finance money bank cash fund games game play fun icu buzz rest cam bond sbs cfd lol monster quest support help " +
		"services solutions group global center company works photos video stream download host hosting press win bid loan date " +
		"review trade science party racing cricket accountant faith men google youtube amazon microsoft apple art movie music " +
		"lat asia africa eu london berlin paris nyc tokyo onion local internal test example "
)

// codeSpans reports for ascending positions in a text whether they are between backticks
// of their line. It reads the text once.
type codeSpans struct {
	text string

	at     int  // what is before it is read
	run    int  // backticks right before it that make no fence yet
	fences int  // of three backticks
	odd    bool // backticks of its line before it

	tick, line int // the next backtick and the next line break, from the last place on
}

// inCode reports whether the byte at i is between backticks of its line.
func (t *codeSpans) inCode(i int) bool {
	for ; t.at < i; t.at++ {
		switch t.text[t.at] {
		case '`':
			t.odd = !t.odd
			if t.run++; t.run == 3 {
				t.fences, t.run = t.fences+1, 0
			}
			continue
		case '\n':
			t.odd = false
		}
		t.run = 0
	}
	t.tick, t.line = t.next('`', t.tick, i), t.next('\n', t.line, i)
	return t.fences%2 == 1 || t.odd && t.tick < t.line
}

// next returns where b comes next from i on, or the end of the text; it was looked for
// from an earlier place before, and found at known.
func (t *codeSpans) next(b byte, known, i int) int {
	if known > i || known == i && i < len(t.text) && t.text[i] == b {
		return known
	}
	if n := strings.IndexByte(t.text[i:], b); n >= 0 {
		return i + n
	}
	return len(t.text)
}
