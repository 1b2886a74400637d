package telegram_test

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/adapters/fake"
	"github.com/trestle-bridge/trestle/adapters/fake/telegram"
)

// answer is what a bot gets.
type answer struct {
	Status      int `json:"-"`
	OK          bool
	Result      json.RawMessage
	Code        int `json:"error_code"`
	Description string
	Parameters  struct {
		RetryAfter int   `json:"retry_after"`
		MigrateTo  int64 `json:"migrate_to_chat_id"`
	}
}

// message is the part of a message the tests look at.
type message struct {
	ID       int64 `json:"message_id"`
	Thread   int64 `json:"message_thread_id"`
	IsTopic  bool  `json:"is_topic_message"`
	Date     int64
	EditDate int64 `json:"edit_date"`
	Text     string
	Entities []telegram.TextEntity
	ReplyTo  *message `json:"reply_to_message"`
	Chat     struct {
		ID   int64
		Type string
	}
	From struct {
		ID    int64
		IsBot bool `json:"is_bot"`
	}
	SenderChat   *struct{ ID int64 }    `json:"sender_chat"`
	NewMembers   []struct{ ID int64 }   `json:"new_chat_members"`
	TopicCreated *struct{ Name string } `json:"forum_topic_created"`
	MigrateTo    int64                  `json:"migrate_to_chat_id"`
	MigrateFrom  int64                  `json:"migrate_from_chat_id"`
	Document     *struct {
		FileID string `json:"file_id"`
	}
	Caption string
}

type update struct {
	ID       int64 `json:"update_id"`
	Message  *message
	Edited   *message `json:"edited_message"`
	Post     *message `json:"channel_post"`
	MyMember *struct {
		New struct{ Status string } `json:"new_chat_member"`
	} `json:"my_chat_member"`
	Reaction *struct {
		Message  int64                    `json:"message_id"`
		Old, New []struct{ Emoji string } `json:"-"`
		NewList  []struct{ Emoji string } `json:"new_reaction"`
	} `json:"message_reaction"`
}

// client is a bot in a few lines: a foreign view of the fake.
type client struct {
	http  *http.Client
	base  string
	token string
}

type fields map[string]string

// try makes one call and returns the transport's error.
func (c client) try(ctx context.Context, method string, f fields) (answer, error) {
	form := url.Values{}
	for k, v := range f {
		form.Set(k, v)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/bot"+c.token+"/"+method, nil)
	if err != nil {
		return answer{}, err
	}
	req.URL.RawQuery = form.Encode()
	return c.do(req)
}

func (c client) do(req *http.Request) (answer, error) {
	res, err := c.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return answer{}, err
	}
	a := answer{Status: res.StatusCode}
	return a, json.Unmarshal(b, &a)
}

func (c client) call(t *testing.T, method string, f fields) answer {
	t.Helper()
	a, err := c.try(t.Context(), method, f)
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	return a
}

// must makes a call that has to succeed and decodes its result into v.
func (c client) must(t *testing.T, v any, method string, f fields) {
	t.Helper()
	a := c.call(t, method, f)
	if !a.OK {
		t.Fatalf("%s: %d %s", method, a.Code, a.Description)
	}
	if err := json.Unmarshal(a.Result, v); err != nil {
		t.Fatalf("%s: %v in %s", method, err, a.Result)
	}
}

func (c client) send(t *testing.T, chat int64, text string, more fields) message {
	t.Helper()
	f := fields{"chat_id": id(chat), "text": text}
	maps.Copy(f, more)
	var m message
	c.must(t, &m, "sendMessage", f)
	return m
}

func (c client) poll(t *testing.T, offset int64, more fields) []update {
	t.Helper()
	f := fields{"offset": id(offset), "allowed_updates": `["message","edited_message","channel_post","my_chat_member","chat_member","message_reaction"]`}
	maps.Copy(f, more)
	var us []update
	c.must(t, &us, "getUpdates", f)
	return us
}

func id(n int64) string { return strconv.FormatInt(n, 10) }

// world is one bot and one person on a platform in memory, inside a bubble.
type world struct {
	*telegram.Server
	bot  *telegram.BotUser
	maya *telegram.HumanUser
	net  *fake.MemoryNetwork
	client
}

func newWorld(t *testing.T, o telegram.Options) world {
	t.Helper()
	w := world{Server: telegram.NewTelegram(o), net: new(fake.MemoryNetwork)}
	w.bot = w.AddBot(telegram.BotProfile{Token: "77:secret", Name: "Ada", Username: "ada_bot"})
	w.maya = w.AddPerson(telegram.UserProfile{Name: "Maya", Username: "maya"})
	ln, err := w.net.Listen("telegram.test")
	if err != nil {
		t.Fatal(err)
	}
	serve(t, func(ctx context.Context) error { return w.Serve(ctx, ln) })
	w.client = client{http: w.net.Client(), base: "http://telegram.test", token: "77:secret"}
	t.Cleanup(w.http.CloseIdleConnections)
	return w
}

// serve runs a server until the test ends, and fails it when the server ends otherwise.
func serve(t *testing.T, run func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
}

// pass lets that much of the bubble's time go by.
func pass(d time.Duration) { <-time.After(d) }
