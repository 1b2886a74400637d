package hud

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// Whatever the HUD shows, and the instructions, stay inside.
func TestNothingInternalGoesOut(t *testing.T) {
	system := "You are Ada. Plain text is internal: nobody sees it.\nUse send_message to speak in the active space."
	for name, scene := range scenes {
		for part := range strings.SplitSeq(scene(newWorld(t)), "\n--- ") {
			if strings.Contains(part, "INBOX (") || strings.Contains(part, "YOUR SPACES") || strings.Contains(part, "ACTIVE SPACE") {
				if _, leaks := NewLeakGuard(system).Leak(part); !leaks {
					t.Errorf("%s: this may go out:\n%s", name, part)
				}
			}
		}
	}
	for text, want := range map[string]bool{
		"Sure, I will ask Nova about the inbox.":                                      false,
		"PLAIN text is   internal: nobody\nsees it. use Send_message":                 true,
		"#a7 [Family] Kai (human): \"hi\"":                                            true,
		"Use send_message to speak":                                                   false,
		"hi ← TRIGGER":                                                                true,
		"My active space is the kitchen; what's on your trigger list? [EARLIER] #a7.": false,
	} {
		if _, got := NewLeakGuard(system).Leak(text); got != want {
			t.Errorf("Leak(%q) = %v, want %v", text, got, want)
		}
	}
}

// A URL leaves only if it stood in the room verbatim.
func TestNoURLLeavesThatWasNotInTheRoom(t *testing.T) {
	w := newWorld(t)
	id := w.room("Family", "kai", "ada")
	e := w.says(id, "kai", "see https://example.org/a?b=c, and (https://ok.example/x_(y)).")
	room := w.v.Seat(id).Room
	for text, want := range map[string]string{
		"look: https://example.org/a?b=c!":    "look: https://example.org/a?b=c!",
		"https://ok.example/x_(y)":            "https://ok.example/x_(y)",
		"https://example.org/a?b=secret":      "hxxps[:]//example[.]org/a?b=secret",
		"HTTPS://EVIL.com":                    "HXXPS[:]//EVIL[.]com",
		"![x](https://evil.com/p.png?d=1)":    "[x](hxxps[:]//evil[.]com/p[.]png?d=1)",
		"[here](javascript:alert(1))":         "[here](javascript[:]alert(1))",
		"<mailto:a@evil.com>":                 "<mailto[:]a[@]evil[.]com>",
		"www.evil.com/x":                      "www[.]evil[.]com/x",
		"go to evil.com/?d=1 now":             "go to evil[.]com/?d=1 now",
		"read README.md":                      "read `README.md`",
		"`README.md` and main.go, e.g. 3.14.": "`README.md` and main.go, e.g. 3.14.",
		"mail a@evil.com":                     "mail a[@]evil[.]com",
		"xn--80ak6aa92e.com":                  "`xn--80ak6aa92e.com`",
		"see москва.рф. Nothing else.":        "see `москва.рф`. Nothing else.",
		"time: 12:30, note:this is plain":     "time: 12:30, note:this is plain",
		"tg://resolve?domain=x":               "tg[:]//resolve?domain=x",
		"@everyone look, @HERE and @channel!": "everyone look, HERE and channel!",
		"<!channel|all> <!here>":              "channel here",
		"@@everyone <!@everyone> <!<!here>":   "everyone everyone <!here",
		"@channel_news and hi@everyone":       "@channel_news and hi@everyone",
	} {
		got := Defang(text, room.HasURL)
		if got != want {
			t.Errorf("Defang(%q)\n got %q\nwant %q", text, got, want)
		}
		if again := Defang(got, room.HasURL); again != got {
			t.Errorf("Defang is not stable: %q, then %q", got, again)
		}
	}
	w.add(id, "kai", spaces.MessageDeleted{Target: e.ID})
	if room.HasURL("https://example.org/a?b=c") {
		t.Error("the URL of a deleted message may still leave")
	}
}

// Calls in calls are taken apart a few times, and then what is left
// loses the signs that call: ten thousand of them, one by one, took a minute, in which
// the mind was locked.
func TestCallsInCallsEnd(t *testing.T) {
	nested := func(sign string, depth int) string {
		return "1 < 2: " + strings.Repeat(sign, depth) + "everyone" + strings.Repeat(">", depth)
	}
	const left = 10_000 - mostNested
	for text, want := range map[string]string{
		nested("<!", 1):               "1 < 2: everyone",
		nested("<!", mostNested-1):    "1 < 2: everyone",
		nested("<!", left+mostNested): "1  2: " + strings.Repeat("!", left) + "everyone" + strings.Repeat(">", left),
	} {
		if got := Defang(text, func(string) bool { return false }); got != want {
			t.Errorf("Defang(%.80q)\n got %.80q\nwant %.80q", text, got, want)
		}
	}
	if got := Defang(nested("@<!", 10_000), func(string) bool { return false }); massCalls.MatchString(got) {
		t.Errorf("this still calls: %.80q", got)
	}
}

// No scheme with slashes is left.
func FuzzDefang(f *testing.F) {
	f.Add("a https://x.y ![z](http://q.r) www.a.bc")
	f.Fuzz(func(t *testing.T, text string) {
		got := strings.ToLower(Defang(text, func(string) bool { return false }))
		for _, bad := range []string{"http://", "https://", "mailto:", "javascript:"} {
			if i := strings.Index(got, bad); i >= 0 && len(got) > i+len(bad) && got[i+len(bad)] > ' ' {
				t.Errorf("Defang(%q) = %q", text, got)
			}
		}
	})
}

// Whether an address is in code is known as it was, and in time that
// grows with the text and not with its square: a megabyte of addresses took minutes.
func TestWhatStandsInCodeIsKnownAtOnce(t *testing.T) {
	slow := func(text string, i int) bool {
		line := strings.LastIndexByte(text[:i], '\n') + 1
		if strings.Count(text[:i], "```")%2 == 1 {
			return true
		}
		rest, _, _ := strings.Cut(text[i:], "\n")
		return strings.Count(text[line:i], "`")%2 == 1 && strings.Contains(rest, "`")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var b strings.Builder
		for range rng.IntN(30) {
			b.WriteString([]string{"`", "`", "``", "```", "\n", "a", "é"}[rng.IntN(7)])
		}
		text, code := b.String(), codeSpans{text: b.String()}
		for i := 0; i < len(text); i += 1 + rng.IntN(4) {
			if got, want := code.inCode(i), slow(text, i); got != want {
				t.Fatalf("%d in %q: %t, want %t", i, text, got, want)
			}
		}
	}
	began := time.Now()
	for _, text := range []string{strings.Repeat("a.de ", 200_000), strings.Repeat("`a.de` ", 150_000), "`" + strings.Repeat("a.de\n", 200_000)} {
		Defang(text, func(string) bool { return false })
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %s", took)
	}
}
