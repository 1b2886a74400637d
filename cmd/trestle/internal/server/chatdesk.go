package server

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/local"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/spaces"
)

// A chatDesk implements [console.ChatDesk] over the rooms of the terminal.
type chatDesk struct{ s *Server }

var _ console.ChatDesk = chatDesk{}

// Rooms implements [console.ChatDesk].
func (d chatDesk) Rooms() (all []console.ChatRoom) {
	for _, s := range append(d.s.localRooms(), d.s.directRooms()...) {
		r := console.ChatRoom{
			Key: s.Key, Name: cmp.Or(s.Name, s.Key), Direct: isDirect(s), Hint: strings.TrimSpace(d.s.WakeHint(s)),
			Terminal: "trestle chat " + strings.TrimPrefix(s.Key, directPrefix),
		}
		for _, id := range s.Agents {
			if a, ok := d.s.Config().Agent(id); ok {
				r.Agents = append(r.Agents, a.Name)
			}
		}
		all = append(all, r)
	}
	return all
}

// known reports whether there is a room of exactly that key.
func (d chatDesk) known(key string) bool {
	return slices.ContainsFunc(append(d.s.localRooms(), d.s.directRooms()...), func(s config.SpaceEntry) bool { return s.Key == key })
}

// Enter implements [console.ChatDesk].
func (d chatDesk) Enter(ctx context.Context, room string) (console.ChatSeat, error) {
	if !d.known(room) {
		return nil, console.ErrUnknown
	}
	place, err := d.s.EnterRoom(ctx, room)
	if err != nil {
		return nil, err
	}
	return chatSeat{d.s.SpaceManager, place}, nil
}

// Say implements [console.ChatDesk].
func (d chatDesk) Say(ctx context.Context, room string, l console.ChatLine) (string, error) {
	seat, err := d.Enter(ctx, room)
	if err != nil {
		return "", err
	}
	defer seat.Leave(ctx)
	files, err := d.keepFiles(l.Files)
	if err != nil {
		return "", err
	}
	return d.s.rooms.Say(ctx, you, local.HumanLine{ID: l.ID, Chat: room, Text: l.Text, Files: files})
}

// keepFiles stores uploaded files under their hashes, by which the fetcher of files opens them
// once the line is recorded.
func (d chatDesk) keepFiles(uploads []console.ChatUpload) (files []adapters.IncomingFile, err error) {
	if len(uploads) == 0 {
		return nil, nil
	}
	limits := d.s.Config().SettingsFor("", "").Attachments
	if d.s.files == nil || !limits.Fetch {
		return nil, &apperr.Error{What: "agents get no files here", Where: "attachments.fetch", Remedy: "set it to true, or send the text of the file", Code: apperr.Failed}
	}
	for _, f := range uploads {
		if f.Size > int64(limits.MaxMB)<<20 {
			return nil, &apperr.Error{
				What: fmt.Sprintf("%s has %d MB, and a file may have %d", f.Name, f.Size>>20, limits.MaxMB), Where: "attachments.max_mb",
				Remedy: "send a smaller file, or raise attachments.max_mb", Code: apperr.Failed,
			}
		}
		hash, size, err := d.s.files.Put(f.Body)
		if err != nil {
			return nil, fmt.Errorf("keep file %s: %w", f.Name, err)
		}
		files = append(files, adapters.IncomingFile{Kind: uploadKind(f.MIME), ID: hash, Name: filepath.Base(f.Name), MIME: f.MIME, Size: size})
	}
	return files, nil
}

// uploadKind returns the kind of a file of that media type, as platforms call it.
func uploadKind(media string) string {
	class, _, _ := strings.Cut(media, "/")
	switch class {
	case "image":
		return "photo"
	case "audio", "video":
		return class
	}
	return "file"
}

// Press implements [console.ChatDesk].
func (d chatDesk) Press(ctx context.Context, room, message, value string) (string, error) {
	if !d.known(room) {
		return "", console.ErrUnknown
	}
	return d.s.rooms.Press(ctx, you, room, message, value)
}

// Buttons implements [console.ChatDesk].
func (d chatDesk) Buttons(room string) map[string][]console.ChatButton {
	all := map[string][]console.ChatButton{}
	for message, choices := range d.s.rooms.Offers(room) {
		all[message] = chatButtons(choices)
	}
	return all
}

func chatButtons(choices []adapters.ChoiceButton) (all []console.ChatButton) {
	for _, c := range choices {
		all = append(all, console.ChatButton{Label: c.Label, Value: c.Value})
	}
	return all
}

// A chatSeat is a browser in a room.
type chatSeat struct {
	rooms *SpaceManager
	place *LocalRoom
}

// Space implements [console.ChatSeat].
func (s chatSeat) Space() spaces.SpaceID { return s.place.Space }

// Leave implements [console.ChatSeat].
func (s chatSeat) Leave(ctx context.Context) { s.rooms.Leave(ctx, s.place) }

// Next implements [console.ChatSeat].
func (s chatSeat) Next(ctx context.Context) (console.ChatSign, error) {
	shown, err := s.place.sub.Next(ctx)
	if err != nil {
		return console.ChatSign{}, err
	}
	switch v := shown.(type) { //nolint:gochecksumtype // everything else is in the log
	case local.DraftShown:
		return console.ChatSign{Kind: console.ChatDraft, Who: cmp.Or(v.From, s.place.own()), Key: v.Key, Text: v.Text, Buttons: chatButtons(v.Choices)}, nil
	case local.TypingShown:
		return console.ChatSign{Kind: console.ChatTyping, Who: s.place.own()}, nil
	}
	return console.ChatSign{Kind: console.ChatChanged}, nil
}

// orUnknown returns err, or that nothing was found.
func orUnknown(err error) error {
	if err == nil {
		return console.ErrUnknown
	}
	return err
}

// openMessageFile opens the nth file of a message; see [console.Options].
func (d chatDesk) openMessageFile(ctx context.Context, message spaces.EventID, n int) (console.MessageFile, error) {
	f, found, err := d.s.border.MessageFile(ctx, message, n)
	if err != nil || !found {
		return console.MessageFile{}, orUnknown(err)
	}
	open := console.MessageFile{Name: f.Name, MIME: cmp.Or(f.MIME, mime.TypeByExtension(filepath.Ext(f.Name))), Size: f.Size}
	if f.Account == "" {
		open.Size, open.Body = int64(len(f.Data)), io.NopCloser(bytes.NewReader(f.Data))
		return open, nil
	}
	known, found, err := d.s.border.File(ctx, f.Account, f.ID)
	if err != nil || !found || known.Hash == "" || d.s.files == nil {
		return console.MessageFile{}, orUnknown(err)
	}
	open.Size, open.MIME = known.Bytes, cmp.Or(known.Media, open.MIME)
	if open.Body, err = d.s.files.Take(known.Hash); err != nil {
		return console.MessageFile{}, errors.Join(console.ErrUnknown, err)
	}
	return open, nil
}
