package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

// Options describe the rooms of one process.
type Options struct {
	// NewID mints message ids, each greater than the last, also across restarts;
	// a version 7 UUID will do. Required.
	NewID func() string
	// Account is the id of the account under which stored data knows these
	// rooms. Default: "local".
	Account string
	// Name is what people see as the one who posts. Default: "Trestle".
	Name string
	// Handle is what people write after @ to speak to it. Default: none.
	Handle string
	// OpenFile opens the bytes of a file of a line by its [adapters.IncomingFile.ID].
	// Default: lines carry no files.
	OpenFile func(ctx context.Context, id string) (io.ReadCloser, error)
}

// RoomAdapter is an adapter whose chats are rooms in this process. Its methods may be
// called concurrently.
type RoomAdapter struct {
	opts Options
	said chan said // to Receive, which owns the sink

	mu      sync.Mutex // guards what follows
	rooms   map[string]*room
	presses map[string]chan string // presses that wait for an answer, by their names
}

var (
	_ adapters.Adapter        = (*RoomAdapter)(nil)
	_ adapters.MessageEditor  = (*RoomAdapter)(nil)
	_ adapters.MessageDeleter = (*RoomAdapter)(nil)
	_ adapters.ReactionSetter = (*RoomAdapter)(nil)
	_ adapters.TypingNotifier = (*RoomAdapter)(nil)
	_ adapters.DraftShower    = (*RoomAdapter)(nil)
	_ adapters.FileDownloader = (*RoomAdapter)(nil)
	_ adapters.FileSender     = (*RoomAdapter)(nil)
)

// room is one chat and who watches it.
type room struct {
	chat     adapters.Chat
	watchers []*RoomSubscription
	// While a line is on its way to the sink, later events wait here, so that no
	// subscriber sees an answer before the line it answers.
	handing bool
	held    []RoomEvent
	offers  []offer // the newest messages with buttons, oldest first
}

func (m *room) show(s RoomEvent) {
	m.noteOffer(s)
	if m.handing {
		m.held = append(m.held, s)
		return
	}
	for _, w := range m.watchers {
		w.add(s)
	}
}

// New returns rooms without any room. It panics without NewID, since stored
// data would then have no ids.
func New(o Options) *RoomAdapter {
	if o.NewID == nil {
		panic("local: rooms without a source of ids")
	}
	if o.Account == "" {
		o.Account = "local"
	}
	if o.Name == "" {
		o.Name = "Trestle"
	}
	return &RoomAdapter{opts: o, said: make(chan said), rooms: make(map[string]*room), presses: make(map[string]chan string)}
}

// Open makes the room, or gives an open one another title and kind. A room
// stays open as long as the process.
func (r *RoomAdapter) Open(c adapters.Chat) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if open := r.rooms[c.ID]; open != nil {
		open.chat = c
		return
	}
	r.rooms[c.ID] = &room{chat: c}
}

// Chats returns the open rooms by id.
func (r *RoomAdapter) Chats() []adapters.Chat {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]adapters.Chat, 0, len(r.rooms))
	for _, m := range r.rooms {
		all = append(all, m.chat)
	}
	slices.SortFunc(all, func(a, b adapters.Chat) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return all
}

// Connect says who we are. It cannot fail.
func (r *RoomAdapter) Connect(context.Context) (adapters.BotAccount, error) {
	return adapters.BotAccount{Platform: "local", ID: r.opts.Account, Name: r.opts.Name, Handle: r.opts.Handle}, nil
}

// heartbeat is how often Receive says that the rooms are there.
const heartbeat = 30 * time.Second

// Receive hands each line to the sink, one after the other, and returns the sink's
// answer to the caller of [RoomAdapter.Say]. The cursor is not used.
func (r *RoomAdapter) Receive(ctx context.Context, _ []byte, sink adapters.UpdateSink) error {
	alive := time.NewTicker(heartbeat)
	defer alive.Stop()
	sink.Alive(time.Now())
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-alive.C:
			sink.Alive(now)
		case s := <-r.said:
			err := r.accept(ctx, sink, s)
			s.taken <- err // the channel has room: this does not block
			if err != nil && ctx.Err() != nil {
				return nil
			}
			sink.Alive(time.Now())
		}
	}
}

// accept hands the updates in and, once they are durable, shows them before anything
// that was posted meanwhile.
func (r *RoomAdapter) accept(ctx context.Context, sink adapters.UpdateSink, s said) error {
	r.mu.Lock()
	in := r.rooms[s.updates[0].Chat.ID]
	in.handing = true
	r.mu.Unlock()

	err := sink.Accept(ctx, adapters.UpdateBatch{Updates: s.updates})

	r.mu.Lock()
	defer r.mu.Unlock()
	in.handing = false
	if err == nil && s.echo != nil {
		in.show(s.echo)
	}
	for _, later := range in.held {
		in.show(later)
	}
	in.held = nil
	return err
}

// Split returns the text as one part: a room has no limit.
func (r *RoomAdapter) Split(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// Send shows a message to the room's subscribers. A message that answers one
// long gone is shown all the same. Of files it shows the names: their bytes are where the
// space's log has them from.
func (r *RoomAdapter) Send(ctx context.Context, p adapters.OutgoingMessage) (adapters.Receipt, error) {
	if p.Text == "" {
		return adapters.Receipt{}, &adapters.Error{Kind: adapters.Invalid, Op: "send", Err: errors.New("the text is empty")}
	}
	id, now := r.opts.NewID(), time.Now()
	err := r.show(ctx, "send", p.Chat, MessagePosted{
		Message: id, Thread: p.Thread, ReplyTo: p.ReplyTo, From: p.Face.Name, Text: p.Text, Choices: slices.Clone(p.Choices), Files: len(p.Files), At: now,
	})
	if err != nil {
		return adapters.Receipt{}, err
	}
	return adapters.Receipt{Message: id, At: now}, nil
}

// Edit shows that one of our messages has other words now.
func (r *RoomAdapter) Edit(ctx context.Context, m adapters.MessageRef, text string) error {
	return r.show(ctx, "edit", m.Chat, MessageEdited{Message: m.Message, Text: text})
}

// Delete shows that a message is gone.
func (r *RoomAdapter) Delete(ctx context.Context, m adapters.MessageRef) error {
	return r.show(ctx, "delete", m.Chat, MessageDeleted{Message: m.Message})
}

// React shows our reaction to a message; an empty emoji takes it back.
func (r *RoomAdapter) React(ctx context.Context, m adapters.MessageRef, emoji string) error {
	return r.show(ctx, "react", m.Chat, ReactionSet{Message: m.Message, Emoji: emoji})
}

// Typing shows that something is being written.
func (r *RoomAdapter) Typing(ctx context.Context, at adapters.MessageRef) error {
	return r.show(ctx, "typing", at.Chat, TypingShown{Thread: at.Thread})
}

// Preview shows a text that is still being written. Subscribers show it until the next one
// with the same key, or a message, takes its place.
func (r *RoomAdapter) Preview(ctx context.Context, p adapters.OutgoingMessage) error {
	return r.show(ctx, "preview", p.Chat, DraftShown{
		Key: p.Key, Thread: p.Thread, From: p.Face.Name, Text: p.Text, Choices: slices.Clone(p.Choices),
	})
}

// Whole reports that every room shows drafts whole.
func (r *RoomAdapter) Whole(string) bool { return true }

// MaxFile returns that files may have any size, as no bytes of them are kept here.
func (r *RoomAdapter) MaxFile(string) int64 { return math.MaxInt64 }

// Fetch opens a file of a line.
func (r *RoomAdapter) Fetch(ctx context.Context, a adapters.IncomingFile, limit int64) (io.ReadCloser, error) {
	if r.opts.OpenFile == nil {
		return nil, &adapters.Error{Kind: adapters.Invalid, Op: "fetch", Err: errors.New("lines carry no files here")}
	}
	if a.Size > limit {
		return nil, &adapters.Error{Kind: adapters.Invalid, Op: "fetch", Err: fmt.Errorf("the file has %d bytes, more than %d", a.Size, limit)}
	}
	body, err := r.opts.OpenFile(ctx, a.ID)
	if err != nil {
		return nil, &adapters.Error{Kind: adapters.Invalid, Op: "fetch", Err: err}
	}
	return body, nil
}

// Stoppable reports that a draft is shown with its buttons.
func (r *RoomAdapter) Stoppable() bool { return true }

// show gives every subscriber of the room the same thing to see.
func (r *RoomAdapter) show(ctx context.Context, op, chat string, s RoomEvent) error {
	if ctx.Err() != nil {
		return &adapters.Error{Kind: adapters.NotSent, Op: op, Err: context.Cause(ctx)}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	open := r.rooms[chat]
	if open == nil {
		return &adapters.Error{Kind: adapters.NoTarget, Op: op, Err: fmt.Errorf("there is no room %q", chat)}
	}
	open.show(s)
	return nil
}
