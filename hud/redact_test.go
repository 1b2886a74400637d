package hud

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/spaces"
)

// DESIGN 2: a delete removes the words from every rendering that showed them.
func TestDeletedWordsAreGoneFromEveryRendering(t *testing.T) {
	for _, words := range []string{"ok", "the door code is 4711", "line one\nline \"two\" <b>", strings.Repeat("secret word ", 200)} {
		w := newWorld(t)
		id := w.room("Family", "kai", "ada")
		w.says(id, "kai", words)
		inbox := w.v.Inbox(&w.v.Seats[0], 0, 1, map[spaces.EventID]string{"sp-family/1": "direct"}).Text
		read, _ := ReadLines(w.v, id, 0, 5)
		for _, text := range []string{inbox, read, "I noted: " + words} {
			got := Redact(text, words)
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
		if got := Redact(string(args), words); !json.Valid([]byte(got)) {
			t.Errorf("arguments became %s", got)
		} else if len(words) >= plainRedaction && strings.Count(got, redacted) != 2 {
			t.Errorf("%q is still in %s", words, got)
		}
	}
}

// DESIGN 2: frames that an older program stored had a bar before what people wrote.
func TestDeletedWordsAreGoneFromOlderFrames(t *testing.T) {
	stored := "= Fri 2026-11-20 14:05\n| Kai: ok\n|: ok\n| Nova: ok then"
	want := strings.ReplaceAll(strings.ReplaceAll(stored, ": ok\n", ": "+redacted+"\n"), "\n|: ok", "\n|: "+redacted)
	if got := Redact(stored, "ok"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
