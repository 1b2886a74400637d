package server

import (
	"bytes"
	"image"
	"image/png"
	"strings"
	"testing"
	"testing/synctest"

	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
)

// photo returns a picture of that size as a file.
func photo(t *testing.T, w, h int) *faketelegram.SharedFile {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		t.Fatal(err)
	}
	return &faketelegram.SharedFile{Kind: "photo", Data: b.Bytes()}
}

// shownIn returns the pictures of each request, and its last message.
func shownIn(requests []llm.ModelRequest) (pictures [][]llm.ModelImage, tails []string) {
	for _, r := range requests {
		last := r.Messages[len(r.Messages)-1]
		pictures, tails = append(pictures, last.Pictures), append(tails, last.Text)
	}
	return pictures, tails
}

// Issue 5, DESIGN 5: a model that sees is shown the pictures of what it answers,
// once they are here and small enough, in the room that posted them; their tokens
// count. One that does not see is told of them in words.
func TestAModelThatSeesIsShownPictures(t *testing.T) {
	for _, most := range []string{"0", "1", "2"} {
		synctest.Test(t, func(t *testing.T) {
			says := llmtest.Says("Responded to Kai about a picture. Said nothing.")
			w := newWorld(t, `
agents: {ada: {name: Ada, phases: one}}
images: {most: `+most+`, side: 64}
spaces:
  family: {agents: [ada], wake: mention, circle: one, chats: ["telegram:-1001000000001"]}
  other: {agents: [ada], wake: mention, circle: one, chats: ["telegram:-1001000000002"]}
`, says, says)
			w.addChat("family", "supergroup", []string{"Kai", "Maya"})
			w.addChat("other", "supergroup", []string{"Lee", "Nova"})
			w.settle()
			kai := w.people["Kai"]
			small, large := photo(t, 60, 60), photo(t, 600, 300)
			w.chats["family"].Says(kai, "one", faketelegram.PostOptions{File: small})
			w.chats["family"].Says(kai, "@ada_bot what is this?", faketelegram.PostOptions{File: large})
			w.settle()
			pictures, tails := shownIn(w.model.Requests())
			if len(pictures) != 1 {
				t.Fatalf("asked %d times", len(pictures))
			}
			want := int(most[0] - '0')
			if len(pictures[0]) != want || strings.Count(tails[0], " +photo") != want {
				t.Fatalf("most %s: shown %d pictures\n%s", most, len(pictures[0]), tails[0])
			}
			if want > 0 {
				last := pictures[0][want-1]
				seen, _, err := image.DecodeConfig(bytes.NewReader(last.Data))
				if err != nil || last.Media != "image/jpeg" || seen.Width != 64 || seen.Height != 32 || last.Tokens != 255 {
					t.Errorf("the newest is %s of %+v for %d tokens, %v", last.Media, seen, last.Tokens, err)
				}
			}
			if want > 1 && !bytes.Equal(pictures[0][0].Data, small.Data) {
				t.Error("the older one is not as it was posted")
			}
			w.says(w.chats["other"], w.people["Lee"], "@ada_bot and what do you see here?", 0, 0)
			w.settle()
			if pictures, tails := shownIn(w.model.Requests()); len(pictures) != 2 || len(pictures[1]) != 0 {
				t.Errorf("in the other room it was shown %d pictures\n%s", len(pictures[len(pictures)-1]), tails[len(tails)-1])
			}
			w.stop()
		})
	}
}

// Issue 5, SECURITY S20: what cannot be had, or is no picture, stays a line of
// words, and what was deleted is not shown.
func TestPicturesThatCannotBeShownHoldNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, `
agents: {ada: {name: Ada, phases: one}}
images: {most: 4}
spaces:
  family: {agents: [ada], wake: mention, chats: ["telegram:-1001000000001"]}
`, llmtest.Says("Responded to Kai about a picture. Said nothing."))
		w.addChat("family", "supergroup", []string{"Kai", "Maya"})
		w.settle()
		w.chats["family"].Says(w.people["Kai"], "broken", faketelegram.PostOptions{File: &faketelegram.SharedFile{Kind: "photo", Data: []byte("no picture")}})
		w.chats["family"].Says(w.people["Kai"], "@ada_bot what is this?", faketelegram.PostOptions{File: &faketelegram.SharedFile{Kind: "photo", Data: bytes.Repeat([]byte("x"), 21<<20)}})
		w.settle()
		pictures, tails := shownIn(w.model.Requests())
		if len(pictures) != 1 || len(pictures[0]) != 0 || strings.Contains(tails[0], "PICTURES") {
			t.Errorf("shown %d pictures\n%s", len(pictures), tails)
		}
		w.stop()
	})
}

// Issue 5, /new: once a person has begun afresh a model is shown no picture that was
// posted before that, unless a person answers it.
func TestAFreshStartLeavesPicturesBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		says := llmtest.Says("Responded to Kai about a picture. Said nothing.")
		w := newWorld(t, `
agents: {ada: {name: Ada, phases: one}}
images: {most: 4, side: 64}
spaces:
  kai: {agents: [ada], chats: ["telegram:5000000001"]}
`, says, says, says)
		w.addChat("kai", "direct", []string{"Kai"})
		w.settle()
		kai, chat := w.people["Kai"], w.chats["kai"]
		passport := chat.Says(kai, "my passport", faketelegram.PostOptions{File: photo(t, 60, 60)})
		w.settle()
		w.says(chat, kai, "/new", 0, 0)
		w.settle()
		chat.Says(kai, "and this is the garden", faketelegram.PostOptions{File: photo(t, 40, 40)})
		w.settle()
		w.says(chat, kai, "and in this one?", passport, 0)
		w.settle()
		pictures, tails := shownIn(w.model.Requests())
		for i, want := range []int{1, 1, 2} {
			if len(pictures) != 3 || len(pictures[i]) != want {
				t.Fatalf("request %d of %d shows %d pictures, want %d\n%s", i, len(pictures), len(pictures[i]), want, tails[i])
			}
		}
		w.stop()
	})
}
