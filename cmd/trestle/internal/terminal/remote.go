package terminal

import (
	"context"
	"encoding/json"
	"io"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/internal/console"
)

// RemoteRoom is a place in a room of another process.
type RemoteRoom struct {
	control *control.Client
	room    string
	as      string                 // the name to speak under; empty is the operator
	heard   chan control.HeardLine // never closed; ReadStream fills it
	Opened  chan struct{}          // closed once the other process has us in the room
	ended   chan struct{}          // closed when the room is gone
	quieted chan string            // marks of [farChair.quiet] as they come back
}

var _ JoinedRoom = (*RemoteRoom)(nil)

// NewRemoteRoom returns a place in a room of the process that c calls. Nothing is
// heard before [RemoteRoom.ReadStream] reads the stream of the room.
func NewRemoteRoom(c *control.Client, talk ChatOptions) *RemoteRoom {
	return &RemoteRoom{
		control: c, room: talk.Room, as: talk.As, heard: make(chan control.HeardLine, 64),
		Opened: make(chan struct{}), ended: make(chan struct{}), quieted: make(chan string, 1),
	}
}

// ReadStream takes in what the room shows until its stream ends.
func (f *RemoteRoom) ReadStream(ctx context.Context, body io.Reader) error {
	close(f.Opened)
	defer close(f.ended)
	return console.ReadStream(body, func(_ int64, data []byte) error {
		var h control.HeardLine
		if err := json.Unmarshal(data, &h); err != nil {
			return err
		}
		select {
		case f.heard <- h:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
}

// Say has the other process take the line.
func (f *RemoteRoom) Say(ctx context.Context, text string) (string, error) {
	var a control.SayAnswer
	err := f.control.Post(ctx, "/chat/say", control.SayRequest{Space: f.room, Text: text, As: f.as}, &a)
	return a.Message, err
}

// Reason asks the other process why a message woke no agent.
func (f *RemoteRoom) Reason(ctx context.Context, message string) (string, error) {
	var a control.ReasonAnswer
	err := f.control.Post(ctx, "/chat/reason", control.ReasonRequest{Space: f.room, Message: message}, &a)
	return a.Reason, err
}

// Hear returns the next thing seen in the room.
func (f *RemoteRoom) Hear(ctx context.Context) (control.HeardLine, error) {
	for {
		select {
		case h := <-f.heard:
			if h.Kind != "quiet" {
				return h, nil
			}
			select {
			case f.quieted <- h.Text:
			default: // not waited for
			}
		case <-f.ended:
			return control.HeardLine{}, io.EOF
		case <-ctx.Done():
			return control.HeardLine{}, context.Cause(ctx)
		}
	}
}

// WaitQuiet waits until the other process has nothing under way and everything it
// said in the room was heard here.
func (f *RemoteRoom) WaitQuiet(ctx context.Context) error {
	mark := storeopen.NewID()
	if err := f.control.Post(ctx, "/chat/quiet", control.QuietRequest{Space: f.room, Mark: mark}, &control.EmptyAnswer{}); err != nil {
		return err
	}
	for {
		select {
		case got := <-f.quieted:
			if got == mark {
				return nil
			}
		case <-f.ended:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
