package server

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// dripping is a model that writes a long answer, a sentence a second.
type dripping struct {
	ended chan time.Time // when calls were cancelled
}

func (d dripping) Generate(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	last := r.Messages[len(r.Messages)-1].Text
	for _, m := range r.Messages {
		if strings.Contains(m.Text, "TRIGGER") {
			last = m.Text
		}
	}
	_, token, _ := strings.Cut(last[strings.LastIndex(last, "book"):], " ")
	token = token[:5]
	var text strings.Builder
	for i := range 12 {
		fmt.Fprintf(&text, "Page %d of %s, on which nothing happens. ", i, token)
		answer := llm.ModelResponse{
			Calls: []llm.ToolCall{{ID: "1", Name: "send_message", Args: fmt.Sprintf(`{"text":%q}`, text.String())}}, Finish: llm.Called,
		}
		if i == 11 {
			return answer, nil
		}
		if r.Hear != nil {
			r.Hear(answer)
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			d.ended <- time.Now()
			return llm.ModelResponse{}, llm.Interrupted(ctx)
		}
	}
	panic("unreachable")
}

// PRD-5.2-A5: whenever a person presses Stop, the call of the model ends within a second,
// nothing of the run is there once the chat reads who stopped it, and nothing comes later. A
// press that comes too late, and a second one, change nothing.
func TestNothingOfAStoppedRunLeavesLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		presses := testutil.Repeats(200)
		random := rand.New(rand.NewPCG(31, 1))
		model := dripping{make(chan time.Time, presses)}
		w := newWorldOf(t, "phases: one\nadmit: open\nagents:\n  ada: {name: Ada}\n", model)
		w.addChat("room", "supergroup", []string{"Kai"})
		room, kai := w.chats["room"], w.people["Kai"]
		stopped, whole, noticed := 0, 0, 0
		for i := range presses {
			token := fmt.Sprintf("zk%03d", i)
			room.Says(kai, "@ada_bot write a book "+token, faketelegram.PostOptions{})
			pass(time.Duration(random.Int64N(int64(15 * time.Second))))
			began := time.Now()
			grown := growing(room, token)
			if i%3 == 0 || grown == 0 || !kai.Presses(room, grown, "Stop") {
				room.Says(kai, "/stop", faketelegram.PostOptions{})
			} else if i%2 == 0 {
				kai.PressesData(room, grown, stopData(room, grown))
			}
			pass(time.Second)
			select {
			case at := <-model.ended:
				if took := at.Sub(began); took > time.Second {
					t.Errorf("%s: the call of the model ended %s after the press", token, took)
				}
			default:
			}
			w.settle()
			before := said(room, token)
			pass(20 * time.Second)
			w.settle()
			after := said(room, token)
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("%s: something came later: %s", token, diff)
			}
			now := notices(room)
			switch {
			case now == noticed && len(after) == 1 && strings.HasSuffix(after[0], "Page 11 of "+token+", on which nothing happens."):
				whole++
			case now == noticed+1 && len(after) == 0:
				stopped++
			default:
				sent := room.Sent()
				t.Errorf("%s: %d notices more, and of the run people read %q; at last %q and %q", token, now-noticed, after, sent[len(sent)-2].Text, sent[len(sent)-1].Text)
			}
			noticed = now
		}
		t.Logf("%d runs were stopped, %d were over", stopped, whole)
		if stopped < presses/2 || whole == 0 {
			t.Errorf("%d of %d runs were stopped and %d were over, want many and some", stopped, presses, whole)
		}
		w.stop()
	})
}

// growing returns the message of the bot that holds the token; 0: there is none.
func growing(c *faketelegram.Chat, token string) int64 {
	for _, m := range c.Sent() {
		if !m.Deleted && strings.Contains(m.Text, token) {
			return m.ID
		}
	}
	return 0
}

// stopData returns what a press of the button below a message sends; empty: there is none.
func stopData(c *faketelegram.Chat, id int64) string {
	for _, m := range c.Sent() {
		if m.ID == id && len(m.Buttons) > 0 {
			return m.Buttons[0].Data
		}
	}
	return ""
}

// said returns the messages of the bot that hold the token.
func said(c *faketelegram.Chat, token string) (all []string) {
	for _, m := range c.Sent() {
		if !m.Deleted && strings.Contains(m.Text, token) {
			all = append(all, m.Text)
		}
	}
	return all
}

// notices counts the messages that say what a stop has ended.
func notices(c *faketelegram.Chat) (n int) {
	for _, m := range c.Sent() {
		if strings.HasPrefix(m.Text, "Stopped") {
			n++
		}
	}
	return n
}
