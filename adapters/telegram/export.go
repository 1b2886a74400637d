package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
)

// An ExportedChat is one chat of an export made with Telegram Desktop ("Export chat
// history", machine-readable JSON).
type ExportedChat struct {
	ID       int64  // as the export has it; see Chat
	Name     string // as it was called
	Type     string // Telegram Desktop's word: private_supergroup, personal_chat, …
	Messages int64  // service messages among them
}

// Chat returns the id by which a bot knows the chat, or false when the export
// does not tell: in a direct chat it depends on who exported it.
func (e ExportedChat) Chat() (string, bool) {
	switch {
	case e.Shared():
		return formatID(superID(e.ID)), true
	case e.Type == "private_group":
		return formatID(-e.ID), true
	default:
		return "", false
	}
}

// Shared reports whether everybody in the chat has the same message ids. Elsewhere
// each account counts for itself, so that an exported message cannot be known
// again by its number.
func (e ExportedChat) Shared() bool {
	return strings.HasSuffix(e.Type, "_supergroup") || strings.HasSuffix(e.Type, "_channel")
}

// superID returns a bot's id of a supergroup or channel.
func superID(id int64) int64 { return -1_000_000_000_000 - id }

// ErrNoExport means that a file is no export of Telegram Desktop's.
var ErrNoExport = errors.New("this is no result.json of Telegram Desktop's")

// ListExport reads an export through and returns its chats. It holds one message
// at a time.
func ListExport(ctx context.Context, r io.Reader) ([]ExportedChat, error) {
	var chats []ExportedChat
	w := exportWalk{dec: json.NewDecoder(r), chat: func(e ExportedChat, each func(func(json.RawMessage) error) error) error {
		err := each(func(json.RawMessage) error {
			e.Messages++
			return ctx.Err()
		})
		chats = append(chats, e)
		return err
	}}
	if err := w.run(); err != nil {
		return nil, err
	}
	if len(chats) == 0 {
		return nil, ErrNoExport
	}
	return chats, nil
}

// exportWalk reads an export as a stream and stops at every chat.
type exportWalk struct {
	dec *json.Decoder
	// chat is given a chat whose messages come next; it calls each once, whose
	// function gets one message after the other.
	chat func(e ExportedChat, each func(func(json.RawMessage) error) error) error
}

// errStop ends a walk that has seen enough.
var errStop = errors.New("enough")

func (w *exportWalk) run() error {
	t, err := w.dec.Token()
	switch {
	case err != nil:
		return exportError(err)
	case t != json.Delim('{'):
		return ErrNoExport
	}
	if err := w.object(0); err != nil && !errors.Is(err, errStop) {
		return exportError(err)
	}
	return nil
}

// exportError says that the file itself is at fault.
func exportError(err error) error {
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, shape := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case syntax, shape, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: %w", ErrNoExport, err)
	default:
		return err
	}
}

// maxExportDepth is how deep chats lie in an export: chats, list, chat.
const maxExportDepth = 4

// object reads an object whose brace was read. An export of one chat is that
// chat; one of an account has them under chats.list and left_chats.list.
func (w *exportWalk) object(depth int) error {
	var e ExportedChat
	for w.dec.More() {
		key, err := w.dec.Token()
		if err != nil {
			return err
		}
		switch key {
		case "name":
			err = w.optional(&e.Name)
		case "type":
			err = w.optional(&e.Type)
		case "id":
			err = w.optional(&e.ID)
		case "messages":
			err = w.messages(e)
		case "chats", "left_chats", "list":
			err = w.inside(depth)
		default:
			var skipped json.RawMessage
			err = w.dec.Decode(&skipped)
		}
		if err != nil {
			return err
		}
	}
	_, err := w.dec.Token()
	return err
}

// optional reads a value that may be missing or of a wrong type.
func (w *exportWalk) optional(into any) error {
	err := w.dec.Decode(into)
	if _, shape := errors.AsType[*json.UnmarshalTypeError](err); shape {
		return nil
	}
	return err
}

// inside reads what holds chats.
func (w *exportWalk) inside(depth int) error {
	t, err := w.dec.Token()
	if err != nil {
		return err
	}
	switch {
	case t == json.Delim('{') && depth < maxExportDepth:
		return w.object(depth + 1)
	case t == json.Delim('['):
		for w.dec.More() {
			if err := w.inside(depth + 1); err != nil {
				return err
			}
		}
		_, err := w.dec.Token()
		return err
	case t == json.Delim('{'):
		return ErrNoExport
	}
	return nil
}

// messages has the messages of a chat taken.
func (w *exportWalk) messages(e ExportedChat) error {
	t, err := w.dec.Token()
	if err != nil {
		return err
	}
	if t != json.Delim('[') {
		return ErrNoExport
	}
	err = w.chat(e, func(take func(json.RawMessage) error) error {
		for w.dec.More() {
			var one json.RawMessage
			if err := w.dec.Decode(&one); err != nil {
				return err
			}
			if err := take(one); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = w.dec.Token()
	return err
}

// An ExportQuery says what is read of an export.
type ExportQuery struct {
	Export ExportedChat // one of those that ListExport found
	Chat   string       // the bot's id of it
	Skip   int64        // messages at the beginning, taken earlier
	Page   int          // messages handed over at once. Default: 200
}

// ReadExport hands the messages of one chat to take, page after page, the oldest
// first, with how many were read so far, Skip included. They carry the keys that
// live updates carry where Telegram's ids allow it. What in a message cannot be
// read comes as Unreadable. It holds one page at a time.
func ReadExport(ctx context.Context, r io.Reader, q ExportQuery, take func(ctx context.Context, page []adapters.Update, done int64) error) error {
	if q.Page <= 0 {
		q.Page = 200
	}
	in := exportReader{markdown: newMarkdown(), q: q, topics: map[int64]int64{}, titles: map[int64]string{}}
	found := false
	w := exportWalk{dec: json.NewDecoder(r), chat: func(e ExportedChat, each func(func(json.RawMessage) error) error) error {
		if found || e.ID != q.Export.ID || e.Type != q.Export.Type {
			return each(func(json.RawMessage) error { return ctx.Err() })
		}
		found = true
		if err := in.pages(ctx, each, take); err != nil {
			return err
		}
		return errStop
	}}
	err := w.run()
	if err == nil && !found {
		return fmt.Errorf("%w, or the chat is not in it any more", ErrNoExport)
	}
	return err
}

// pages reads one chat.
func (x *exportReader) pages(ctx context.Context, each func(func(json.RawMessage) error) error, take func(context.Context, []adapters.Update, int64) error) error {
	var page []adapters.Update
	var done int64
	err := each(func(raw json.RawMessage) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		done++
		u := x.read(raw)
		if done <= x.q.Skip {
			return nil
		}
		page = append(page, u)
		if len(page) < x.q.Page {
			return nil
		}
		full := page
		page = nil
		return take(ctx, full, done)
	})
	if err != nil || len(page) == 0 {
		return err
	}
	return take(ctx, page, done)
}
