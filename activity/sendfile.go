package activity

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"mime"
	"path"
	"strings"

	"github.com/trestle-bridge/trestle/activity/media"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

// sendFile returns the step that sends a file with a caption that names it. What
// this chat cannot be given is reported in words instead, so that no one waits for it.
func (e *stepBuilder) sendFile(ctx context.Context, at *sendTarget, part int, f spaces.MessageFile, answered string) (sendStep, error) {
	f, open, err := e.openFile(ctx, f)
	if err != nil {
		return sendStep{}, err
	}
	a := at.action
	a.Text = "📎 " + escapeMarkdown(fileName(f.FileAttachment)) + e.whyNotSent(a.Chat, f.Size, open != nil)
	texts, unmasked := e.parts(a)
	if len(texts) == 0 {
		return sendStep{}, &adapters.Error{Kind: adapters.Invalid, Op: "send", Err: fmt.Errorf("the file has no name")}
	}
	p := adapters.OutgoingMessage{Text: texts[0], Unmasked: unmasked, ReplyTo: answered}
	if open != nil && e.whyNotSent(a.Chat, f.Size, true) == "" {
		p.Files = []adapters.OutgoingFile{{Name: fileName(f.FileAttachment), MIME: f.MIME, Open: open}}
	}
	s := e.post(at, part, p)
	if a.Thread != "" || a.RoomThread != "" {
		s = e.elsewhere(at, s, texts[0], unmasked)
	}
	s.file, s.shown = true, adapters.OutgoingMessage{}
	return s, nil
}

// whyNotSent returns why a file does not go along to a chat, for the end of its
// caption; empty when it does.
func (e *stepBuilder) whyNotSent(chat string, size int64, here bool) string {
	switch {
	case e.fileSender == nil:
		return " (" + megabytes(size) + ") cannot be shown here."
	case !here:
		return " is no longer here."
	case size > e.fileSender.MaxFile(chat):
		return " (" + megabytes(size) + ") is too large for " + platformName(e.account.Platform) +
			", which takes " + megabytes(e.fileSender.MaxFile(chat)) + "."
	}
	return ""
}

// openFile returns a file with what is known of it by now and how its bytes are
// opened; nil when they are not here.
func (e *stepBuilder) openFile(ctx context.Context, f spaces.MessageFile) (spaces.MessageFile, func(context.Context) (io.ReadCloser, error), error) {
	if f.Account == "" {
		f.Size = int64(len(f.Data))
		return f, func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(f.Data)), nil }, nil
	}
	if e.o.Files == nil || e.o.Blobs == nil {
		return f, nil, nil
	}
	known, found, err := e.o.Files.File(ctx, f.Account, f.ID)
	if err != nil {
		return f, nil, fmt.Errorf("find file: %w", err)
	}
	if !found || known.State != media.FileStored {
		return f, nil, nil
	}
	f.Size = known.Bytes
	f.MIME = cmp.Or(f.MIME, known.Media)
	kept, err := e.o.Blobs.Take(known.Hash)
	if err != nil { // a person removed it from the disk: the actions behind it must not wait for ever
		e.logger.Error("file is not where it was put", "err", err)
		return f, nil, nil
	}
	if err := kept.Close(); err != nil {
		return f, nil, fmt.Errorf("close file: %w", err)
	}
	return f, func(context.Context) (io.ReadCloser, error) { return e.o.Blobs.Take(known.Hash) }, nil
}

// fileName returns what a file is called where it goes: its own name, without
// folders, else its kind, with an ending that says what it is.
func fileName(a spaces.FileAttachment) string {
	name := path.Base(strings.ReplaceAll(strings.Join(strings.Fields(a.Name), " "), "\\", "/"))
	if name == "" || name == "." || name == "/" {
		name = a.Kind
	}
	if path.Ext(name) != "" {
		return name
	}
	mediaType, _, err := mime.ParseMediaType(a.MIME)
	if err != nil {
		return name
	}
	return name + media.FileExtension(mediaType)
}

// megabytes returns a size as people read it.
func megabytes(size int64) string {
	if size < 1<<20 {
		return fmt.Sprintf("%d KB", (size+1023)/1024)
	}
	return fmt.Sprintf("%.1f MB", float64(size)/(1<<20))
}
