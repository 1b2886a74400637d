package local

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

var _ adapters.ChoiceOfferer = (*RoomAdapter)(nil)

// maxOffers is how many messages with buttons a room remembers, and pressWait is how long a
// press waits for its answer once it has been handed in.
const (
	maxOffers = 64
	pressWait = 5 * time.Second
)

// An offer is a message of ours with buttons. It is kept in memory alone: after a restart
// people answer in words.
type offer struct {
	message, thread string
	choices         []adapters.ChoiceButton
}

// noteOffer notes which buttons a message has now.
func (m *room) noteOffer(e RoomEvent) {
	var next offer
	switch v := e.(type) { //nolint:gochecksumtype // nothing else has or changes buttons
	case MessagePosted:
		next = offer{v.Message, v.Thread, v.Choices}
	case MessageEdited:
		next = offer{message: v.Message, choices: v.Choices}
	case MessageDeleted:
		next = offer{message: v.Message}
	default:
		return
	}
	if i := slices.IndexFunc(m.offers, func(o offer) bool { return o.message == next.message }); i >= 0 {
		next.thread = m.offers[i].thread
		m.offers = slices.Delete(m.offers, i, i+1)
	}
	if len(next.choices) == 0 {
		return
	}
	if len(m.offers) == maxOffers {
		m.offers = slices.Delete(m.offers, 0, 1)
	}
	m.offers = append(m.offers, next)
}

// Offers returns the buttons below the messages of a room, by the ids of the messages, as far
// as they were sent since the start of the process. The caller owns the map and must not
// change the buttons.
func (r *RoomAdapter) Offers(chat string) map[string][]adapters.ChoiceButton {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := map[string][]adapters.ChoiceButton{}
	if open := r.rooms[chat]; open != nil {
		for _, o := range open.offers {
			all[o.message] = o.choices
		}
	}
	return all
}

// EditChoices shows that one of our messages has other words and buttons now.
func (r *RoomAdapter) EditChoices(ctx context.Context, m adapters.MessageRef, text string, choices []adapters.ChoiceButton) error {
	return r.show(ctx, "edit", m.Chat, MessageEdited{Message: m.Message, Text: text, Choices: slices.Clone(choices)})
}

// Press has the person press a button with this value below a message of ours, and returns
// what they are told of it: "" when nothing is, or nothing came in time.
func (r *RoomAdapter) Press(ctx context.Context, who adapters.Person, chat, message, value string) (string, error) {
	press, told := r.opts.NewID(), make(chan string, 1)
	r.mu.Lock()
	r.presses[press] = told
	thread := ""
	if open := r.rooms[chat]; open != nil {
		for _, o := range open.offers {
			if o.message == message {
				thread = o.thread
			}
		}
	}
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.presses, press)
	}()
	err := r.hand(ctx, chat, adapters.Update{
		ID: press, Key: "pressed:" + press, Thread: adapters.Thread{ID: thread}, From: who, At: time.Now(),
		Body: adapters.ChoicePicked{Message: message, Value: value, Press: press},
	}, nil)
	if err != nil {
		return "", fmt.Errorf("press a button below %s: %w", message, err)
	}
	wait := time.NewTimer(pressWait)
	defer wait.Stop()
	select {
	case text := <-told:
		return text, nil
	case <-wait.C:
	case <-ctx.Done():
	}
	return "", nil
}

// AnswerPress implements [adapters.ChoiceOfferer].
func (r *RoomAdapter) AnswerPress(_ context.Context, press, text string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	told := r.presses[press]
	if told == nil {
		return &adapters.Error{Kind: adapters.Invalid, Op: "answer press", Err: errors.New("there is no such press, or it waits no longer")}
	}
	delete(r.presses, press)
	told <- text // the channel has room: this does not block
	return nil
}
