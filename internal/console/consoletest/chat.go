package consoletest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/spaces"
)

// ChatRoom is the key of the one room in which an operator of a made up console can talk. It is
// the room of the newest story.
const ChatRoom = "home"

// A chatDesk implements [console.ChatDesk] over the record of a world, without agents.
type chatDesk struct{ w *ConsoleWorld }

var _ console.ChatDesk = chatDesk{}

// Rooms implements [console.ChatDesk].
func (d chatDesk) Rooms() []console.ChatRoom {
	text := d.w.Program.text()
	return []console.ChatRoom{{Key: ChatRoom, Name: text, Agents: []string{text}, Hint: text, Terminal: "trestle chat home"}}
}

// Enter implements [console.ChatDesk].
func (d chatDesk) Enter(_ context.Context, room string) (console.ChatSeat, error) {
	if room != ChatRoom {
		return nil, console.ErrUnknown
	}
	return chatSeat(d), nil
}

// Say implements [console.ChatDesk]: the line is in the record, and nothing answers it.
func (d chatDesk) Say(ctx context.Context, _ string, l console.ChatLine) (string, error) {
	said := spaces.MessagePosted{Text: l.Text, Ref: spaces.MessageRef{Account: "local:local", Chat: ChatRoom, Message: l.ID}}
	for n, f := range l.Files {
		data, err := io.ReadAll(f.Body)
		if err != nil {
			return "", err
		}
		said.Attachments = append(said.Attachments, spaces.FileAttachment{Kind: "file", ID: fmt.Sprint(l.ID, n), Name: f.Name, MIME: f.MIME, Size: int64(len(data))})
		d.w.Program.note("uploaded " + f.Name + " " + string(data))
	}
	_, err := d.w.Store.Border().Record(ctx, spaces.IngestBatch{Account: "local:local", At: time.Now(), Items: []spaces.IngestItem{{
		From: spaces.PlatformIdentity{Platform: "local", User: "you", Kind: spaces.Human, Name: "you"},
		Event: spaces.Event{
			Space: chatSeat(d).Space(), Object: spaces.ChatObject, At: time.Now(), Source: "local:local|" + l.ID, Body: said,
		},
		Ref: said.Ref,
	}}})
	d.w.Signs <- console.ChatSign{Kind: console.ChatChanged}
	return l.ID, err
}

// Press implements [console.ChatDesk].
func (d chatDesk) Press(_ context.Context, _, message, value string) (string, error) {
	d.w.Program.note("pressed " + message + " " + value)
	return "pressed", nil
}

// Buttons implements [console.ChatDesk]. Every message of the agent has one.
func (d chatDesk) Buttons(string) map[string][]console.ChatButton {
	text := d.w.Program.text()
	return map[string][]console.ChatButton{"m1": {{Label: text, Value: text}}}
}

// A chatSeat shows what is sent to [ConsoleWorld.Signs].
type chatSeat struct{ w *ConsoleWorld }

// Space implements [console.ChatSeat].
func (s chatSeat) Space() spaces.SpaceID {
	s.w.Program.mu.Lock()
	defer s.w.Program.mu.Unlock()
	return s.w.Program.room
}

// Next implements [console.ChatSeat].
func (s chatSeat) Next(ctx context.Context) (console.ChatSign, error) {
	select {
	case sign := <-s.w.Signs:
		return sign, nil
	case <-ctx.Done():
		return console.ChatSign{}, context.Cause(ctx)
	}
}

// Leave implements [console.ChatSeat].
func (s chatSeat) Leave(context.Context) {}

// Picture is the file that every message of a made up console carries.
const Picture = "\x89PNG\r\n\x1a\n"

// openFile opens the first file of any message: the beginning of a picture.
func openFile(_ context.Context, _ spaces.EventID, n int) (console.MessageFile, error) {
	if n != 0 {
		return console.MessageFile{}, console.ErrUnknown
	}
	return console.MessageFile{Name: "cat.png", MIME: "image/png", Size: int64(len(Picture)), Body: io.NopCloser(bytes.NewReader([]byte(Picture)))}, nil
}
