package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trestle-bridge/trestle/adapters/fake/discord"
	"github.com/trestle-bridge/trestle/adapters/fake/slack"
	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
)

// The platforms, by the names of their adapters.
const (
	onTelegram = "telegram"
	onSlack    = "slack"
	// onSlackCalling is Slack where it is to call the subject.
	onSlackCalling = "slack, calling"
	onDiscord      = "discord"
)

// The accounts that subjects sign in with.
const (
	botToken      = "7002:benchmark"
	slackBotToken = "xoxb-benchmark"
	slackAppToken = "xapp-benchmark"
	slackSecret   = "0123456789abcdef0123456789abcdef"
	discordToken  = "benchmark.discord.token"
)

// A platform is a fake one, and notes when a message arrives there and where.
type platform struct {
	http.Handler
	url   string
	entry string // of its adapter, with the place of the url in it
	// posted returns the chat and text of a call that posts; false for other calls.
	posted func(path string, body []byte) (chat, text string, ok bool)
	// ready waits until the bot is connected: earlier messages are not delivered. Nil
	// where the platform keeps them.
	ready func(ctx context.Context) error
	world *world
}

// open makes a platform with its rooms.
func (w *world) open(name string, o worldOptions) *platform {
	p := &platform{world: w}
	add := func(chat string, r *room) {
		r.on, r.got = name, make(chan arrival, max(16, min(4096, 200_000/o.rooms)))
		w.rooms = append(w.rooms, r)
		w.sent[chat] = r.got
	}
	guest := func(n int) string { return "Guest " + strconv.Itoa(n+1) }
	switch name {
	case onTelegram:
		w.telegram = faketelegram.NewTelegram(faketelegram.Options{Ledger: o.ledger, History: 100})
		p.Handler, p.posted, p.entry = w.telegram, postedOnTelegram, fmt.Sprintf("{type: telegram, token: %q, api_url: %%q}", botToken)
		bot := w.telegram.AddBot(faketelegram.BotProfile{Token: botToken, Name: "Ada", Username: "ada_bot"})
		for n := range o.rooms {
			who := w.telegram.AddPerson(faketelegram.UserProfile{Name: guest(n)})
			chat := bot.Direct(who)
			add(strconv.FormatInt(chat.ID(), 10), &room{chat: chat, speak: func(text string) { chat.Says(who, text, faketelegram.PostOptions{}) }})
		}
	case onSlack:
		team := slack.New(slack.Options{LedgerSize: o.ledger})
		p.Handler, p.posted, p.entry = team, postedOnSlack, fmt.Sprintf("{type: slack, bot_token: %q, app_token: %q, api_url: %%q}", slackBotToken, slackAppToken)
		app := team.AddApp(slack.AppProfile{Name: "Ada", BotToken: slackBotToken, AppToken: slackAppToken})
		for n := range o.rooms {
			who := team.AddPerson(slack.UserProfile{Name: guest(n)})
			chat := app.Direct(who)
			add(chat.ID, &room{speak: func(text string) { chat.Says(who, text, slack.PostOptions{}) }})
		}
	case onSlackCalling: // nobody is there
		team := slack.New(slack.Options{LedgerSize: o.ledger})
		p.Handler, p.posted, p.entry = team, postedOnSlack, fmt.Sprintf("{type: slack, bot_token: %q, signing_secret: %q, api_url: %%q}", slackBotToken, slackSecret)
		team.AddApp(slack.AppProfile{Name: "Ada", BotToken: slackBotToken})
	case onDiscord:
		d := discord.New(discord.Options{Ledger: o.ledger})
		p.Handler, p.posted, p.entry = d, postedOnDiscord, fmt.Sprintf("{type: discord, token: %q, api_url: %%q}", discordToken)
		bot := d.AddBot(discord.BotProfile{Token: discordToken, Name: "Ada"})
		p.ready = func(ctx context.Context) error { return d.Until(ctx, bot.Connected) }
		for n := range o.rooms {
			who := d.AddPerson(discord.UserProfile{Name: guest(n), Username: "guest" + strconv.Itoa(n+1)})
			chat := bot.Direct(who)
			add(chat.ID.String(), &room{speak: func(text string) { chat.Says(who, text, discord.PostOptions{}) }})
		}
	}
	return p
}

// adapters is the configuration of the adapters.
func (w *world) adapters() string {
	var b strings.Builder
	for i, p := range w.platforms {
		fmt.Fprintf(&b, "  bench%d: "+p.entry+"\n", i+1, p.url)
	}
	return b.String()
}

// ServeHTTP is the platform.
func (p *platform) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if _, _, ok := p.posted(r.URL.Path, nil); !ok || r.Method != http.MethodPost {
		p.Handler.ServeHTTP(rw, r)
		return
	}
	at := time.Now()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	answer := &status{ResponseWriter: rw}
	p.Handler.ServeHTTP(answer, r)
	chat, text, _ := p.posted(r.URL.Path, body)
	if answer.code >= 300 {
		return
	}
	select {
	case p.world.sent[chat] <- arrival{at, text}:
	default: // no caller waits for so many, or there
	}
}

func postedOnTelegram(path string, body []byte) (chat, text string, ok bool) {
	form, _ := url.ParseQuery(string(body)) // what cannot be read is in no chat
	return form.Get("chat_id"), form.Get("text"), strings.HasSuffix(path, "/sendMessage")
}

func postedOnSlack(path string, body []byte) (chat, text string, ok bool) {
	form, _ := url.ParseQuery(string(body))
	return form.Get("channel"), form.Get("text"), path == "/api/chat.postMessage"
}

func postedOnDiscord(path string, body []byte) (chat, text string, ok bool) {
	rest, ok := strings.CutSuffix(path, "/messages")
	var m struct {
		Content string `json:"content"`
	}
	_ = json.Unmarshal(body, &m) // a message with a file is none of ours
	return rest[strings.LastIndexByte(rest, '/')+1:], m.Content, ok
}

// platforms is a closed loop of ten chats on each platform alone, and then on
// all of them at once, by one program. Every message is answered, and the busy
// ones leave no platform behind.
func platforms(ctx context.Context, b *bench) error {
	all := []string{onTelegram, onSlack, onDiscord}
	alone := map[string]float64{}
	for _, name := range all {
		rates, err := b.loops(ctx, []string{name})
		if err != nil {
			return fmt.Errorf("%s alone: %w", name, err)
		}
		alone[name] = rates[name]
	}
	rates, err := b.loops(ctx, all)
	if err != nil {
		return fmt.Errorf("all at once: %w", err)
	}
	sum, least := 0.0, 1.0
	var shares, beside []string
	for _, name := range all {
		sum += rates[name]
		least = min(least, rates[name]/alone[name])
		shares = append(shares, fmt.Sprintf("%s %.0f", name, rates[name]))
		beside = append(beside, fmt.Sprintf("%s %.0f/s", name, alone[name]))
	}
	b.add("10 chats on each of three platforms at once", "every message answered, no platform below a sixth of what it does alone", least >= 1.0/6,
		"alone: "+strings.Join(beside, ", "), "%.0f messages/s: %s", sum, strings.Join(shares, ", "))
	return nil
}

// loops has ten chats on each platform converse, and returns each platform's
// messages a second. A message without an answer is an error.
func (b *bench) loops(ctx context.Context, names []string) (map[string]float64, error) {
	rates := map[string]float64{}
	span := time.Duration(b.pick(2, 5)) * time.Second
	err := b.with(ctx, worldOptions{rooms: 10, ledger: -1, keep: -1, platforms: names}, trestle, func(w *world, _ *subject) error {
		began := time.Now()
		counts := make([]int, len(w.rooms))
		g, ctx := errgroup.WithContext(ctx)
		for i, r := range w.rooms {
			g.Go(func() error {
				for time.Since(began) < span {
					if _, err := r.converse(ctx); err != nil {
						return fmt.Errorf("on %s: %w", r.on, err)
					}
					counts[i]++
				}
				return nil
			})
		}
		err := g.Wait()
		took := time.Since(began).Seconds()
		for i, r := range w.rooms {
			rates[r.on] += float64(counts[i]) / took
		}
		return err
	})
	if err == nil && slices.ContainsFunc(names, func(n string) bool { return rates[n] == 0 }) {
		err = errors.New("a platform was never answered")
	}
	return rates, err
}
