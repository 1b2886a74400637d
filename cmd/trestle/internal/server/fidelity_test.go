package server

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/adaptertest"
	"github.com/trestle-bridge/trestle/adapters/markup"
)

// Issue 5, SEQ-06: every example of CommonMark's specification and 500 strings that
// have broken other programs are cut, written and taken on all three platforms, and
// what a reader sees there has all the letters in their order.
func TestWhateverIsSaidArrivesOnEveryPlatform(t *testing.T) {
	texts := adaptertest.Naughty()
	if len(texts) < 500 {
		t.Fatalf("%d naughty strings, want 500", len(texts))
	}
	raw, err := os.ReadFile("testdata/commonmark.json")
	if err != nil {
		t.Fatal(err)
	}
	var spec struct {
		Examples []string `json:"examples"`
	}
	if err := json.Unmarshal(raw, &spec); err != nil || len(spec.Examples) < 650 {
		t.Fatalf("%d examples, %v", len(spec.Examples), err)
	}
	texts = append(texts, spec.Examples...)
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, `# slack, discord
limits: {outgoing: off}
agents: {ada: {name: Ada}}
spaces:
  family: {agents: [ada], wake: none, chats: ["telegram:-1001000000001", "acme:C0000007", "guild:7"]}
`)
		w.addChat("family", "supergroup", []string{"Kai"})
		w.addChat("ops", "slack", []string{"Maya"})
		w.addChat("kitchen", "discord", []string{"Lee"})
		w.settle()
		for adapter, chat := range map[string]string{"telegram": "-1001000000001", "acme": "C0000007", "guild": "7"} {
			w.arrive(t, adapter, chat, texts)
		}
		w.stop()
	})
}

// arrive sends texts part by part and checks that a reader sees their letters.
func (w *world) arrive(t *testing.T, adapter, chat string, texts []string) {
	t.Helper()
	ad := w.process.connectionOf(adapter).adapter
	ends := make([]int, len(texts)) // how many messages there are after each text
	sent := 0
	for i, text := range texts {
		for _, part := range ad.Split(text) {
			_, err := ad.Send(t.Context(), adapters.OutgoingMessage{Chat: chat, Text: part})
			for err != nil && adapters.KindOf(err) == adapters.Limited {
				<-time.After(time.Second)
				_, err = ad.Send(t.Context(), adapters.OutgoingMessage{Chat: chat, Text: part})
			}
			if err != nil {
				t.Fatalf("%s does not take %.60q of %.60q: %v", adapter, part, text, err)
			}
			sent++
		}
		ends[i] = sent
	}
	shown := w.shownOn(adapter)
	if len(shown) != sent {
		t.Fatalf("%s has %d messages of %d", adapter, len(shown), sent)
	}
	reader := markup.New(markup.Options{Reach: func(string) (string, markup.LinkPolicy) { return "", markup.Hidden }})
	from := 0
	for i, text := range texts {
		want, got := lettersOf(reader.Read(text).Words), lettersOf(strings.Join(shown[from:ends[i]], "\n"))
		if !within(want, got) {
			t.Errorf("%s shows %.80q for %.80q, want %.80q", adapter, got, text, want)
		}
		from = ends[i]
	}
}

// shownOn returns what the account said in its chat, oldest first.
func (w *world) shownOn(adapter string) (texts []string) {
	switch adapter {
	case "telegram":
		for _, m := range w.chats["family"].Sent() {
			texts = append(texts, m.Text)
		}
	case "acme":
		for _, m := range w.slack.rooms["ops"].Sent() {
			texts = append(texts, m.Text)
		}
	default: // with its markup: Discord's clients read it
		for _, m := range w.discord.rooms["kitchen"].Sent(w.discord.bot) {
			texts = append(texts, m.Content)
		}
	}
	return texts
}

// lettersOf keeps what no markup may lose.
func lettersOf(s string) string {
	return strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && unicode.IsLetter(r) || unicode.Is(unicode.Han, r) || unicode.Is(unicode.Greek, r) {
			return r
		}
		return -1
	}, s)
}

// within reports whether the letters of want stand in got, in their order.
func within(want, got string) bool {
	rest := []rune(want)
	for _, r := range got {
		if len(rest) > 0 && rest[0] == r {
			rest = rest[1:]
		}
	}
	return len(rest) == 0
}
