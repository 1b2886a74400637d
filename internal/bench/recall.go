package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/trestle-bridge/trestle/internal/corpus"
)

// recall measures yardsticks Y1, Y2, Y3, Y6a and Y7 on made-up rooms, through
// trestle replay: the share of the lines a question needs that stand in its frame.
func recall(ctx context.Context, b *bench) error {
	written, chat := b.parlours(corpus.Written), b.parlours(corpus.Chat)
	for _, y := range []struct {
		name    string
		rooms   []corpus.Conversation
		targets map[int]float64
	}{
		{"Y1 written", written, map[int]float64{2000: 86, 4000: 91.5, 8000: 95}},
		{"Y2 chat", chat, map[int]float64{2000: 71, 4000: 79, 8000: 86}},
	} {
		for _, budget := range []int{2000, 4000, 8000} {
			var all scores
			for _, r := range y.rooms {
				if err := b.replay(ctx, &all, r, budget); err != nil {
					return err
				}
			}
			b.report(y.name, budget, y.targets[budget], all)
			b.markup("Y6a"+strings.TrimLeft(y.name, "Y12"), budget, all)
		}
	}
	for _, y := range []struct {
		name   string
		rooms  []corpus.Conversation
		target float64
	}{{"written", written, 91.5}, {"chat", chat, 86}} {
		var all scores
		for _, r := range y.rooms {
			if err := b.replay(ctx, &all, r, 8000, "--as-running"); err != nil {
				return err
			}
		}
		b.report(y.name+", divided as running", 8000, y.target, all)
	}
	for _, y := range []struct {
		name   string
		rooms  []corpus.Conversation
		target float64
	}{{"Y3 ten spaces, written", written, 88}, {"Y3 ten spaces, chat", chat, 77}} {
		var all scores
		if err := b.replay(ctx, &all, together(y.rooms), 4000); err != nil {
			return err
		}
		b.report(y.name, 4000, y.target, all)
	}
	return nil
}

// lookBacks measures the share of the decisions of two months that a question about all of
// them, or about those of one month, has in its frame.
func lookBacks(ctx context.Context, b *bench) error {
	for _, y := range []struct {
		budget       int
		whole, month float64
	}{{4000, 60, 85}, {8000, 85, 95}, {26000, 97, 99}} {
		var whole, month scores
		for i := range b.pick(3, 8) {
			var all scores
			if err := b.replay(ctx, &all, corpus.MakeLookBack(uint64(i), fmt.Sprintf("past%02d", i)), y.budget); err != nil {
				return err
			}
			for _, s := range all {
				if s.kind == "month" {
					month = append(month, s)
				} else {
					whole = append(whole, s)
				}
			}
		}
		b.report("decisions of two months", y.budget, y.whole, whole)
		b.report("decisions of one month", y.budget, y.month, month)
	}
	return nil
}

// parlours returns the rooms that are measured.
func (b *bench) parlours(style corpus.WritingStyle) []corpus.Conversation {
	var rooms []corpus.Conversation
	for i := range b.pick(4, 10) {
		rooms = append(rooms, corpus.Make(uint64(100+i), fmt.Sprintf("%s%02d", style, i), style))
	}
	return rooms
}

// together puts rooms into one mind.
func together(rooms []corpus.Conversation) corpus.Conversation {
	var all corpus.Conversation
	for _, r := range rooms {
		all.Lines, all.Questions = append(all.Lines, r.Lines...), append(all.Questions, r.Questions...)
	}
	return all
}

// A scored question is one that was asked.
type scored struct {
	kind    string
	recall  float64 // share of the evidence in the frame
	tokens  int
	plain   int // tokens of the shown lines without any markup
	heads   int // tokens of headings that stand once a frame or a room
	budget  int
	ms      float64
	evident bool
}

type scores []scored

// replay asks all questions of a room and adds what came of it.
func (b *bench) replay(ctx context.Context, all *scores, r corpus.Conversation, budget int, more ...string) error {
	file, questions := filepath.Join(b.dir, "room.jsonl"), filepath.Join(b.dir, "questions.jsonl")
	if err := errors.Join(writeLines(file, r.Lines), writeLines(questions, r.Questions)); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, b.binary, "replay", file, "--ask", questions, "--budget", strconv.Itoa(budget), "--json") //nolint:gosec // our own program
	cmd.Args = append(cmd.Args, more...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	rows := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	if len(rows) != len(r.Questions) {
		return fmt.Errorf("replay answered %d of %d questions", len(rows), len(r.Questions))
	}
	for i, row := range rows {
		var a struct {
			Tokens, Budget, Plain, Heads int
			Shown                        []string
			MS                           float64
		}
		if err := json.Unmarshal(row, &a); err != nil {
			return fmt.Errorf("replay: %w", err)
		}
		q := r.Questions[i]
		s := scored{kind: q.Kind, tokens: a.Tokens, plain: a.Plain, heads: a.Heads, budget: a.Budget, ms: a.MS, evident: len(q.Evidence) > 0}
		for _, id := range q.Evidence {
			if slices.Contains(a.Shown, id) {
				s.recall += 1 / float64(len(q.Evidence))
			}
		}
		*all = append(*all, s)
	}
	return nil
}

func writeLines[T any](file string, rows []T) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	e := json.NewEncoder(w)
	for _, r := range rows {
		err = errors.Join(err, e.Encode(r))
	}
	return errors.Join(err, w.Flush(), f.Close())
}

// report adds the lines of one yardstick: all questions, then each kind.
func (b *bench) report(name string, budget int, target float64, all scores) {
	evident := slices.DeleteFunc(slices.Clone(all), func(s scored) bool { return !s.evident })
	mean, half := evident.interval()
	var kinds []string
	for _, k := range slices.Concat(corpus.Kinds, corpus.LookBackKinds) {
		of := slices.DeleteFunc(slices.Clone(evident), func(s scored) bool { return s.kind != k })
		if len(of) > 0 {
			m, h := of.interval()
			kinds = append(kinds, fmt.Sprintf("%s %.1f±%.1f", k, m, h))
		}
	}
	over, tokens := 0, 0
	for _, s := range all {
		if s.tokens > s.budget {
			over++
		}
		tokens += s.tokens
	}
	b.add(fmt.Sprintf("%s at %dk, evidence in the frame", name, budget/1000), fmt.Sprintf("≥ %.1f %%", target), mean >= target && over == 0,
		strings.Join(kinds, ", "), "%.1f ± %.1f %% of %d questions; %d over budget; mean %.0f tokens", mean, half, len(evident), over,
		float64(tokens)/float64(max(1, len(all))))
}

// markup adds the line of Y6a: what the lines of the frames take over bare "who:
// words", with the dates, ids, marks and gaps that stand between them; and beside
// it the same with every heading of the frame charged to its lines.
func (b *bench) markup(name string, budget int, all scores) {
	lines, heads, plain := 0, 0, 0
	for _, s := range all {
		lines, heads, plain = lines+s.tokens-s.heads, heads+s.heads, plain+s.plain
	}
	over := func(tokens int) float64 { return 100*float64(tokens)/float64(max(1, plain)) - 100 }
	b.add(fmt.Sprintf("%s at %dk, tokens over bare lines", name, budget/1000), "≤ +8 %", over(lines) <= 8, "",
		"%+.1f %%; %+.1f %% with all headings", over(lines), over(lines+heads))
}

// interval returns the mean in percent and half of its 95 % interval.
func (all scores) interval() (mean, half float64) {
	n := float64(len(all))
	for _, s := range all {
		mean += s.recall / n
	}
	variance := 0.0
	for _, s := range all {
		variance += (s.recall - mean) * (s.recall - mean) / max(1, n-1)
	}
	return 100 * mean, 100 * 1.96 * math.Sqrt(variance/n)
}
