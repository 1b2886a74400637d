package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/adapters/fake"
	"github.com/trestle-bridge/trestle/internal/model"
	"github.com/trestle-bridge/trestle/internal/model/modeltest"
)

// botToken is the account that every subject signs in with.
const botToken = "7002:benchmark"

// worldOptions are what differs between rows.
type worldOptions struct {
	rooms  int
	ledger int // how many calls the platform keeps; negative: none
	keep   int // how many requests the endpoint keeps; negative: none
	delay  time.Duration
}

// A world is the platform with its rooms and the model endpoint.
type world struct {
	telegram *fake.Telegram
	model    *modeltest.Server
	rooms    []*room
	api      string
	base     string
	stop     func() error

	mu   sync.Mutex // guards sent
	sent map[int64]chan arrival
}

// A room is a direct chat with somebody who writes in it.
type room struct {
	chat *fake.Chat
	who  *fake.Person
	got  chan arrival // one for each message of the bot
	said int
}

// An arrival is one message of the bot that reached the platform.
type arrival struct {
	at   time.Time
	text string
}

// newWorld opens a world. The caller calls stop.
func newWorld(ctx context.Context, o worldOptions) (*world, error) {
	w := &world{
		telegram: fake.NewTelegram(fake.Options{Ledger: o.ledger, History: 100}),
		model:    &modeltest.Server{Model: responder{}, Keep: o.keep},
		sent:     map[int64]chan arrival{},
	}
	if o.delay > 0 {
		w.model.Delay = func(model.Request) time.Duration { return o.delay }
	}
	bot := w.telegram.AddBot(fake.BotProfile{Token: botToken, Name: "Ada", Username: "ada_bot"})
	for n := range o.rooms {
		p := w.telegram.AddPerson(fake.Profile{Name: fmt.Sprintf("Guest %d", n+1)})
		r := &room{chat: bot.Direct(p), who: p, got: make(chan arrival, 4096)}
		w.rooms = append(w.rooms, r)
		w.sent[r.chat.ID()] = r.got
	}
	return w, w.serve(ctx)
}

// serve opens both servers.
func (w *world) serve(ctx context.Context) error {
	platform, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	endpoint, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return errors.Join(err, platform.Close())
	}
	w.api, w.base = "http://"+platform.Addr().String(), "http://"+endpoint.Addr().String()+"/v1"
	serving, stop := context.WithCancel(ctx)
	var both sync.WaitGroup
	var failed [2]error
	both.Go(func() { failed[0] = fake.Serve(serving, platform, w) })
	both.Go(func() { failed[1] = w.model.Serve(serving, endpoint) })
	w.stop = func() error {
		stop()
		both.Wait()
		return errors.Join(failed[:]...)
	}
	return nil
}

// ServeHTTP is the platform; it notes when a message arrives and where.
func (w *world) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/sendMessage") {
		w.telegram.ServeHTTP(rw, r)
		return
	}
	at := time.Now()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	answer := &status{ResponseWriter: rw}
	w.telegram.ServeHTTP(answer, r)
	form, err := url.ParseQuery(string(body))
	if err != nil || answer.code >= 300 {
		return
	}
	chat, err := strconv.ParseInt(form.Get("chat_id"), 10, 64)
	if err != nil {
		return // the platform refused it
	}
	w.mu.Lock()
	got := w.sent[chat]
	w.mu.Unlock()
	select {
	case got <- arrival{at, form.Get("text")}:
	default: // nobody waits for so many
	}
}

// status remembers the status of an answer.
type status struct {
	http.ResponseWriter
	code int
}

// WriteHeader notes the code and passes it on.
func (s *status) WriteHeader(code int) {
	s.code = code
	s.ResponseWriter.WriteHeader(code)
}

// Unwrap returns what the answer is written to.
func (s *status) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// say writes the next message of a room and returns when the platform had it.
func (r *room) say() time.Time {
	r.said++
	at := time.Now()
	r.chat.Says(r.who, question(r.said), fake.Said{})
	return at
}

// converse says something and waits for the answer.
func (r *room) converse(ctx context.Context) (time.Duration, error) {
	for len(r.got) > 0 {
		<-r.got
	}
	at := r.say()
	got, err := r.next(ctx)
	return got.at.Sub(at), err
}

// next waits for the next message of the bot.
func (r *room) next(ctx context.Context) (arrival, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, 30*time.Second, errors.New("no answer within 30 s"))
	defer cancel()
	select {
	case a := <-r.got:
		return a, nil
	case <-ctx.Done():
		return arrival{}, context.Cause(ctx)
	}
}
