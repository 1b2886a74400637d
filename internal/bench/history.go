package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/corpus"
)

// history is from the start of the process to its first answer in a room that has
// many lines, and the most memory it takes for that.
func history(ctx context.Context, b *bench) error {
	few, many := 200, b.pick(20_000, 200_000)
	short, _, err := b.firstAnswer(ctx, few)
	if err != nil {
		return err
	}
	long, peak, err := b.firstAnswer(ctx, many)
	if err != nil {
		return err
	}
	b.add(fmt.Sprintf("start to first answer in a room of %d lines", many), "<= 1 s", long <= time.Second,
		fmt.Sprintf("%d lines: %s", few, millis(short)), "%s, %.1f times", millis(long), float64(long)/float64(short))
	b.add("peak resident memory of that", "<= 150 MB", peak <= 150, "", "%.0f MB", peak)
	return nil
}

// firstAnswer starts trestle beside a room with so many lines, in which a message
// waits, and returns how long the answer took and the peak of its memory in megabytes.
func (b *bench) firstAnswer(ctx context.Context, lines int) (took time.Duration, peak float64, err error) {
	w, err := newWorld(ctx, worldOptions{rooms: 1, ledger: -1, keep: -1})
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, w.stop()) }()
	s, err := b.prepare(w, trestle)
	if err != nil {
		return 0, 0, err
	}
	if err := s.start(); err != nil {
		return 0, 0, err
	}
	_, err = w.rooms[0].converse(ctx)
	if err = errors.Join(err, s.end()); err != nil {
		return 0, 0, s.explain(err)
	}
	if err := s.importLines(ctx, w.rooms[0], lines); err != nil {
		return 0, 0, err
	}
	w.rooms[0].say()
	began := time.Now()
	if err := s.start(); err != nil {
		return 0, 0, err
	}
	defer func() { err = s.explain(errors.Join(err, s.end())) }()
	var got arrival
	for answer := fmt.Sprintf("q%06d", w.rooms[0].said); !strings.HasPrefix(got.text, answer); { // the one before may come once more
		if got, err = w.rooms[0].next(ctx); err != nil {
			return 0, 0, err
		}
	}
	peak, err = s.memory("VmHWM:")
	return got.at.Sub(began), peak, err
}

// importLines writes so many made-up lines into a room of the stopped subject, older than
// all that it has.
func (s *subject) importLines(ctx context.Context, r *room, lines int) error {
	type message struct {
		ID     int    `json:"id"`
		Type   string `json:"type"`
		Unix   string `json:"date_unixtime"`
		From   string `json:"from"`
		FromID string `json:"from_id"`
		Text   string `json:"text"`
	}
	export := struct {
		Name     string    `json:"name"`
		Type     string    `json:"type"`
		ID       int64     `json:"id"`
		Messages []message `json:"messages"`
	}{Name: "Guest", Type: "personal_chat", ID: r.chat.ID()}
	at := time.Now().Add(-time.Duration(lines+60) * time.Minute)
	for seed := uint64(700); len(export.Messages) < lines; seed++ {
		for _, l := range corpus.Make(seed, "history", corpus.Chat).Lines {
			at = at.Add(time.Minute)
			export.Messages = append(export.Messages, message{
				ID: len(export.Messages) + 1, Type: "message", Unix: strconv.FormatInt(at.Unix(), 10), From: l.From, FromID: "user" + strconv.Itoa(9000+len(l.From)), Text: l.Text,
			})
			if len(export.Messages) == lines {
				break
			}
		}
	}
	dir := filepath.Dir(s.log)
	file := filepath.Join(dir, "result.json")
	if err := writeLines(file, []any{export}); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, s.cmd.Path, "import", "telegram", file, "--chat", strconv.FormatInt(export.ID, 10), "--config", filepath.Join(dir, "trestle.yaml"), "--data", filepath.Join(dir, "data")) //nolint:gosec // our own program
	cmd.Env, cmd.Dir = s.cmd.Env, dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("import: %w\n%s", err, strings.TrimSpace(string(out)))
	}
	return os.Remove(file)
}
