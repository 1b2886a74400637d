package shell

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	// meaningBatch is how many messages one call asks about.
	meaningBatch = 64
	// meaningBytes is how much of a message is asked about: models read a few hundred
	// tokens.
	meaningBytes = 1500
)

// means reports whether the agent of an outlook has old lines found by what they mean.
func (s *Shell) means(o cycleConfig) bool {
	return s.Meanings != nil && o.agent.Embedder != nil && o.settings.MeaningModel != ""
}

// mean asks a model where the words of a mind's rooms stand, as long as the mind
// rests. No run waits for it: lines without an embedding are found by their words.
func (s *Shell) mean(ctx context.Context, p wakeKey) {
	o, ok := s.outlook(p)
	if !ok || !s.means(o) {
		return
	}
	defer func() { // lines are found by their words
		if r := recover(); r != nil {
			s.Logger.Error("asking for meanings panicked", "mind", p.mind.String(), "panic", r, "stack", string(debug.Stack()))
		}
	}()
	m := s.minds.get(p.mind)
	for s.idle(p.mind) {
		more, err := m.mean(ctx, o)
		if err != nil && ctx.Err() == nil {
			s.Logger.Warn("meanings not asked for", "mind", p.mind.String(), "error", err)
		}
		if err != nil || !more {
			return
		}
	}
}

// mean asks about the next messages of one room, or takes what others have asked
// about them, and reports whether there may be more.
func (m *mind) mean(ctx context.Context, o cycleConfig) (more bool, err error) {
	b := m.unmeant()
	if len(b.lines) == 0 {
		return false, nil
	}
	name := o.settings.MeaningModel
	known, err := m.shell.Meanings.Meanings(ctx, b.room.ID(), name, b.lines[0].Seq-1, b.lines[len(b.lines)-1].Seq)
	if err != nil {
		return false, err
	}
	known = slices.DeleteFunc(known, func(x spaces.MessageEmbedding) bool {
		return !slices.ContainsFunc(b.lines, func(l spaces.MessageEmbedding) bool { return l.Event == x.Event })
	})
	if len(known) == 0 {
		if known, err = m.askAbout(ctx, o, b); err != nil || len(known) == 0 {
			return false, err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if b.room.Upto() != b.upto { // it cannot be told whether they still say that
		return true, nil
	}
	b.room.SetEmbeddings(known)
	return true, nil
}

// An embeddingBatch is some messages of a room, as they stood when its log had come to upto.
type embeddingBatch struct {
	room  *hud.SharedRoom
	upto  int64
	lines []spaces.MessageEmbedding // without vectors, in order
	texts []string
}

// unmeant returns the next messages of the mind's rooms to ask about; none when all
// are known.
func (m *mind) unmeant() (b embeddingBatch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.loaded {
		return b
	}
	for i := range m.seats {
		b.room = m.seats[i].Room
		b.upto = b.room.Upto()
		for _, x := range b.room.WithoutEmbedding(meaningBatch) {
			b.lines = append(b.lines, spaces.MessageEmbedding{Event: x.ID, Seq: x.Seq})
			b.texts = append(b.texts, textformat.ClipBytes(x.Text, meaningBytes))
		}
		if len(b.lines) > 0 {
			return b
		}
	}
	return b
}

// askAbout asks about messages and keeps the answer; none when the day's budgets have
// no room for it, or words were changed meanwhile.
func (m *mind) askAbout(ctx context.Context, o cycleConfig, b embeddingBatch) ([]spaces.MessageEmbedding, error) {
	made, u, err := m.shell.embed(ctx, o, b.room.ID(), b.texts)
	if err != nil || len(made) == 0 {
		return nil, err
	}
	for i := range b.lines {
		b.lines[i].Vector = append(spaces.EmbeddingVector{}, spaces.NewVector(made[i])...) // one that points nowhere is known, too
	}
	err = m.shell.keepMeant(ctx, spaces.EmbeddingResult{Space: b.room.ID(), Model: o.settings.MeaningModel, Upto: b.upto, All: b.lines, Usage: u, At: m.shell.Now()})
	if errors.Is(err, spaces.ErrStale) {
		return nil, nil // they are asked about after the next rest
	}
	return b.lines, err
}

// embed asks where texts stand, when the day's budgets have room for that.
func (s *Shell) embed(ctx context.Context, o cycleConfig, space spaces.SpaceID, texts []string) ([][]float32, spaces.TokenUsage, error) {
	spent, err := s.Record.Spent(ctx, s.Now(), o.agent.ID, space)
	if err != nil {
		return nil, spaces.TokenUsage{}, fmt.Errorf("tokens spent: %w", err)
	}
	if overspent(spent, o.settings.Budget) != "" {
		return nil, spaces.TokenUsage{}, nil
	}
	made, u, err := o.agent.Embedder.Embed(ctx, o.settings.MeaningModel, texts)
	if err == nil && len(made) != len(texts) {
		err = &llm.Error{Kind: llm.Garbled, Err: fmt.Errorf("%d vectors for %d texts", len(made), len(texts))}
	}
	return made, o.agent.usage(o.settings.MeaningModel, llm.TokenUsage{Prompt: u.Prompt}), err
}

// keepMeant stores what was paid for, also when the process is about to stop.
func (s *Shell) keepMeant(ctx context.Context, m spaces.EmbeddingResult) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitLimit)
	defer cancel()
	return s.Meanings.Mean(ctx, m)
}

// recollect reads what is known of a room's meanings when the mind first looks at it.
func (m *mind) recollect(ctx context.Context, room *hud.SharedRoom) error {
	name := m.shell.Settings(m.id.Agent, room.ID()).MeaningModel
	if m.shell.Meanings == nil || name == "" {
		return nil
	}
	m.mu.Lock()
	var after int64
	lines := room.WithoutEmbedding(1)
	if len(lines) > 0 {
		after = lines[0].Seq - 1
	}
	upto := room.Upto()
	m.mu.Unlock()
	if len(lines) == 0 {
		return nil
	}
	known, err := m.shell.Meanings.Meanings(ctx, room.ID(), name, after, upto)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	room.SetEmbeddings(known)
	return nil
}

// meaningDue returns when the mind will have rested long enough to ask about its
// newest messages, and false when that is no time to come or there are none. m.mu is
// held.
func (m *mind) meaningDue(o cycleConfig) (time.Time, bool) {
	at := m.lastEnd.Add(o.settings.CacheTTL)
	if !m.shell.means(o) || !m.shell.Now().Before(at) {
		return at, false
	}
	for i := range m.seats {
		if len(m.seats[i].Room.WithoutEmbedding(1)) > 0 {
			return at, true
		}
	}
	return at, false
}

// wonder asks, beside the cycle, where the words stand that woke it. Nobody waits for
// the answer: a frame that is made before it comes does without. What it began has
// ended when done returns.
func (c *cycle) wonder(ctx context.Context) (done func()) {
	words := strings.TrimSpace(c.query())
	if !c.shell.means(c.cycleConfig) || words == "" {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	answer := make(chan spaces.EmbeddingVector, 1)
	c.asked = answer
	var asking sync.WaitGroup
	asking.Go(func() {
		made, u, err := c.shell.embed(ctx, c.cycleConfig, c.home(), []string{textformat.ClipBytes(words, meaningBytes)})
		if err == nil && len(made) > 0 {
			answer <- spaces.NewVector(made[0])
			err = c.shell.keepMeant(ctx, spaces.EmbeddingResult{Space: c.home(), Model: c.settings.MeaningModel, Usage: u, At: c.shell.Now()})
		}
		if err != nil && ctx.Err() == nil {
			c.log.Warn("meaning of the question not known", "error", err)
		}
	})
	return func() {
		cancel()
		asking.Wait()
	}
}

// learnAsked takes the answer to what the cycle wondered about, if it has come; old
// lines are then chosen anew.
func (c *cycle) learnAsked() {
	select {
	case v := <-c.asked:
		c.meaning, c.recalled = v, nil
	default: // not requested, or not answered yet
	}
}
