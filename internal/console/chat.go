package console

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/internal/pubsub"
	"github.com/trestle-bridge/trestle/spaces"
)

// A ChatDesk lets operators talk with agents in the rooms that Trestle serves itself, as the
// operator at the terminal. A room is named by its key. What cannot be done is [UserError]; a room
// that does not exist is [ErrUnknown].
type ChatDesk interface {
	// Rooms returns the rooms in which an operator can talk, in the order of the configuration.
	Rooms() []ChatRoom
	// Enter takes a seat in a room, which opens the room if it is not open yet.
	Enter(ctx context.Context, room string) (ChatSeat, error)
	// Say has the operator say a line, and returns its id once it is recorded. The same line is
	// recorded once, however often it is said with the same id.
	Say(ctx context.Context, room string, l ChatLine) (message string, err error)
	// Press has the operator press a button with that value below a message, and returns what
	// they are told of it, which may be nothing.
	Press(ctx context.Context, room, message, value string) (answer string, err error)
	// Buttons returns the buttons below the messages of a room, by the ids of the messages on
	// the adapter of these rooms. Those from before the start of the process are not known.
	Buttons(room string) map[string][]ChatButton
}

// A ChatSeat is a browser's place in a room. Its holder leaves it.
type ChatSeat interface {
	// Space returns the space whose log the room is.
	Space() spaces.SpaceID
	// Next waits for the next thing to show, until ctx is done. One caller waits at a time.
	Next(ctx context.Context) (ChatSign, error)
	// Leave gives the seat up, also after ctx has ended.
	Leave(ctx context.Context)
}

// A ChatRoom is a room in which an operator can talk.
type ChatRoom struct {
	Key      string
	Name     string
	Agents   []string // their names
	Direct   bool     // with one agent alone
	Hint     string   // how agents are woken there; empty where every line wakes one
	Terminal string   // the command that talks there
}

// A ChatLine is something that an operator says.
type ChatLine struct {
	ID    string // empty: a new one
	Text  string
	Files []ChatUpload
}

// A ChatUpload is a file that goes along with a line.
type ChatUpload struct {
	Name string
	MIME string
	Size int64
	Body io.Reader // read once
}

// A ChatButton is a button below a message.
type ChatButton struct {
	Label string `json:"label"`
	Value string `json:"value"`
}

// A ChatSign tells a browser in a room what to show.
type ChatSign struct {
	Kind ChatSignKind `json:"kind"`
	Who  string       `json:"who,omitempty"`  // the agent
	Key  string       `json:"key,omitempty"`  // of a draft: the same for all that is shown of it
	Text string       `json:"text,omitempty"` // of a draft, in CommonMark
	// Buttons stop what is being written.
	Buttons []ChatButton `json:"buttons,omitempty"`
}

// ChatSignKind is the kind of a [ChatSign].
type ChatSignKind string

// What is told of a room.
const (
	ChatChanged ChatSignKind = "changed" // its log has news
	ChatTyping  ChatSignKind = "typing"  // an agent works on an answer
	ChatDraft   ChatSignKind = "draft"   // an answer so far
)

// A MessageFile is a file of a message. Who opened it closes its body.
type MessageFile struct {
	Name string
	MIME string // as far as it is known
	Size int64
	Body io.ReadCloser
}

// chatEvents are the live events after which the log of a room may show something else.
var chatEvents = []string{"gate_decision", "delivery_sent", "delivery_failed", "mission_stop", "agent_assigned"}

// streamChat tells a browser what to show of a room, from now on.
func (c *Console) streamChat(w http.ResponseWriter, r *http.Request) {
	if !c.takeStream(w, r) {
		return
	}
	defer c.streams.Add(-1)
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	seat, err := c.Chat.Enter(ctx, r.PathValue("room"))
	if err != nil {
		c.respond.FailFor(w, r, err)
		return
	}
	defer seat.Leave(r.Context())
	live := c.Live.Open(streamRoom)
	defer live.Close()
	signs := make(chan ChatSign)
	go watchSeat(ctx, stop, seat, signs)
	go watchSpace(ctx, stop, live, seat.Space(), signs)
	sendSigns(ctx, StartStream(w), signs, c.stillAllowed(r))
}

// watchSeat passes on what a seat shows until ctx is done.
func watchSeat(ctx context.Context, stop context.CancelFunc, seat ChatSeat, signs chan<- ChatSign) {
	defer stop()
	for {
		s, err := seat.Next(ctx)
		if err != nil {
			return
		}
		select {
		case signs <- s:
		case <-ctx.Done():
			return
		}
	}
}

// watchSpace tells of events by which the log of a space changes until ctx is done.
func watchSpace(ctx context.Context, stop context.CancelFunc, live pubsub.LiveStream, space spaces.SpaceID, signs chan<- ChatSign) {
	defer stop()
	for {
		e, err := live.Next(ctx)
		if err != nil {
			return
		}
		in, _ := e.Metadata["space"].(string)
		if e.Type != pubsub.Skipped && (in != string(space) || !slices.Contains(chatEvents, e.Type)) {
			continue
		}
		select {
		case signs <- ChatSign{Kind: ChatChanged}:
		case <-ctx.Done():
			return
		}
	}
}

// sendSigns sends signs until ctx is done or the reader may look no more.
func sendSigns(ctx context.Context, to *Stream, signs <-chan ChatSign, may func(idle bool) bool) {
	alive := time.NewTicker(heartbeat)
	defer alive.Stop()
	for n := int64(1); ; n++ {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-alive.C:
			if !may(true) {
				return
			}
			err = to.comment("still here")
		case s := <-signs:
			if !may(false) {
				return
			}
			err = to.Send(n, s)
		}
		if err != nil {
			return
		}
	}
}

// FailFor answers a request that failed: a [UserError] in its words, and all else as
// [Responder.FailInternal] does.
func (p Responder) FailFor(w http.ResponseWriter, r *http.Request, err error) {
	no, ok := errors.AsType[UserError](err)
	if !ok || errors.Is(err, ErrUnknown) {
		p.FailInternal(w, r, err)
		return
	}
	said := no.Refusal()
	if said.Do != "" {
		said.Error += "\n" + said.Do
	}
	p.Fail(w, r, http.StatusBadRequest, said.Error)
}
