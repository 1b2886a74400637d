package telegram_test

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/fake"
	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/adapters/telegram"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

const token = "77:AAF-words"

// world is the fake Telegram with one bot of ours, inside a bubble.
type world struct {
	*faketelegram.Server
	bot    *faketelegram.BotUser
	kai    *faketelegram.HumanUser
	client *telegram.Client
	http   *http.Client
	inbox  inbox
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// inbox keeps what was received.
type inbox struct {
	mu      sync.Mutex // guards what follows
	updates []adapters.Update
	cursor  []byte
}

func (in *inbox) Accept(_ context.Context, b adapters.UpdateBatch) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.updates = append(in.updates, b.Updates...)
	in.cursor = b.Cursor
	return nil
}

func (*inbox) Alive(time.Time) {}

// take returns what has come since it was last asked.
func (in *inbox) take() []adapters.Update {
	synctest.Wait()
	in.mu.Lock()
	defer in.mu.Unlock()
	out := in.updates
	in.updates = nil
	return out
}

// open starts the fake and, when receiving, the adapter.
func open(t *testing.T) *world {
	t.Helper()
	return openOn(t, faketelegram.Options{})
}

// openOn is open with a fake of one's choice.
func openOn(t *testing.T, o faketelegram.Options) *world {
	t.Helper()
	var network fake.MemoryNetwork
	ln, err := network.Listen("telegram.test")
	testutil.OK(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	w := &world{Server: faketelegram.NewTelegram(o), http: network.Client(), cancel: cancel}
	w.bot = w.AddBot(faketelegram.BotProfile{Token: token, Name: "Ada", Username: "ada_bot"})
	w.kai = w.AddPerson(faketelegram.UserProfile{Name: "Kai", Username: "kai"})
	w.client, err = telegram.New(telegram.Options{Token: token, APIURL: "http://telegram.test", HTTPClient: w.http})
	testutil.OK(t, err)
	w.wg.Go(func() {
		if err := w.Serve(ctx, ln); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(w.close)
	if _, err := w.client.Connect(ctx); err != nil {
		t.Fatal(err)
	}
	w.wg.Go(func() {
		if err := w.client.Receive(ctx, nil, &w.inbox); err != nil {
			t.Error(err)
		}
	})
	synctest.Wait()
	return w
}

func (w *world) close() {
	w.cancel()
	w.http.CloseIdleConnections()
	w.wg.Wait()
}

// message returns the only update as a message.
func message(t *testing.T, updates []adapters.Update) (adapters.Update, adapters.IncomingMessage) {
	t.Helper()
	for _, u := range updates {
		if m, ok := u.Body.(adapters.IncomingMessage); ok {
			return u, m
		}
	}
	t.Fatalf("no message among %+v", updates)
	return adapters.Update{}, adapters.IncomingMessage{}
}

// SEQ-97, SEQ-98, R-23: one conversation through every ability.
func TestConversationWithTheFake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		forum := w.NewForum("Work", w.kai)
		forum.Adds(w.kai, w.bot)
		forum.Promotes(w.kai, w.bot)
		food := forum.NewTopic(w.kai, "Food")
		w.inbox.take()

		forum.Says(w.kai, "@ada_bot what is for *lunch*?", faketelegram.PostOptions{Thread: food})
		u, m := message(t, w.inbox.take())
		if u.Thread.ID != strconv.FormatInt(food, 10) || u.Thread.Title != "Food" || !m.ToUs || u.From.Handle != "kai" {
			t.Errorf("got %+v", u)
		}

		parts := w.client.Split("**Soup**, @Kai!\n\n```go\n" + strings.Repeat("eat(\"soup\") // & <bread>\n", 300) + "```")
		var receipts []adapters.Receipt
		for _, part := range parts {
			r, err := w.client.Send(t.Context(), adapters.OutgoingMessage{
				Chat: u.Chat.ID, Thread: u.Thread.ID, ReplyTo: m.ID, Text: part,
				Mentions: []adapters.Person{{ID: strconv.FormatInt(w.kai.ID, 10), Name: "Kai"}},
			})
			testutil.OK(t, err)
			receipts = append(receipts, r)
		}
		sent := forum.Sent()
		if len(sent) != len(parts) || len(parts) < 2 {
			t.Fatalf("sent %d messages in %d parts", len(sent), len(parts))
		}
		var kinds []string
		for _, e := range sent[0].Entities {
			kinds = append(kinds, e.Type)
		}
		testutil.Same(t, "kinds", []string{"bold", "text_mention", "pre"}, kinds)
		if got := sent[0]; got.Thread != food || strconv.FormatInt(got.ReplyTo, 10) != m.ID || !got.NoPreview || !strings.HasPrefix(got.Text, "Soup, @Kai!") {
			t.Errorf("sent %+v", got)
		}

		stew := w.client.Split("*Stew*")[0]
		first := adapters.MessageRef{Chat: u.Chat.ID, Thread: u.Thread.ID, Message: receipts[0].Message}
		last := adapters.MessageRef{Chat: u.Chat.ID, Message: receipts[len(receipts)-1].Message}
		for _, call := range []error{
			w.client.Edit(t.Context(), first, stew),
			w.client.Edit(t.Context(), first, stew), // the same once more is success
			w.client.Delete(t.Context(), last),
			w.client.Delete(t.Context(), last), // gone already is success
			w.client.React(t.Context(), adapters.MessageRef{Chat: u.Chat.ID, Message: m.ID}, "👍"),
			w.client.Typing(t.Context(), adapters.MessageRef{Chat: u.Chat.ID, Thread: u.Thread.ID}),
		} {
			if call != nil {
				t.Error(call)
			}
		}
		if got := forum.Sent()[0]; got.Text != "Stew" {
			t.Errorf("edited to %q", got.Text)
		}
	})
}

// DELIVERY F23, F25: repeated and renumbered updates lose nothing, and repeats
// have the key they had.
func TestDisorderLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		direct := w.bot.Direct(w.kai)
		direct.Says(w.kai, "one", faketelegram.PostOptions{})
		direct.Says(w.kai, "two", faketelegram.PostOptions{})
		before := w.inbox.take()
		w.bot.Redeliver(2)
		direct.Says(w.kai, "three", faketelegram.PostOptions{})
		again := w.inbox.take()
		w.bot.RestartUpdateIDs(17)
		direct.Says(w.kai, "four", faketelegram.PostOptions{})
		<-time.After(time.Minute) // the poll that was open knows nothing of the new ids
		renumbered := w.inbox.take()

		said := map[string]string{}
		for _, u := range append(append(before, again...), renumbered...) {
			if m, ok := u.Body.(adapters.IncomingMessage); ok {
				said[u.Key] = m.Text
			}
		}
		var words []string
		for _, text := range said {
			words = append(words, text)
		}
		if len(words) != 4 {
			t.Errorf("keys and words: %v", said)
		}
		if rest := w.bot.Pending(); rest > 1 {
			t.Errorf("%d updates still unconfirmed", rest)
		}
	})
}

// PLATFORMS 1.4: a group that becomes a supergroup is told from both sides.
func TestMigrationMovesTheChat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		group := w.NewGroup("Family", w.kai)
		group.Adds(w.kai, w.bot)
		old := strconv.FormatInt(group.ID(), 10)
		w.inbox.take()
		to := strconv.FormatInt(group.Migrates(w.kai).ID(), 10)
		keys := map[string]bool{}
		for _, u := range w.inbox.take() {
			if m, ok := u.Body.(adapters.ChatMigrated); ok {
				keys[u.Key] = true
				if u.Chat.ID != old || m.To != to {
					t.Errorf("told that %s goes on as %s, want %s as %s", u.Chat.ID, m.To, old, to)
				}
			}
		}
		if len(keys) != 1 {
			t.Errorf("migration has keys %v", keys)
		}
		_, err := w.client.Send(t.Context(), adapters.OutgoingMessage{Chat: old, Text: "hello"})
		if e, ok := err.(*adapters.Error); !ok || e.Kind != adapters.Moved || e.MovedTo != to { //nolint:errorlint // the contract says the type itself
			t.Errorf("got %v, want moved to %s", err, to)
		}
	})
}
