package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trestle-bridge/trestle/adapters/fake"
	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
)

// worldOptions are what differs between rows.
type worldOptions struct {
	rooms     int  // on each platform
	unasked   bool // no message was posted in any room yet
	ledger    int  // how many calls the platform keeps; negative: none
	keep      int  // how many requests the endpoint keeps; negative: none
	delay     time.Duration
	platforms []string      // default: Telegram
	model     llm.ChatModel // behind the endpoint; default: [responder]
	console   string        // where trestle serves its console; empty: nowhere
	hooks     string        // where it takes calls of platforms; empty: nowhere
	config    string        // a line more of its configuration
}

// A world is the platforms with their rooms and the model endpoint.
type world struct {
	telegram  *faketelegram.Server // nil where it is not among the platforms
	platforms []*platform
	model     *llmtest.Server
	rooms     []*room
	base      string
	console   string // of its options, as hooks is
	hooks     string
	stop      func() error

	sent map[string]chan arrival // by chat; it does not change once the world is open
}

// A room is a direct chat with a person who writes in it.
type room struct {
	on    string             // its platform
	chat  *faketelegram.Chat // on Telegram
	speak func(text string)  // posts it as that person
	got   chan arrival       // one for each message of the bot
	said  int
}

// An arrival is one message of the bot that reached the platform.
type arrival struct {
	at   time.Time
	text string
}

// newWorld opens a world. The caller calls stop.
func newWorld(ctx context.Context, o worldOptions) (*world, error) {
	if o.model == nil {
		o.model = responder{}
	}
	w := &world{
		model: &llmtest.Server{Model: o.model, Keep: o.keep},
		sent:  map[string]chan arrival{}, console: o.console, hooks: o.hooks,
	}
	if o.delay > 0 {
		w.model.Delay = func(llm.ModelRequest) time.Duration { return o.delay }
	}
	if len(o.platforms) == 0 {
		o.platforms = []string{onTelegram}
	}
	for _, name := range o.platforms {
		w.platforms = append(w.platforms, w.open(name, o))
	}
	return w, w.serve(ctx)
}

// serve opens the servers of the platforms and of the model.
func (w *world) serve(ctx context.Context) error {
	serving, stop := context.WithCancel(ctx)
	var all errgroup.Group
	w.stop = func() error {
		stop()
		return all.Wait()
	}
	listen := func(serve func(context.Context, net.Listener) error) (string, error) {
		ln, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return "", errors.Join(err, w.stop())
		}
		all.Go(func() error { return serve(serving, ln) })
		return "http://" + ln.Addr().String(), nil
	}
	base, err := listen(w.model.Serve)
	if err != nil {
		return err
	}
	w.base = base + "/v1"
	for _, p := range w.platforms {
		if p.url, err = listen(func(ctx context.Context, ln net.Listener) error { return fake.ServeUntilDone(ctx, ln, p) }); err != nil {
			return err
		}
	}
	return nil
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
	r.speak(question(r.said))
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
