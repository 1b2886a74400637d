package local

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

// said is something on its way to the sink.
type said struct {
	updates []adapters.Update // of one room
	echo    RoomEvent         // what the room sees of it; nil: nothing
	taken   chan error        // takes one answer
}

// A HumanLine is something a person says in a room.
type HumanLine struct {
	// ID makes a second attempt at the same line the same line. Default: a new one.
	ID      string
	Chat    string
	Thread  string
	ReplyTo string
	// ToUs marks the line as meant for us. A mention of our handle and a command
	// do so by themselves. Default: not marked.
	ToUs  bool
	Text  string
	Files []adapters.IncomingFile // each with what [Options.OpenFile] opens it by
}

// Say has the person say the line and returns its id once it is durable. When the sink
// refuses, or Receive does not run before ctx is done, it returns the id with the
// error, so that the same line can be tried again.
func (r *RoomAdapter) Say(ctx context.Context, who adapters.Person, l HumanLine) (id string, err error) {
	if l.ID == "" {
		l.ID = r.opts.NewID()
	}
	now, command := time.Now(), r.command(l.Text)
	err = r.hand(ctx, l.Chat, adapters.Update{
		ID: l.ID, Key: "said:" + l.ID, Thread: adapters.Thread{ID: l.Thread}, From: who, At: now,
		Body: adapters.IncomingMessage{
			ID: l.ID, Text: l.Text, ReplyTo: l.ReplyTo, ToUs: l.ToUs || command != nil || r.named(l.Text), Command: command,
			Attachments: slices.Clone(l.Files),
		},
	}, LineSaid{Message: l.ID, Thread: l.Thread, ReplyTo: l.ReplyTo, From: who, Text: l.Text, At: now})
	if err != nil {
		return l.ID, fmt.Errorf("say line %s: %w", l.ID, err)
	}
	return l.ID, nil
}

// Correct has the person replace the words of a line and returns once that is durable.
func (r *RoomAdapter) Correct(ctx context.Context, who adapters.Person, chat, message, text string) error {
	id := r.opts.NewID()
	err := r.hand(ctx, chat, adapters.Update{
		ID: id, Key: "edited:" + id, From: who, At: time.Now(),
		Body: adapters.MessageEdit{New: adapters.IncomingMessage{ID: message, Text: text, ToUs: r.named(text)}},
	}, MessageEdited{Message: message, Text: text})
	if err != nil {
		return fmt.Errorf("correct line %s: %w", message, err)
	}
	return nil
}

// Withdraw has the person delete a line and returns once that is durable.
func (r *RoomAdapter) Withdraw(ctx context.Context, who adapters.Person, chat, message string) error {
	id := r.opts.NewID()
	err := r.hand(ctx, chat, adapters.Update{
		ID: id, Key: "deleted:" + id, From: who, At: time.Now(), Body: adapters.MessageDeletion{Messages: []string{message}},
	}, MessageDeleted{Message: message})
	if err != nil {
		return fmt.Errorf("withdraw line %s: %w", message, err)
	}
	return nil
}

// Respond has the person change the emoji they set on a message from before to
// after and returns once that is durable.
func (r *RoomAdapter) Respond(ctx context.Context, who adapters.Person, chat, message string, before, after []string) error {
	id := r.opts.NewID()
	err := r.hand(ctx, chat, adapters.Update{
		ID: id, Key: "reacted:" + id, From: who, At: time.Now(),
		Body: adapters.ReactionChange{Message: message, Old: slices.Clone(before), New: slices.Clone(after)},
	}, nil)
	if err != nil {
		return fmt.Errorf("react to %s: %w", message, err)
	}
	return nil
}

// Enter has the person come into the room and returns once that is durable.
func (r *RoomAdapter) Enter(ctx context.Context, who adapters.Person, chat string) error {
	return r.pass(ctx, who, chat, "joined", adapters.PeopleJoined{People: []adapters.Person{who}})
}

// Leave has the person go and returns once that is durable.
func (r *RoomAdapter) Leave(ctx context.Context, who adapters.Person, chat string) error {
	return r.pass(ctx, who, chat, "left", adapters.PeopleLeft{People: []adapters.Person{who}})
}

func (r *RoomAdapter) pass(ctx context.Context, who adapters.Person, chat, what string, body adapters.UpdateBody) error {
	id := r.opts.NewID()
	err := r.hand(ctx, chat, adapters.Update{ID: id, Key: what + ":" + id, From: who, At: time.Now(), Body: body}, nil)
	if err != nil {
		return fmt.Errorf("tell that %s %s: %w", who.ID, what, err)
	}
	return nil
}

// Recount hands over messages that were posted elsewhere or before: updates under their
// own keys, ids and times, in order, as one batch. It returns once they are durable.
// Subscribers do not get them.
func (r *RoomAdapter) Recount(ctx context.Context, chat string, updates []adapters.Update) error {
	if len(updates) == 0 {
		return nil
	}
	if err := r.handAll(ctx, chat, updates, nil); err != nil {
		return fmt.Errorf("recount %d updates of %s: %w", len(updates), chat, err)
	}
	return nil
}

// hand gives the update to Receive and waits for the sink's answer. Once Receive
// has it the answer comes soon, so ctx then no longer counts: an error always
// means that the sink did not say yes.
func (r *RoomAdapter) hand(ctx context.Context, chat string, u adapters.Update, echo RoomEvent) error {
	return r.handAll(ctx, chat, []adapters.Update{u}, echo)
}

// handAll is hand for several updates of one room.
func (r *RoomAdapter) handAll(ctx context.Context, chat string, us []adapters.Update, echo RoomEvent) error {
	r.mu.Lock()
	open := r.rooms[chat]
	if open == nil {
		r.mu.Unlock()
		return &adapters.Error{Kind: adapters.NoTarget, Op: "say", Err: fmt.Errorf("there is no room %q", chat)}
	}
	us = slices.Clone(us)
	for i := range us {
		us[i].Chat = open.chat
	}
	r.mu.Unlock()
	s := said{updates: us, echo: echo, taken: make(chan error, 1)}
	select {
	case r.said <- s:
		return <-s.taken
	case <-ctx.Done():
		return &adapters.Error{Kind: adapters.NotSent, Op: "say", Err: context.Cause(ctx)}
	}
}

// named reports whether the text mentions our handle as a word.
func (r *RoomAdapter) named(text string) bool {
	if r.opts.Handle == "" {
		return false
	}
	for word := range strings.FieldsSeq(text) {
		word = strings.TrimRight(strings.TrimLeft(word, "(\"'"), ",.;:!?)\"'")
		if strings.EqualFold(word, "@"+r.opts.Handle) {
			return true
		}
	}
	return false
}

// command reads "/name args" at the head of the text; nil when there is none.
func (r *RoomAdapter) command(text string) *adapters.ChatCommand {
	rest, ok := strings.CutPrefix(text, "/")
	if !ok {
		return nil
	}
	name, args, _ := strings.Cut(rest, " ")
	notName := func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-'
	}
	if name == "" || strings.ContainsFunc(name, notName) {
		return nil
	}
	return &adapters.ChatCommand{Name: strings.ToLower(name), Args: strings.TrimSpace(args)}
}
