//go:build faultinject

package crashtest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// botToken is the account of the program under test.
const botToken = "7001:fault-harness"

// A world is everything outside the program: a platform with people and rooms,
// and a model endpoint.
type world struct {
	telegram *faketelegram.Server
	model    *llmtest.Server
	bot      *faketelegram.BotUser
	forum    *faketelegram.Chat
	places   []place
	api      string // URL of the platform
	base     string // URL of the endpoint

	mu    sync.Mutex // guards what follows
	rng   *rand.Rand
	said  []saying
	files bool // every third message carries a file
}

// A place is where a person writes: a direct chat, or a topic of the forum.
type place struct {
	chat   *faketelegram.Chat
	thread int64
	who    *faketelegram.HumanUser
}

// A saying is one message of a person.
type saying struct {
	token   string
	chat    int64
	thread  int64
	message int64
	at      time.Time
}

// token is what makes a message and its answer recognisable.
var token = regexp.MustCompile(`\bzk[0-9]{5}\b`)

// longMark in a message asks for an answer that has to be split.
const longMark = "at length"

// newWorld opens a world with directs direct chats and a forum of two topics. It
// ends with the test.
func newWorld(t *testing.T, seed uint64, directs int) *world {
	t.Helper()
	w := &world{
		telegram: faketelegram.NewTelegram(faketelegram.Options{Seed: seed}),
		model:    &llmtest.Server{Model: teller{}},
		rng:      rand.New(rand.NewPCG(seed, 1)),
	}
	w.bot = w.telegram.AddBot(faketelegram.BotProfile{Token: botToken, Name: "Ada", Username: "ada_bot"})
	host := w.telegram.AddPerson(faketelegram.UserProfile{Name: "Host"})
	w.forum = w.telegram.NewForum("Workshop", host)
	for n := range 2 {
		w.places = append(w.places, place{w.forum, w.forum.NewTopic(host, fmt.Sprintf("Bench %d", n+1)), host})
	}
	w.forum.Adds(host, w.bot)
	for n := range directs {
		p := w.telegram.AddPerson(faketelegram.UserProfile{Name: fmt.Sprintf("Guest %d", n+1)})
		w.places = append(w.places, place{w.bot.Direct(p), 0, p})
	}
	w.api = w.serve(t, w.telegram.Serve)
	w.base = w.serve(t, w.model.Serve) + "/v1"
	return w
}

// serve runs a server on loopback until the test is over and returns its URL.
func (w *world) serve(t *testing.T, serve func(context.Context, net.Listener) error) string {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	testutil.OK(t, err)
	var serving sync.WaitGroup
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	serving.Go(func() {
		if err := serve(ctx, ln); err != nil {
			t.Errorf("server on %s: %v", ln.Addr(), err)
		}
	})
	t.Cleanup(func() {
		stop()
		serving.Wait()
	})
	return "http://" + ln.Addr().String()
}

// says posts a message of a person at a random place; one message in three asks for a
// long answer.
func (w *world) says() {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.places[w.rng.IntN(len(w.places))]
	s := saying{token: fmt.Sprintf("zk%05d", len(w.said)+1), chat: p.chat.ID(), thread: p.thread, at: time.Now()}
	text := "about " + s.token
	if w.rng.IntN(3) == 0 {
		text += " " + longMark
	}
	with := faketelegram.PostOptions{Thread: p.thread}
	if w.files && len(w.said)%3 == 0 {
		with.File = &faketelegram.SharedFile{Kind: "document", Name: "notes.txt", Data: []byte("bytes of " + s.token)}
	}
	s.message = p.chat.Says(p.who, text, with)
	w.said = append(w.said, s)
}

// sayings returns what people said so far, oldest first.
func (w *world) sayings() []saying {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.said)
}

// chats returns every chat once.
func (w *world) chats() []*faketelegram.Chat {
	all := []*faketelegram.Chat{w.forum}
	for _, p := range w.places {
		if p.chat != w.forum {
			all = append(all, p.chat)
		}
	}
	return all
}

// unanswered returns the tokens that no message of the bot repeats yet.
func (w *world) unanswered() []string {
	seen := map[string]bool{}
	for _, c := range w.chats() {
		for _, m := range c.Sent() {
			for _, tk := range token.FindAllString(m.Text, -1) {
				seen[tk] = true
			}
		}
	}
	var missing []string
	for _, s := range w.sayings() {
		if !seen[s.token] {
			missing = append(missing, s.token)
		}
	}
	return missing
}

// echo has the platform tell the bot everything the bot said, as platforms with
// echoes do, and returns how many echoes that makes.
func (w *world) echo(t *testing.T) int {
	t.Helper()
	n := 0
	for _, c := range w.chats() {
		for _, m := range c.Sent() {
			type user struct {
				ID    int64  `json:"id"`
				IsBot bool   `json:"is_bot"`
				Name  string `json:"first_name"`
			}
			type chat struct {
				ID   int64  `json:"id"`
				Type string `json:"type"`
			}
			kind := "private"
			if c == w.forum {
				kind = "supergroup"
			}
			update, err := json.Marshal(map[string]any{"message": map[string]any{
				"message_id": m.ID, "date": m.At.Unix(), "text": m.Text, "message_thread_id": m.Thread,
				"from": user{w.bot.ID(), true, "Ada"}, "chat": chat{c.ID(), kind},
			}})
			testutil.OK(t, err)
			if _, err := w.bot.Inject(update); err != nil {
				t.Fatal(err)
			}
			n++
		}
	}
	return n
}

// await returns once cond holds, asking every few milliseconds, and false when
// ctx ends before.
func await(ctx context.Context, cond func() bool) bool {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
