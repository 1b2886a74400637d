package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tiktoken-go/tokenizer"

	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
)

// answers is what one answer costs: how often a model is called, and how many tokens its
// requests have.
func answers(ctx context.Context, b *bench) error {
	for _, c := range []struct {
		name  string
		model llm.ChatModel
	}{{"words beside its calls", responder{}}, {"no words", wordless{}}} {
		if err := b.directAnswers(ctx, c.name, c.model); err != nil {
			return fmt.Errorf("direct answer, %s: %w", c.name, err)
		}
	}
	for _, run := range []func(context.Context, *bench) error{silentAnswer, reminder, twoAgents, busyRoom, mediocre} {
		if err := run(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// A wordless is a [responder] that writes nothing beside its calls.
type wordless struct{ responder }

// Generate answers r.
func (m wordless) Generate(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	resp, err := m.responder.Generate(ctx, r)
	if len(resp.Calls) > 0 || !r.NoCalls {
		resp.Text = ""
	}
	return resp, err
}

// A decision is a model that decides anew for each request that is not a contemplation.
type decision func(r llm.ModelRequest) llm.ModelResponse

// Generate answers r.
func (d decision) Generate(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	if ctx.Err() != nil {
		return llm.ModelResponse{}, llm.Interrupted(ctx)
	}
	if r.NoCalls {
		return llm.ModelResponse{Text: "They ask about the trip.", Finish: llm.Stopped}, nil
	}
	resp := d(r)
	resp.Finish = llm.Stopped
	if len(resp.Calls) > 0 {
		resp.Finish = llm.Called
	}
	return resp, nil
}

// calling returns an answer that is one call.
func calling(r llm.ModelRequest, name string, args map[string]any) llm.ModelResponse {
	return llm.ModelResponse{Calls: []llm.ToolCall{llmtest.Call("call_"+strconv.Itoa(len(r.Messages))+"_"+name, name, args)}}
}

// A group is a chat with a person, in which the agents Ada and Max share one bot.
type group struct {
	*room
	w *world
	s *subject
}

// inGroup runs do in a group whose agents are run by a model.
func (b *bench) inGroup(ctx context.Context, m llm.ChatModel, do func(g *group) error) (err error) {
	w, err := newWorld(ctx, worldOptions{rooms: 1, unasked: true, ledger: -1, model: m})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.stop()) }()
	guest := w.telegram.AddPerson(faketelegram.UserProfile{Name: "Guest of all"})
	chat := w.telegram.NewSupergroup("Family", guest)
	r := &room{on: onTelegram, chat: chat, got: make(chan arrival, 64), speak: func(text string) { chat.Says(guest, text, faketelegram.PostOptions{}) }}
	w.sent[strconv.FormatInt(chat.ID(), 10)] = r.got
	s, err := b.prepare(w, trestle, `  max: {name: Max, persona: "You are Max, who knows the trains."}`,
		fmt.Sprintf(`spaces: {family: {name: Family, agents: [ada, max], chats: ["bench1:%d"]}}`, chat.ID()))
	if err != nil {
		return err
	}
	if err := s.start(); err != nil {
		return err
	}
	defer func() { err = s.explain(errors.Join(err, s.end())) }()
	chat.Adds(guest, w.telegram.Bots()[0])
	return do(&group{r, w, s})
}

// calls returns the requests that the endpoint has had since the first n.
func (w *world) calls(n int) []llm.ModelRequest {
	var all []llm.ModelRequest
	for _, e := range w.model.Ledger()[n:] {
		all = append(all, e.Request)
	}
	return all
}

// quiet waits until the endpoint has been asked nothing for a while, and returns how often
// it was asked.
func (w *world) quiet(ctx context.Context) (int, error) {
	n, since := len(w.model.Ledger()), time.Now()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for time.Since(since) < time.Second {
		select {
		case <-ctx.Done():
			return n, context.Cause(ctx)
		case <-look.C:
		}
		if now := len(w.model.Ledger()); now != n {
			n, since = now, time.Now()
		}
	}
	return n, nil
}

// requestTokens counts all that a request has: system text, tools, messages.
func requestTokens(r llm.ModelRequest) (int, error) {
	fixed, err := fixedTokens(r)
	if err != nil {
		return 0, err
	}
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		return 0, err
	}
	rest, err := codec.Count(string(flat(r.Messages[1:])))
	return fixed + rest, err
}

// directAnswers has a person write in a direct chat: the first answer, and those behind it,
// of which an endpoint has most in its cache.
func (b *bench) directAnswers(ctx context.Context, name string, m llm.ChatModel) error {
	const turns = 10
	return b.with(ctx, worldOptions{rooms: 1, unasked: true, ledger: -1, model: m}, trestle, func(w *world, _ *subject) error {
		for range turns {
			if _, err := w.rooms[0].converse(ctx); err != nil {
				return err
			}
			if _, err := w.quiet(ctx); err != nil {
				return err
			}
		}
		sent := w.calls(0)
		first, err := requestTokens(sent[0])
		if err != nil {
			return err
		}
		fresh := 0
		for i := 1; i < len(sent); i++ {
			fresh += unseen(flat(sent[i-1].Messages), flat(sent[i].Messages)) / 4
		}
		fresh /= turns - 1
		calls := float64(len(sent)) / turns
		b.add("direct answer, "+name+": calls", "1", len(sent) == turns, "", "%.1f", calls)
		b.add("direct answer, "+name+": first request", "<= 4000 tokens", first <= 4000, "", "%d tokens (o200k)", first)
		b.add("direct answer, "+name+": bytes / 4 that are new later", "<= 250", fresh <= 250, "", "%d", fresh)
		return nil
	})
}

// silentAnswer has an agent addressed that chooses to say nothing.
func silentAnswer(ctx context.Context, b *bench) error {
	done := decision(func(r llm.ModelRequest) llm.ModelResponse {
		return calling(r, "done", map[string]any{"account": "They talk among themselves."})
	})
	return b.inGroup(ctx, done, func(g *group) error {
		g.speak("@Ada never mind")
		calls, err := g.w.quiet(ctx)
		for end := time.Now().Add(10 * time.Second); err == nil && calls == 0 && time.Now().Before(end); {
			calls, err = g.w.quiet(ctx)
		}
		b.add("addressed, chooses silence: calls", "1", calls == 1 && len(g.got) == 0, "", "%d, %d messages", calls, len(g.got))
		return err
	})
}

// reminder has an agent set itself a reminder, and say it when its time has come.
func reminder(ctx context.Context, b *bench) error {
	m := decision(func(r llm.ModelRequest) llm.ModelResponse {
		last := r.Messages[len(r.Messages)-1].Text + r.Messages[len(r.Messages)-2].Text
		if strings.Contains(last, "REMINDER") {
			return calling(r, "send_message", map[string]any{"text": "Call the station."})
		}
		resp := calling(r, "remind", map[string]any{"note": "tell the guest to call the station", "in": "3s"})
		resp.Calls = append(resp.Calls, calling(r, "send_message", map[string]any{"text": "I will."}).Calls...)
		return resp
	})
	return b.with(ctx, worldOptions{rooms: 1, unasked: true, ledger: -1, model: m}, trestle, func(w *world, _ *subject) error {
		if _, err := w.rooms[0].converse(ctx); err != nil {
			return err
		}
		set := len(w.calls(0))
		if _, err := w.rooms[0].next(ctx); err != nil {
			return err
		}
		if _, err := w.quiet(ctx); err != nil {
			return err
		}
		sent := w.calls(set)
		tokens := 0
		for _, r := range sent {
			n, err := requestTokens(r)
			if err != nil {
				return err
			}
			tokens += n
		}
		b.add("reminder: calls when it is due", "1", len(sent) == 1, "", "%d", len(sent))
		b.add("reminder: tokens of these", "<= 5000", tokens <= 5000, "", "%d (o200k)", tokens)
		return nil
	})
}

// twoAgents has two agents addressed by one message, each of which answers.
func twoAgents(ctx context.Context, b *bench) error {
	return b.inGroup(ctx, wordless{}, func(g *group) error {
		g.speak("@Ada and @Max, " + question(1))
		for range 2 {
			if _, err := g.next(ctx); err != nil {
				return err
			}
		}
		calls, err := g.w.quiet(ctx)
		b.add("two agents, two messages: calls", "<= 3", calls <= 3 && len(g.got) == 0, "", "%d, %d messages more", calls, len(g.got))
		return err
	})
}

// busyRoom has an agent addressed in a room that was busy before.
func busyRoom(ctx context.Context, b *bench) error {
	const lines = 590
	return b.inGroup(ctx, wordless{}, func(g *group) error {
		for i := range lines {
			g.speak(filled(fmt.Sprintf("line %d: ", i), "the early train is full, so somebody has to ask for seats at the window and bring the tickets. ", 90))
		}
		g.speak("@Ada " + question(1))
		if _, err := g.next(ctx); err != nil {
			return err
		}
		sent := g.w.calls(0)
		tokens, err := requestTokens(sent[len(sent)-1])
		b.add(fmt.Sprintf("busy room of %d lines: a request", lines), "<= 12000 tokens", tokens <= 12_000, "", "%d tokens (o200k)", tokens)
		return err
	})
}

// mediocre has people answered by models that do not call tools as they should.
func mediocre(ctx context.Context, b *bench) error {
	var lacking, calls []string
	for _, habit := range []llmtest.BadHabit{llmtest.AnswersInWords, llmtest.WritesFences, llmtest.WritesTags, llmtest.MistakesNames} {
		m := llmtest.MediocreModel{Habit: habit, Answer: "Saturday suits all of you."}
		err := b.with(ctx, worldOptions{rooms: 1, unasked: true, ledger: -1, model: m}, trestle, func(w *world, _ *subject) error {
			if _, err := w.rooms[0].converse(ctx); err != nil {
				lacking = append(lacking, string(habit))
				return nil //nolint:nilerr // it is the finding
			}
			n, err := w.quiet(ctx)
			calls = append(calls, strconv.Itoa(n))
			return err
		})
		if err != nil {
			return err
		}
	}
	b.add("models that answer in words, fences, tags, wrong names", "answered", len(lacking) == 0, "", "%d of 4 answered, in %s calls", 4-len(lacking), strings.Join(calls, ", "))
	return nil
}
