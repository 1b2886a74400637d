package hud

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// leakLength is how many characters of the system text in a row may not go out.
const leakLength = 40

// LeakGuard are a system text that may not go out (SECURITY S4). The value
// is read only and may be used from several goroutines.
type LeakGuard struct {
	text []rune
	runs map[uint64]int // where each run of leakLength begins, by hash
}

// NewInstructions prepares a system text for comparison.
func NewInstructions(system string) *LeakGuard {
	in := &LeakGuard{text: fold(system), runs: map[uint64]int{}}
	eachRun(in.text, func(at int, h uint64) bool { in.runs[h] = at; return false })
	return in
}

// Leak judges whether text, about to be said, holds what is ours alone: forty
// characters in a row of the system text, or a header or marker of the HUD
// (SECURITY S4). Case and white space do not matter. The reason is for the agent.
func (in *LeakGuard) Leak(text string) (reason string, leaks bool) {
	if m := marker(text); m != "" {
		return "the marker " + Quote(strings.TrimSpace(m)), true
	}
	t := fold(text)
	shared := eachRun(t, func(at int, h uint64) bool {
		k, ok := in.runs[h]
		return ok && slices.Equal(in.text[k:k+leakLength], t[at:at+leakLength])
	})
	if shared {
		return "words of the instructions", true
	}
	return "", false
}

// markers are the headers and markers of what the HUD renders.
var markers = regexp.MustCompile(`(?m)INBOX \(\d+ events?\):|ACTIVE SPACE: ?(none|")|← TRIGGER|RECALLED \(older lines|` +
	`^ACTIVE RUNS:|^YOUR SPACES( \(\d+ of \d+\))?:|EARLIER CYCLES — self-summaries|^SPACE s\d+ "|^HISTORY( \(\d+ of \d+\))?:|` +
	`^#[0-9a-z]+ \[[^\]\n]{1,60}\] [^\n]{1,80}\((human|agent|bot|service)(, you)?\)|^NOT DELIVERED: |^DENIED: \w+ \(|^… \d+ more lines, #`)

// hints are what every match of markers holds one of; most texts hold none, and
// looking for them costs little.
var hints = []string{
	"INBOX (", "ACTIVE SPACE:", "← TRIGGER", "RECALLED (", "ACTIVE RUNS:", "YOUR SPACES", "EARLIER CYCLES", "SPACE s", "HISTORY", "#",
	"NOT DELIVERED: ", "DENIED: ", "more lines, #",
}

// marker returns the first header or marker in text, or nothing.
func marker(text string) string {
	if !slices.ContainsFunc(hints, func(h string) bool { return strings.Contains(text, h) }) {
		return ""
	}
	return markers.FindString(text)
}

// fold returns text in small letters with every run of white space as one blank.
func fold(text string) []rune {
	out := make([]rune, 0, len(text))
	for _, r := range text {
		if unicode.IsSpace(r) {
			if n := len(out); n == 0 || out[n-1] == ' ' {
				continue
			}
			r = ' '
		}
		out = append(out, unicode.ToLower(r))
	}
	return out
}

// eachRun calls f with every run of leakLength runes and its rolling hash until
// f returns true, and reports whether it did.
func eachRun(s []rune, f func(at int, h uint64) bool) bool {
	const base = 1_000_003
	var top, h uint64 = 1, 0
	for range leakLength - 1 {
		top *= base
	}
	for i, r := range s {
		if i >= leakLength {
			h -= uint64(s[i-leakLength]) * top
		}
		h = h*base + uint64(r)
		if i >= leakLength-1 && f(i-leakLength+1, h) {
			return true
		}
	}
	return false
}

// massCalls match what calls everybody in a room, in any platform's form.
var massCalls = regexp.MustCompile(`(?i)<!(everyone|here|channel)(?:\|[^>]*)?>|(^|[^\p{L}\p{N}_.+@-])@+(everyone|here|channel)\b`)

// mostNested is how often what is left of a text may call again before no sign that
// calls is left in it: nobody nests calls by mistake.
const mostNested = 8

// uncalled returns text without what would call everybody in a room.
func uncalled(text string) string {
	for range mostNested {
		if !strings.ContainsAny(text, "@!") || !massCalls.MatchString(text) {
			return text
		}
		text = massCalls.ReplaceAllString(text, "$1$2$3")
	}
	return strings.NewReplacer("<", "", "@", "").Replace(text)
}

// Defang returns text with every way out closed (SECURITY S6): what would call
// everybody in a room is only the word; a URL for which
// seen is false is written so that no platform links or fetches it, bare
// addresses and file names that look like addresses are put between backticks,
// and Markdown images become their words. A URL that stood in the room verbatim
// stays as it is.
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
// What stands between backticks already stays, and so does what is no address:
// a last label that no registry has.
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

// dotted reports whether a letter stands behind a dot, as the last label of every
// address does.
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
