package discord

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/httpx"
)

// attachmentsOf returns m's files and stickers.
func attachmentsOf(m *message) []adapters.IncomingFile {
	var all []adapters.IncomingFile
	for _, a := range m.Attachments {
		all = append(all, adapters.IncomingFile{
			Kind: kindOf(a), ID: attachmentID(m.ChannelID, m.ID, a.ID), Name: cmp.Or(a.Title, a.Filename), MIME: a.MIME, Size: a.Size,
		})
	}
	for _, s := range m.Stickers {
		all = append(all, adapters.IncomingFile{Kind: "sticker", ID: stickerID + s.ID + "/" + s.extension(), Name: s.Name})
	}
	return all
}

// kindOf returns the contract's word for what a file is.
func kindOf(a attachment) string {
	kind, _, _ := strings.Cut(a.MIME, "/")
	switch {
	case a.Waveform != "":
		return "voice"
	case kind == "image":
		return "photo"
	case kind == "video", kind == "audio":
		return kind
	default:
		return "file"
	}
}

// extension returns what a sticker's file is called behind the dot.
func (s sticker) extension() string {
	const lottie, gif = 3, 4
	switch s.Format {
	case lottie:
		return "json"
	case gif:
		return "gif"
	default:
		return "png"
	}
}

// attachmentID is what [Client.Fetch] needs to find an attachment again: its
// address expires, its message does not.
func attachmentID(channel, message, id string) string { return channel + "/" + message + "/" + id }

// Fetch opens the bytes of an attachment. Its address is asked for anew, because
// those in messages expire.
func (c *messageReader) Fetch(ctx context.Context, a adapters.IncomingFile, limit int64) (io.ReadCloser, error) {
	address, err := c.addressOf(ctx, a)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, &adapters.Error{Kind: adapters.Invalid, Op: "get file", Err: httpx.RedactError(err, 0, c.token, adapters.SecretString(address))}
	}
	resp, err := c.files.Do(req) // without the token: the address is enough
	if err != nil {
		return nil, &adapters.Error{Kind: adapters.NotSent, Op: "get file", Err: httpx.RedactError(err, 0, c.token, adapters.SecretString(address))}
	}
	switch {
	case resp.StatusCode == http.StatusOK && resp.ContentLength <= limit:
		return httpx.LimitBody(resp.Body, limit), nil
	case resp.StatusCode == http.StatusOK:
		err = fmt.Errorf("the file has %d bytes, more than %d", resp.ContentLength, limit)
	default:
		err = fmt.Errorf("HTTP %s", resp.Status)
	}
	_ = resp.Body.Close() // nothing of it is wanted
	_, kind := adapters.JudgeOutcome(adapters.CallOutcome{Written: true, Status: resp.StatusCode})
	if resp.StatusCode == http.StatusOK {
		kind = adapters.Invalid
	}
	return nil, &adapters.Error{Kind: kind, Op: "get file", Err: err}
}

// addressOf returns where an attachment can be had now.
func (c *messageReader) addressOf(ctx context.Context, a adapters.IncomingFile) (string, error) {
	gone := &adapters.Error{Kind: adapters.Invalid, Op: "get file", Err: fmt.Errorf("discord no longer has the file %q", a.Name)}
	channel, rest, _ := strings.Cut(a.ID, "/")
	in, id, ok := strings.Cut(rest, "/")
	switch {
	case !ok:
		return "", gone
	case channel+"/" == stickerID:
		return c.cdn(id) + "/stickers/" + in + "." + id, nil
	}
	var m message
	err := c.readWithRetry(ctx, channelRoute("get message", http.MethodGet, channel, "/messages/"+in), leniently(&m))
	if adapters.KindOf(err) == adapters.NoTarget {
		return "", gone
	}
	if err != nil {
		return "", err
	}
	files := m.Attachments
	for _, s := range m.Snapshots {
		files = append(files, s.Message.Attachments...)
	}
	for _, f := range files {
		if f.ID == id {
			return f.URL, nil
		}
	}
	return "", gone
}

// stickerID begins the id of an attachment that is a sticker.
const stickerID = "sticker/"

// cdn is where Discord keeps what has no message, by its form: stickers that move are
// kept elsewhere (docs.discord.com/reference#image-formatting).
func (c *messageReader) cdn(extension string) string {
	switch known := strings.HasPrefix(c.base, "https://discord.com/"); {
	case known && extension == "gif":
		return "https://media.discordapp.net"
	case known:
		return "https://cdn.discordapp.com"
	}
	base, _, _ := strings.Cut(c.base, "/api")
	return base
}
