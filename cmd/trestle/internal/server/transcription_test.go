package server

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters/fake"
	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// A dictation hears in a recording what its bytes say, after a while.
type dictation struct {
	mu    sync.Mutex // guards what follows
	names []string   // of the recordings heard
	fails int        // attempts that fail first
}

func (d *dictation) Transcribe(_ context.Context, name string, recording io.Reader, _ int64) (string, spaces.TokenUsage, error) {
	<-time.After(3 * time.Second)
	said, err := io.ReadAll(recording)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.names = append(d.names, name)
	if d.fails > 0 {
		d.fails--
		return "", spaces.TokenUsage{}, errors.New("the line is busy")
	}
	return strings.TrimPrefix(string(said), "OggS"), spaces.TokenUsage{Prompt: 30, Output: 5, Calls: 1}, err
}

func (d *dictation) heard() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.names
}

func voice(words string) faketelegram.PostOptions {
	return faketelegram.PostOptions{File: &faketelegram.SharedFile{Kind: "voice", MIME: "audio/ogg", Data: []byte("OggS" + words)}}
}

// Issue 5: with a model that hears, an agent answers what a voice says, although
// its words come later and after a failure; each voice is heard once, not again
// after a restart, and what it took is counted. Without one it stays a voice.
func TestVoicesAreHeardOnceAndAnswered(t *testing.T) {
	for _, hears := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			config := "admit: open\nphases: one\nagents: {ada: {name: Ada}}\n"
			if hears {
				config += "voice: {model: whisper-1}\n"
			}
			rests := llmtest.Says("Responded to Kai about dinner. Said nothing. Nothing pending.")
			w := newWorld(t, config, rests, rests)
			w.dictated.fails = 1
			w.addChat("home", "direct", []string{"Kai"})
			w.chats["home"].Says(w.people["Kai"], "", voice("dinner at eight?"))
			w.settle()
			frame := renderFrame(w.model.Requests()[0])
			if got := strings.Contains(frame, `heard: "dinner at eight?"`); got != hears || !strings.Contains(frame, "+voice") {
				t.Errorf("hears %t: the frame is\n%s", hears, frame)
			}
			w.restart()
			pass(time.Minute)
			w.settle()
			log := w.log(spaces.Room)
			if got := strings.Count(log, `transcribed "dinner at eight?"`); got > 1 || got == 1 != hears {
				t.Errorf("hears %t: told %d times\n%s", hears, got, log)
			}
			spent, err := w.process.Store.Shell().Spent(t.Context(), time.Now(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			if heard := w.dictated.heard(); hears && (len(heard) != 2 || heard[0] != "voice.ogg" || spent.All.Tokens == 0) || !hears && len(heard) > 0 {
				t.Errorf("hears %t: heard %q, spent %+v", hears, heard, spent)
			}
			w.stop()
		})
	}
}

// Issue 5: no voice is heard once the day's budget is spent.
func TestNoVoiceIsHeardBeyondTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "admit: open\nphases: one\nagents: {ada: {name: Ada}}\nvoice: {model: whisper-1}\nbudget: {per_day: 30}\nspaces: {home: {wake: none, chats: [\"telegram:-1001000000001\"]}}\n")
		w.addChat("home", "supergroup", []string{"Kai", "Maya"})
		w.settle()
		for range 2 {
			w.chats["home"].Says(w.people["Kai"], "", voice("hello"))
			w.settle()
			pass(10 * time.Second)
			w.settle()
		}
		if heard := w.dictated.heard(); len(heard) != 1 {
			t.Errorf("heard %d voices, want the one that the budget had room for", len(heard))
		}
		w.stop()
	})
}

// A reader speaks texts: its recordings last a second.
type reader struct {
	mu     sync.Mutex // guards what follows
	spoken []string   // with the model and the voice
	fails  bool
}

func (r *reader) Speak(_ context.Context, name, voice, text string) ([]byte, llm.TokenUsage, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spoken = append(r.spoken, name+" "+voice+": "+text)
	if r.fails {
		return nil, llm.TokenUsage{}, errors.New("the line is busy")
	}
	return []byte("OggS\x00\x00\x80\xbb\x00\x00\x00\x00\x00\x00OpusHead"), llm.TokenUsage{Prompt: 7, Output: 20, Estimated: true}, nil
}

func (r *reader) said() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.spoken
}

// What an agent answers to a voice message is written and spoken, in its own voice; what is asked in words, and
// what cannot be spoken, is written alone, and what it used is counted.
func TestAVoiceIsAnsweredByVoice(t *testing.T) {
	for name, c := range map[string]struct {
		settings, answer string
		asked            string // empty: by voice
		fails            bool
		want             []string // what is spoken
		sent             []string
	}{
		"by voice":       {"voice: {speak: tts-1}\n", "At **eight**, [here](https://example.org).", "", false, []string{"tts-1 coral: At eight, here."}, []string{"At eight, here.", "voice"}},
		"with a drawing": {"voice: {speak: tts-1}\n", "Who?\n\n```\nx := 1\n```\n\n| a | b |\n|---|---|\n| c | d |\n\nYou.", "", false, []string{"tts-1 coral: Who?\n\n\n\n\n\nYou."}, []string{"Who?\n\nx := 1\n\na | b\n--+--\nc | d\n\nYou.", "voice"}},
		"in words":       {"voice: {speak: tts-1}\n", "At eight.", "when?", false, nil, []string{"At eight."}},
		"not configured": {"", "At eight.", "", false, nil, []string{"At eight."}},
		"out of order":   {"voice: {speak: tts-1}\n", "At eight.", "", true, []string{"tts-1 coral: At eight."}, []string{"At eight."}},
		"much too long":  {"voice: {speak: tts-1}\n", strings.Repeat("word ", 820) + "end", "", false, nil, []string{"", "word end"}},
		"refused":        {"voice: {speak: tts-1}\n", "At eight.", "", false, []string{"tts-1 coral: At eight."}, []string{"At eight."}},
		"nothing left":   {"voice: {speak: tts-1}\nbudget: {per_day: 30}\n", "At eight.", "", false, nil, []string{"At eight."}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, "admit: open\nphases: one\nlinks: open\nagents: {ada: {name: Ada, voice: {name: coral}}}\n"+c.settings, llmtest.Calls(llmtest.Call("1", "send_message", map[string]any{"text": c.answer})), llmtest.Says("Responded to Kai about dinner. Nothing pending."))
				w.addChat("home", "direct", []string{"Kai"})
				w.readAloud.fails = c.fails
				if name == "refused" {
					w.telegram.Fault(fake.CallFault{Method: "sendVoice", Do: fake.Refuse, Status: 400, Description: "Bad Request: VOICE_MESSAGES_FORBIDDEN"})
					w.telegram.Fault(fake.CallFault{Method: "sendDocument", Do: fake.Refuse, Status: 400, Description: "Bad Request: not enough rights to send documents"})
				}
				if c.asked != "" {
					w.chats["home"].Says(w.people["Kai"], c.asked, faketelegram.PostOptions{})
				} else {
					w.chats["home"].Says(w.people["Kai"], "", voice("dinner at eight?"))
				}
				w.settle()
				pass(10 * time.Second)
				w.settle()
				var sent []string
				for _, m := range w.chats["home"].Sent() {
					switch {
					case m.File != nil:
						sent = append(sent, m.File.Kind+m.Text)
					case len(m.Text) > 100:
						sent = append(sent, "")
					default:
						sent = append(sent, m.Text)
					}
				}
				testutil.Same(t, "spoken", c.want, w.readAloud.said())
				testutil.Same(t, "sent", c.sent, sent)
				if log := w.log(spaces.Room); strings.Contains(log, "not delivered") || strings.Contains(log, "failed") {
					t.Errorf("what was written counts as failed:\n%s", log)
				}
				w.stop()
			})
		})
	}
}
