package hud

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

// A delete removes the words from every rendering that showed them.
func TestDeletedWordsAreGoneFromEveryRendering(t *testing.T) {
	for _, words := range []string{"ok", "the door code is 4711", "line one\nline \"two\" <b>", strings.Repeat("secret word ", 200)} {
		w := newWorld(t)
		id := w.room("Family", "kai", "ada")
		w.says(id, "kai", words)
		inbox := w.v.Inbox(&w.v.Seats[0], 0, 1, map[spaces.EventID]string{"sp-family/1": "direct"}, w.at).Text
		read, _ := ReadLines(w.v, ReadQuery{Space: id, Limit: 5})
		for _, text := range []string{inbox, read, "I noted: " + words} {
			got := NewRedaction(words).Text(text)
			if len(words) < plainRedaction && !strings.HasPrefix(text, "I noted") || len(words) >= plainRedaction {
				if !strings.Contains(got, redacted) || strings.Contains(got, Quote(words)) || strings.HasSuffix(got, ": "+gutter(words)) {
					t.Errorf("%q is still in %q", words, got)
				}
			}
		}
		args, err := json.Marshal(map[string]string{"text": words, "why": "they said: " + words})
		if err != nil {
			t.Fatal(err)
		}
		if got := NewRedaction(words).Text(string(args)); !json.Valid([]byte(got)) {
			t.Errorf("arguments became %s", got)
		} else if len(words) >= plainRedaction && strings.Count(got, redacted) != 2 {
			t.Errorf("%q is still in %s", words, got)
		}
	}
}

// What a mind quotes of a message goes with it, also where it is a later
// part; what is short enough for anybody to write stays.
func TestQuotedPartsOfDeletedWordsAreGone(t *testing.T) {
	by := NewRedaction("Hi! Please remember: the door code is 4711, and Bob must not know. Thanks!")
	for text, want := range map[string]string{
		"Kai says the door code is 4711. Bob must not know.": "Kai says [deleted]. Bob must not know.",
		"Keep it quiet (and Bob must not know).":             "Keep it quiet ([deleted]).",
		`{"fact":"the door code is 4711"}`:                   `{"fact":"[deleted]"}`,
		"Hi! Thanks!":                                        "Hi! Thanks!",
	} {
		if got := by.Text(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// Who deletes a message, writes it anew and deletes it again leaves
// nothing of either.
func TestWhatTwoDeletedMessagesShareHidesNothing(t *testing.T) {
	shown := " Kai: The safe is behind the picture. PIN 4711\n Kai: The safe is behind the picture. PIN 4712"
	for _, words := range []string{"The safe is behind the picture. PIN 4711", "The safe is behind the picture. PIN 4712"} {
		shown = NewRedaction(words).Text(shown)
	}
	if want := " Kai: [deleted]\n Kai: [deleted]"; shown != want {
		t.Errorf("%q is left, want %q", shown, want)
	}
}

// What nothing was rendered of is not looked through; wherever words stand, in
// whatever form, they are found.
func TestWhatHidesWordsIsNeverPassedBy(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		words := rapid.StringOfN(rapid.SampledFrom([]rune("ab z9\n\"\\<&[]é語…\u200d👩\u115f")), 1, 140, -1).Draw(rt, "words")
		short := textformat.ClipRunes(words, rapid.SampledFrom(append(inboxClips, stubChars)).Draw(rt, "limit"))
		line := rapid.SampledFrom([]string{
			"#1 Kai: " + Quote(short), "#1 10:02 [A] Kai (human): " + Quote(short) + " UNANSWERED (2 days ago) ← TRIGGER",
			"#4 14:09 [F] Kai (human) ↩ your ~1v " + Quote(short) + `: "why?"`, `#3 14:08 [F] Nova (human) reacted to your ~1v ` + Quote(short) + `: "👍"`,
			" Kai: " + gutter(short), " Ada ↩#1 Kai " + Quote(short) + ": yes", "so " + short + " it is", jsonString(short, false),
		}).Draw(rt, "line")
		by := NewRedaction(words)
		want := line
		for _, w := range by {
			want = redactWords(want, w.words)
		}
		if got := by.Text(line); got != want {
			rt.Errorf("%q became %q, want %q", line, got, want)
		}
		stored, err := json.Marshal(spaces.TranscriptTurn{Text: line, Calls: []spaces.TurnCall{{Args: line}}})
		if err != nil {
			rt.Fatal(err)
		}
		if redactWords(line, words) != line && strings.TrimSpace(words) != "" && !by.Traces(stored) {
			rt.Errorf("%q is not found in %s", words, stored)
		}
	})
}

// Short words are gone from the lines that quote them, and from nowhere else.
func TestShortDeletedWordsAreGoneFromQuotes(t *testing.T) {
	by := NewRedaction("ok")
	for line, want := range map[string]string{
		`#4 14:09 [F] Kai (human) ↩ your ~1v "ok": "why ok?"`:               `#4 14:09 [F] Kai (human) ↩ your ~1v [deleted]: "why ok?"`,
		`#4 14:09 [F] Kai (human) ↩ #9 Nova "ok": "ok?" ← TRIGGER`:          `#4 14:09 [F] Kai (human) ↩ #9 Nova [deleted]: "ok?" ← TRIGGER`,
		`#3 14:08 [F] Nova (human) reacted to your ~1v "ok": "👍"`:           `#3 14:08 [F] Nova (human) reacted to your ~1v [deleted]: "👍"`,
		`#1 10:02 [F] Kai (human): "ok" UNANSWERED (2 days ago) ← TRIGGER`:  `#1 10:02 [F] Kai (human): [deleted] UNANSWERED (2 days ago) ← TRIGGER`,
		`#1 10:02 [F] Kai (human) thread 7 "ok": "the thread is called so"`: `#1 10:02 [F] Kai (human) thread 7 "ok": "the thread is called so"`,
		` ~1v Ada (you) ↩#9 Nova "ok": yes`:                                 ` ~1v Ada (you) ↩#9 Nova [deleted]: yes`,
	} {
		if got := by.Text(line); got != want {
			t.Errorf("%s\nbecame\n%s\nwant\n%s", line, got, want)
		}
	}
}
