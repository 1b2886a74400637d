package activity

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/discord"
	"github.com/trestle-bridge/trestle/adapters/fake"
	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
	"github.com/trestle-bridge/trestle/adapters/fake/faketest"
	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/adapters/httpx"
	"github.com/trestle-bridge/trestle/adapters/slack"
	"github.com/trestle-bridge/trestle/adapters/telegram"
	"github.com/trestle-bridge/trestle/spaces"
)

// An outagePlatform is a real adapter over a fake platform, whose sends fail for a while.
type outagePlatform struct {
	adapter adapters.Adapter
	chats   []string
	texts   func(chat string) []string // of our messages there
	sends   string                     // what the address of a send ends with
	finds   bool                       // whether what arrived can be looked up
	refusal string                     // an error of its own with status 500
	breaks  *sendBreaker
}

// A sendBreaker lets the sends of an adapter fail, or all of its calls.
type sendBreaker struct {
	next  http.RoundTripper
	until time.Time
	all   bool
	sends string
	fail  func(b *sendBreaker, r *http.Request) (*http.Response, error)
	body  string
	hits  atomic.Int64 // sends whose outcome cannot be told
}

func (b *sendBreaker) RoundTrip(r *http.Request) (*http.Response, error) {
	isSend := r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, b.sends)
	if !time.Now().Before(b.until) || !isSend && !b.all {
		return b.next.RoundTrip(r)
	}
	if isSend {
		b.hits.Add(1)
	}
	return b.fail(b, r)
}

// wrote tells what the transport would of a request that was written as far as err says.
func wrote(r *http.Request, err error) {
	if trace := httptrace.ContextClientTrace(r.Context()); trace != nil && trace.WroteRequest != nil {
		trace.WroteRequest(httptrace.WroteRequestInfo{Err: err})
	}
}

// pageOf answers with a status and a body.
func pageOf(status int, body string) func(*sendBreaker, *http.Request) (*http.Response, error) {
	return func(b *sendBreaker, r *http.Request) (*http.Response, error) {
		wrote(r, nil)
		said := body
		if said == "" {
			said = b.body
		}
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(said)), Request: r}, nil
	}
}

// taken has the platform do what it is asked before the call fails.
func taken(fail func(*sendBreaker, *http.Request) (*http.Response, error)) func(*sendBreaker, *http.Request) (*http.Response, error) {
	return func(b *sendBreaker, r *http.Request) (*http.Response, error) {
		if resp, err := b.next.RoundTrip(r); err == nil {
			_ = resp.Body.Close()
		}
		return fail(b, r)
	}
}

func cut(_ *sendBreaker, r *http.Request) (*http.Response, error) {
	wrote(r, nil)
	return nil, io.ErrUnexpectedEOF
}

// sendOutcomes are the ways in which a send fails during an outage.
var sendOutcomes = []struct {
	name    string
	unknown bool // it cannot be told whether the platform did it
	fail    func(*sendBreaker, *http.Request) (*http.Response, error)
}{
	{"refused dial", false, func(*sendBreaker, *http.Request) (*http.Response, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	}},
	{"failed handshake", false, func(*sendBreaker, *http.Request) (*http.Response, error) {
		return nil, errors.New("tls: failed to verify certificate")
	}},
	{"body not written", false, func(_ *sendBreaker, r *http.Request) (*http.Response, error) {
		wrote(r, io.ErrClosedPipe)
		return nil, io.ErrClosedPipe
	}},
	{"its own 500", false, pageOf(500, "")},
	{"503 page", false, pageOf(503, "<html>Service Unavailable</html>")},
	{"502 page", true, pageOf(502, "<html>Bad Gateway</html>")},
	{"504 page", true, pageOf(504, "<html>Gateway Timeout</html>")},
	{"500 page", true, pageOf(500, "<html>Oops</html>")},
	{"cut", true, cut},
	{"502 page, but done", true, taken(pageOf(502, "<html>Bad Gateway</html>"))},
	{"cut, but done", true, taken(cut)},
}

// outagePlatforms start a fake platform each.
var outagePlatforms = map[string]func(t *testing.T) *outagePlatform{
	"telegram": func(t *testing.T) *outagePlatform {
		t.Helper()
		s := faketelegram.NewTelegram(faketelegram.Options{})
		bot := s.AddBot(faketelegram.BotProfile{Token: "77:AAF-very-secret", Name: "Ada", Username: "ada_bot"})
		p := &outagePlatform{sends: "/sendMessage", refusal: `{"ok":false,"error_code":500,"description":"Internal Server Error"}`}
		chats := map[string]*faketelegram.Chat{}
		for _, name := range []string{"Maya", "Kai"} {
			c := bot.Direct(s.AddPerson(faketelegram.UserProfile{Name: name}))
			p.chats = append(p.chats, fmt.Sprint(c.ID()))
			chats[fmt.Sprint(c.ID())] = c
		}
		p.texts = func(chat string) (all []string) {
			for _, m := range chats[chat].Sent() {
				all = append(all, m.Text)
			}
			return all
		}
		client := p.connect(faketest.Serve(t, new(fake.MemoryNetwork), "telegram.test", s.Serve))
		p.adapter, _ = telegram.New(telegram.Options{Token: "77:AAF-very-secret", APIURL: "http://telegram.test", HTTPClient: client})
		return p
	},
	"slack": func(t *testing.T) *outagePlatform {
		t.Helper()
		network := new(fake.MemoryNetwork)
		client := network.Client()
		s := fakeslack.New(fakeslack.Options{Client: client})
		app := s.AddApp(fakeslack.AppProfile{Name: "Ada", Handle: "ada", BotToken: "xoxb-very-secret-bot", AppToken: "xapp-very-secret-app"})
		maya := s.AddPerson(fakeslack.UserProfile{Name: "Maya", Handle: "maya"})
		p := &outagePlatform{sends: "/chat.postMessage", finds: true, refusal: `{"ok":false,"error":"service_unavailable"}`}
		for _, name := range []string{"ops", "food"} {
			c := s.NewChannel(name, maya)
			c.Invites(maya, app)
			p.chats = append(p.chats, c.ID)
		}
		p.texts = func(chat string) (all []string) {
			c, _ := s.Channel(chat)
			for _, m := range c.Sent() {
				all = append(all, m.Text)
			}
			return all
		}
		host := faketest.Serve(t, network, "slack.test", s.Serve)
		t.Cleanup(client.CloseIdleConnections)
		p.adapter, _ = slack.New(slack.Options{BotToken: "xoxb-very-secret-bot", AppToken: "xapp-very-secret-app", APIURL: "http://slack.test", HTTPClient: p.connect(host)})
		return p
	},
	"discord": func(t *testing.T) *outagePlatform {
		t.Helper()
		s := fakediscord.New(fakediscord.Options{})
		const token = "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.very-secret-words-of-a-token"
		bot := s.AddBot(fakediscord.BotProfile{Token: token, Name: "ada"})
		maya := s.AddPerson(fakediscord.UserProfile{Name: "Maya", Username: "maya"})
		guild := s.NewGuild("Family", maya)
		p := &outagePlatform{sends: "/messages", finds: true, refusal: `{"message":"500: Internal Server Error","code":0}`}
		chats := map[string]*fakediscord.GuildChannel{}
		for _, name := range []string{"general", "food"} {
			c := guild.NewChannel(name, fakediscord.TextChannel)
			p.chats = append(p.chats, c.ID.String())
			chats[c.ID.String()] = c
		}
		guild.Adds(bot, 0)
		p.texts = func(chat string) (all []string) {
			for _, m := range chats[chat].Sent(bot) {
				all = append(all, m.Content)
			}
			return all
		}
		client := p.connect(faketest.Serve(t, new(fake.MemoryNetwork), "discord.test", s.Serve))
		p.adapter, _ = discord.New(discord.Options{Token: token, APIURL: "http://discord.test", HTTPClient: client})
		return p
	},
}

// connect returns the adapter's HTTP client.
func (p *outagePlatform) connect(h *faketest.FakeHost) *http.Client {
	p.breaks = &sendBreaker{next: h.Client.Transport, sends: p.sends, body: p.refusal}
	return &http.Client{Transport: httpx.RoundTripFunc(p.breaks.RoundTrip)}
}

// No answer is lost in an outage, however long it is and however a send fails in it,
// unless the policy holds what cannot be told; and there are no more copies than
// sends that cannot be told, and one.
func TestOutageLosesNoAnswer(t *testing.T) {
	const each = 2 // messages to a chat
	for name, serve := range outagePlatforms {
		for _, o := range sendOutcomes {
			for _, length := range []time.Duration{time.Second, 10 * time.Second, time.Minute, 20 * time.Minute} {
				for _, policy := range []spaces.UnknownOutcomePolicy{spaces.ResendOnce, spaces.Hold} {
					for _, all := range []bool{false, true} {
						if all && length != time.Minute { // what else fails matters little
							continue
						}
						t.Run(fmt.Sprintf("%s/%s/%s/%s/all=%t", name, o.name, length, policy, all), func(t *testing.T) {
							synctest.Test(t, func(t *testing.T) {
								p := serve(t)
								if _, err := p.adapter.Connect(t.Context()); err != nil {
									t.Fatal(err)
								}
								p.breaks.until, p.breaks.all, p.breaks.fail = time.Now().Add(length), all, o.fail
								r := newRecord()
								for c, chat := range p.chats {
									for n := range each {
										id := fmt.Sprintf("c%d-m%d", c, n)
										r.put(spaces.Action{ID: spaces.ActionID(id), Chat: chat, Text: id, Policy: policy, Created: time.Now(), Expires: time.Now().Add(time.Hour)})
									}
								}
								sendOutage(t, p, r)
								after(time.Hour)
								checkOutage(t, p, r, o.unknown, policy)
							})
						})
					}
				}
			}
		}
	}
}

// sendOutage runs an egress over p until the test ends.
func sendOutage(t *testing.T, p *outagePlatform, r *record) *Egress {
	t.Helper()
	e := NewEgress(ours, p.adapter, r, NewSpaceMapping(r, r), EgressOptions{})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }() // waited for by the cleanup
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return e
}

// checkOutage checks what an outage has left.
func checkOutage(t *testing.T, p *outagePlatform, r *record, unknown bool, policy spaces.UnknownOutcomePolicy) {
	t.Helper()
	copies, untold := map[string]int{}, 0
	if unknown {
		untold = int(p.breaks.hits.Load())
	}
	for _, chat := range p.chats {
		for _, text := range p.texts(chat) {
			copies[text]++
		}
	}
	held := unknown && policy == spaces.Hold && !p.finds
	extra := 0
	for _, a := range r.actions {
		n := copies[string(a.ID)]
		extra += max(n-1, 0)
		switch {
		case held && a.State == spaces.ActionUnknown:
			if f := r.failures[a.ID]; f.Code != "unknown" || f.Reason == "" {
				t.Errorf("%s: people are told %q (%s)", a.ID, f.Reason, f.Code)
			}
		case a.State != spaces.ActionSent || n == 0:
			t.Errorf("%s ends %s with %d copies", a.ID, a.State, n)
		}
		if (p.finds || held || !unknown) && n > 1 {
			t.Errorf("%s is there %d times", a.ID, n)
		}
	}
	if extra > untold {
		t.Errorf("%d second copies, and %d sends that cannot be told", extra, untold)
	}
}

// An account whose sends have failed for half a minute is degraded, and says what the
// platform answered, until one arrives.
func TestAccountIsDegradedWhileItsSendsFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		p := &platform{script: func(c call) error {
			if c.Op == "send" && time.Since(began) < 2*time.Minute {
				return &adapters.Error{Kind: adapters.NotSent, Op: "send", Status: 500, Err: errors.New("500 Internal Server Error")}
			}
			return nil
		}}
		r := newRecord()
		r.put(spaces.Action{ID: "x", Chat: "c", Text: "hello"})
		e := send(t, p, r, EgressOptions{})
		after(20 * time.Second)
		if said := e.Failing(); said != "" {
			t.Errorf("degraded after 20 s: %q", said)
		}
		after(30 * time.Second)
		if said := e.Failing(); !strings.Contains(said, "500 Internal Server Error") || strings.Contains(said, "reached (") {
			t.Errorf("after 50 s it says %q", said)
		}
		after(3 * time.Minute)
		if said := e.Failing(); said != "" || r.action("x").State != spaces.ActionSent {
			t.Errorf("afterwards it says %q, and the message is %s", said, r.action("x").State)
		}
	})
}

// A second copy waits until the platform has answered something, by which it is known to be
// there again.
func TestSecondCopyWaitsForAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		p := &platform{script: func(c call) error {
			if time.Since(began) < 5*time.Minute {
				return refusal(adapters.Unknown)
			}
			return nil
		}}
		r := newRecord()
		r.put(spaces.Action{ID: "x", Chat: "c", Text: "hello", Expires: began.Add(time.Hour)})
		send(t, p, r, EgressOptions{})
		after(10 * time.Minute)
		sends := 0
		for _, c := range p.attempted() {
			if c.Op == "send" {
				sends++
			}
		}
		if a := r.action("x"); a.State != spaces.ActionSent || sends != 2 {
			t.Errorf("%s after %d sends, want sent after two", a.State, sends)
		}
	})
}

// What may have arrived and has run out of time is unknown, not expired.
func TestUnknownSendThatExpiresStaysUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &platform{script: func(call) error { return refusal(adapters.Unknown) }}
		r := newRecord()
		r.put(spaces.Action{ID: "x", Chat: "c", Text: "hello", Expires: time.Now().Add(10 * time.Minute)})
		send(t, p, r, EgressOptions{})
		after(time.Hour)
		if a := r.action("x"); a.State != spaces.ActionUnknown {
			t.Errorf("it ends %s, want unknown", a.State)
		}
	})
}
