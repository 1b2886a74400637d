package activity

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

// ours is the account every test speaks through.
var ours = adapters.BotAccount{Platform: "telegram", ID: "99", Name: "Ada", Handle: "ada_bot"}

// A call is one thing the platform was asked to do.
type call struct {
	Op, Chat, Thread, Text, ReplyTo, Start, Message, Key string
	At                                                   time.Time
}

// A platform is an adapter over nothing: it keeps a ledger of what it was asked,
// and does what its script says. Parts are split at the line "---".
type platform struct {
	// script decides what becomes of a call; nil accepts all.
	script func(call) error
	// takes is how long each call lasts.
	takes time.Duration
	every adapters.RateLimit
	// connect decides what Connect says the nth time, from 0.
	connect func(n int) error
	// others is true when the credentials become another account's after the first
	// connection.
	others bool
	// receive is what Receive does; nil waits for ctx.
	receive func(ctx context.Context, n int, cursor []byte, s adapters.UpdateSink) error

	mu       sync.Mutex // guards what follows
	ledger   []call     // accepted
	tries    []call     // all, in order of arrival
	now, top int        // calls at once
	connects int
	receives int
}

var (
	_ adapters.Adapter           = (*platform)(nil)
	_ adapters.MessageEditor     = (*platform)(nil)
	_ adapters.MessageDeleter    = (*platform)(nil)
	_ adapters.ReactionSetter    = (*platform)(nil)
	_ adapters.TypingNotifier    = (*platform)(nil)
	_ adapters.PrivateSender     = (*platform)(nil)
	_ adapters.RateLimitReporter = (*platform)(nil)
)

func (p *platform) Connect(context.Context) (adapters.BotAccount, error) {
	p.mu.Lock()
	n := p.connects
	p.connects++
	p.mu.Unlock()
	account := ours
	if p.others && n > 0 {
		account.ID = "100"
	}
	if p.connect != nil {
		return account, p.connect(n)
	}
	return account, nil
}

func (p *platform) Receive(ctx context.Context, cursor []byte, s adapters.UpdateSink) error {
	p.mu.Lock()
	n := p.receives
	p.receives++
	p.mu.Unlock()
	if p.receive != nil {
		return p.receive(ctx, n, cursor, s)
	}
	<-ctx.Done()
	return nil
}

func (p *platform) Split(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n---\n")
}

func (p *platform) Send(ctx context.Context, post adapters.OutgoingMessage) (adapters.Receipt, error) {
	id, err := p.do(ctx, call{Op: "send", Chat: post.Chat, Thread: post.Thread, Text: post.Text, ReplyTo: post.ReplyTo, Start: post.Start, Key: post.Key})
	return adapters.Receipt{Message: id, At: time.Now()}, err
}

func (p *platform) SendPrivate(ctx context.Context, to string, post adapters.OutgoingMessage) (adapters.Receipt, error) {
	_, err := p.do(ctx, call{Op: "private to " + to, Chat: post.Chat, Thread: post.Thread, Text: post.Text, Key: post.Key})
	return adapters.Receipt{At: time.Now()}, err
}

func (p *platform) Edit(ctx context.Context, m adapters.MessageRef, text string) error {
	_, err := p.do(ctx, call{Op: "edit", Chat: m.Chat, Thread: m.Thread, Message: m.Message, Text: text})
	return err
}

func (p *platform) Delete(ctx context.Context, m adapters.MessageRef) error {
	_, err := p.do(ctx, call{Op: "delete", Chat: m.Chat, Thread: m.Thread, Message: m.Message})
	return err
}

func (p *platform) React(ctx context.Context, m adapters.MessageRef, emoji string) error {
	_, err := p.do(ctx, call{Op: "react", Chat: m.Chat, Thread: m.Thread, Message: m.Message, Text: emoji})
	return err
}

func (p *platform) Typing(ctx context.Context, at adapters.MessageRef) error {
	_, err := p.do(ctx, call{Op: "typing", Chat: at.Chat, Thread: at.Thread, Message: at.Message})
	return err
}

func (p *platform) Pace(adapters.Chat) adapters.RateLimit { return p.every }

func (p *platform) do(ctx context.Context, c call) (string, error) {
	p.mu.Lock()
	c.At = time.Now()
	p.tries = append(p.tries, c)
	p.now++
	p.top = max(p.top, p.now)
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		p.now--
		p.mu.Unlock()
	}()
	if p.takes > 0 && c.Op != "typing" {
		select {
		case <-ctx.Done():
			return "", &adapters.Error{Kind: adapters.Unknown, Op: c.Op, Err: context.Cause(ctx)}
		case <-time.After(p.takes):
		}
	}
	if p.script != nil {
		if err := p.script(c); err != nil {
			return "", err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ledger = append(p.ledger, c)
	return fmt.Sprintf("m%d", len(p.ledger)), nil
}

// attempted returns every call so far; accepted those that were taken.
func (p *platform) attempted() []call {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]call(nil), p.tries...)
}

func (p *platform) accepted() []call {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]call(nil), p.ledger...)
}

// texts returns the words of the accepted calls to a chat, in order.
func (p *platform) texts(chat string) []string {
	var out []string
	for _, c := range p.accepted() {
		if c.Chat == chat {
			out = append(out, c.Text)
		}
	}
	return out
}

// counts returns how often Connect and Receive were called.
func (p *platform) counts() (connects, receives int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.connects, p.receives
}

// once is a script that fails the first call that match accepts.
func once(match func(call) bool, err error) func(call) error {
	var mu sync.Mutex
	done := false
	return func(c call) error {
		mu.Lock()
		defer mu.Unlock()
		if done || !match(c) {
			return nil
		}
		done = true
		return err
	}
}

func refusal(k adapters.FailureKind) *adapters.Error { return &adapters.Error{Kind: k, Op: "send"} }
