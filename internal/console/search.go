package console

import (
	"net/http"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// said looks for messages by their words, as an operator who may read every room.
func (c *Console) said(r *http.Request, limit int) ([]FoundRow, error) {
	q := r.URL.Query()
	f := MessageQuery{Text: strings.TrimSpace(q.Get("q")), Space: spaces.SpaceID(q.Get("space")), Limit: limit}
	var err error
	if f.Since, err = sinceOf(r, time.Now()); err != nil || f.Text == "" {
		return nil, err
	}
	events, err := c.Record.Said(r.Context(), f)
	if err != nil {
		return nil, err
	}
	names, err := c.Record.Names(r.Context(), Actors(events))
	if err != nil {
		return nil, err
	}
	var found []FoundRow
	for _, e := range events {
		found = append(found, FoundRow{e.ID, e.Space, e.Seq, e.Actor, names[e.Actor].Name, e.At, wordsOf(e.Body)})
	}
	return found, nil
}

// quoted writes words as one argument of a shell.
func quoted(words string) string { return "'" + strings.ReplaceAll(words, "'", `'\''`) + "'" }

// wordsOf returns the words of a message or of an edit of one.
func wordsOf(b spaces.EventBody) string {
	switch b := b.(type) { //nolint:gochecksumtype // nothing else has words of its own
	case spaces.MessagePosted:
		return b.Text
	case spaces.MessageEdited:
		return b.Text
	case spaces.VoiceTranscribed:
		return b.Text
	}
	return ""
}

func (c *Console) apiSearch(r *http.Request) (searchAnswer, error) {
	limit, err := limitOf(r)
	if err != nil {
		return searchAnswer{}, err
	}
	found, err := c.said(r, limit)
	return searchAnswer{some(found)}, err
}
