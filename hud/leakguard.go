package hud

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/trestle-bridge/trestle/adapters/markup"
)

// leakLength is how many letters and digits of the system text in a row are a leak.
const leakLength = 40

// A LeakGuard finds parts of the system text in messages that are about to be sent. It is
// read only and safe for concurrent use.
type LeakGuard struct {
	text []rune
	runs map[uint64]int // where each run of leakLength begins, by hash
}

// NewLeakGuard returns a guard of a system text.
func NewLeakGuard(system string) *LeakGuard {
	in := &LeakGuard{text: fold(system), runs: map[uint64]int{}}
	eachRun(in.text, func(at int, h uint64) bool { in.runs[h] = at; return false })
	return in
}

// Leak reports whether people would see forty letters in a row of the system text in
// Markdown, or a header or marker of the HUD. It judges the words as they are shown and as
// they are written; only letters and digits count of the system text. The reason is for the
// agent.
func (in *LeakGuard) Leak(md string) (reason string, leaks bool) {
	for _, text := range []string{md, markup.Visible(md)} {
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
	}
	return "", false
}

// markers are the headers and markers of what the HUD renders, with one blank for all white
// space.
var markers = regexp.MustCompile(`INBOX \(\d+ events?\)[:,]|ACTIVE SPACE: ?(none|")|← TRIGGER|RECALLED \(older lines|` +
	`ACTIVE RUNS:|YOUR SPACES( \(\d+ of \d+\))?:|EARLIER CYCLES — self-summaries|SPACE s\d+ "|HISTORY( \(\d+ of \d+\))?:|` +
	`#[0-9a-z]+(?:[^\pL\pN]{1,8}\d\d:\d\d)?[^\pL\pN]{1,8}[^\]]{1,60}\][^\pL\pN]{1,8}.{1,80}\((human|agent|bot|service)(, you)?\)|REMINDER ~[0-9a-z]+ set |NOT DELIVERED: |YOUR CHECKLIST here, of which|DENIED: \w+ \(|… \d+ more lines, #`)

// hints are substrings of which every match of markers has one. Most texts have none, and
// searching for them costs little.
var hints = []string{
	"INBOX (", "ACTIVE SPACE:", "← TRIGGER", "RECALLED (", "ACTIVE RUNS:", "YOUR SPACES", "EARLIER CYCLES", "SPACE s", "HISTORY", "#",
	"NOT DELIVERED: ", "YOUR CHECKLIST", "DENIED: ", "more lines, #", "REMINDER ~",
}

// marker returns the first header or marker in text, or nothing.
func marker(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if !slices.ContainsFunc(hints, func(h string) bool { return strings.Contains(text, h) }) {
		return ""
	}
	return markers.FindString(text)
}

// fold returns the letters and digits of text, small ones, full-width ones as usual ones.
func fold(text string) []rune {
	out := make([]rune, 0, len(text))
	for _, r := range text {
		if r >= '！' && r <= '～' {
			r -= '！' - '!'
		}
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			out = append(out, unicode.ToLower(r))
		}
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
