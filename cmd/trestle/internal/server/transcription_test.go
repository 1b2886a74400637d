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

	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
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
