package local_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/adaptertest"
	"github.com/trestle-bridge/trestle/adapters/local"
)

// DELIVERY 2.6.
func TestRoomsPassTheSuite(t *testing.T) { adaptertest.Run(t, openRig) }

var maya = adapters.Person{ID: "maya", Kind: adapters.Human, Name: "Maya"}

// counter mints ids that grow.
func counter() func() string {
	var mu sync.Mutex
	n := 0
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		n++
		return fmt.Sprintf("%08d", n)
	}
}

// crowd is the people of the rooms: patient, each repeating a line until it is
// taken, as a person at a terminal does. They do one thing after the other.
type crowd struct {
	rooms *local.RoomAdapter
	newID func() string
	deeds chan func(context.Context) error

	mu    sync.Mutex // guards what follows
	shown map[string][]adaptertest.SentMessage
	typed map[string]bool
	told  map[string][]string // answers to presses, by chat
	seen  map[string][]string // reactions, by message
}

func openRig(t *testing.T) adaptertest.SuiteFixture {
	t.Helper()
	newID := counter()
	opts := local.Options{NewID: newID, Handle: "ada"}
	c := &crowd{
		rooms: local.New(opts), newID: newID, deeds: make(chan func(context.Context) error, 1000),
		shown: map[string][]adaptertest.SentMessage{}, typed: map[string]bool{}, told: map[string][]string{}, seen: map[string][]string{},
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var wg sync.WaitGroup
	t.Cleanup(func() { cancel(); wg.Wait() })
	for _, chat := range []string{"lobby", "kitchen"} {
		c.rooms.Open(adapters.Chat{ID: chat, Kind: adapters.Group, Title: chat})
		sub, err := c.rooms.Subscribe(chat, 1000)
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() { c.watch(ctx, chat, sub) })
	}
	wg.Go(func() { c.persist(ctx) })
	return adaptertest.SuiteFixture{
		Adapter: c.rooms,
		Restart: func() adapters.Adapter { return c.rooms }, // the process is the platform
		Chat:    "lobby", Other: "kitchen", Thread: "thread 1", Mention: "@ada",
		Say: func(l adaptertest.HumanLine) string {
			line := local.HumanLine{ID: newID(), Chat: l.Chat, Thread: l.Thread, ReplyTo: l.ReplyTo, Text: l.Text, ToUs: c.ours(l.ReplyTo)}
			c.do(func(ctx context.Context) error { _, err := c.rooms.Say(ctx, maya, line); return err })
			return line.ID
		},
		Edit: func(chat, message, text string) {
			c.do(func(ctx context.Context) error { return c.rooms.Correct(ctx, maya, chat, message, text) })
		},
		EditUnseen: func(chat, text string) string {
			c.do(func(ctx context.Context) error { return c.rooms.Correct(ctx, maya, chat, "unseen", text) })
			return "unseen"
		},
		Delete: func(chat, message string) {
			c.do(func(ctx context.Context) error { return c.rooms.Withdraw(ctx, maya, chat, message) })
		},
		React: c.react,
		Comes: func(chat string) string {
			c.do(func(ctx context.Context) error { return c.rooms.Enter(ctx, maya, chat) })
			return maya.ID
		},
		Goes: func(chat string) string {
			c.do(func(ctx context.Context) error { return c.rooms.Leave(ctx, maya, chat) })
			return maya.ID
		},
		DeleteUnseen: func(chat string) string {
			c.do(func(ctx context.Context) error { return c.rooms.Withdraw(ctx, maya, chat, "unseen") })
			return "unseen"
		},
		Press: func(chat, message, label string) {
			synctest.Wait()
			for _, b := range c.rooms.Offers(chat)[message] {
				if b.Label == label {
					c.do(func(ctx context.Context) error { return c.press(ctx, chat, message, b.Value) })
				}
			}
		},
		Told: func(chat string) []string {
			synctest.Wait()
			c.mu.Lock()
			defer c.mu.Unlock()
			return slices.Clone(c.told[chat])
		},
		Sent: c.sent,
		Typed: func(chat string) bool {
			synctest.Wait()
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.typed[chat]
		},
	}
}

// do queues a deed. It is tried until the rooms take it.
func (c *crowd) do(deed func(context.Context) error) { c.deeds <- deed }

func (c *crowd) persist(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case deed := <-c.deeds:
			for deed(ctx) != nil && ctx.Err() == nil {
				<-time.After(time.Second)
			}
		}
	}
}

func (c *crowd) react(chat, message string, emoji ...string) {
	before := c.seen[message]
	c.seen[message] = emoji
	c.do(func(ctx context.Context) error { return c.rooms.Respond(ctx, maya, chat, message, before, emoji) })
}

// press presses a button and keeps what the person is told.
func (c *crowd) press(ctx context.Context, chat, message, value string) error {
	text, err := c.rooms.Press(ctx, maya, chat, message, value)
	if err == nil && text != "" {
		c.mu.Lock()
		c.told[chat] = append(c.told[chat], text)
		c.mu.Unlock()
	}
	return err
}

// ours reports whether the message is one we posted: people see that, so an
// answer to it is marked by the terminal.
func (c *crowd) ours(message string) bool {
	return slices.ContainsFunc(c.sent("lobby"), func(m adaptertest.SentMessage) bool { return m.Message == message })
}

func (c *crowd) sent(chat string) []adaptertest.SentMessage {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.shown[chat])
}

// watch keeps what a watcher of the room has before the eyes.
func (c *crowd) watch(ctx context.Context, chat string, sub *local.RoomSubscription) {
	defer sub.Close()
	for {
		next, err := sub.Next(ctx)
		if err != nil {
			return
		}
		c.mu.Lock()
		of := func(message string) *adaptertest.SentMessage {
			i := slices.IndexFunc(c.shown[chat], func(m adaptertest.SentMessage) bool { return m.Message == message })
			if i < 0 {
				return new(adaptertest.SentMessage)
			}
			return &c.shown[chat][i]
		}
		switch s := next.(type) {
		case local.MessagePosted:
			c.shown[chat] = append(c.shown[chat], adaptertest.SentMessage{
				Message: s.Message, Thread: s.Thread, ReplyTo: s.ReplyTo, Text: plain(s.Text), Buttons: labels(s.Choices),
			})
		case local.MessageEdited:
			of(s.Message).Text, of(s.Message).Buttons = plain(s.Text), labels(s.Choices)
		case local.MessageDeleted:
			of(s.Message).Deleted = true
		case local.ReactionSet:
			of(s.Message).Reactions = slices.DeleteFunc([]string{s.Emoji}, func(e string) bool { return e == "" })
		case local.TypingShown:
			c.typed[chat] = true
		case local.LineSaid, local.DraftShown, local.EventsDropped:
		}
		c.mu.Unlock()
	}
}

// labels returns what buttons say.
func labels(choices []adapters.ChoiceButton) (all []string) {
	for _, c := range choices {
		all = append(all, c.Label)
	}
	return all
}

// plain takes the few marks out that the suite uses; a terminal renders them.
func plain(s string) string {
	s = strings.Replace(s, "```go", "", 1)
	s = strings.ReplaceAll(s, "](https://example.com/?a=1&b=2)", "]")
	return strings.NewReplacer("**", "", "*", "").Replace(s)
}
