package discord

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/httpx"
)

// What Discord takes with one message (docs.discord.com/reference#uploading-files).
const (
	maxFiles     = 10
	maxUpload    = 10 << 20 // each
	maxUploadAll = 25 << 20
)

var _ adapters.FileSender = (*Client)(nil)

// MaxFile returns how many bytes a file may have. A server that was boosted takes
// more, which it does not tell.
func (c *messageSender) MaxFile(string) int64 { return maxUpload }

// post makes a call that creates a message, with files if there are any.
func (c *messageSender) post(ctx context.Context, r route, body any, files []adapters.File, into any) error {
	if len(files) == 0 {
		return c.call(ctx, r, body, into)
	}
	if len(files) > maxFiles {
		return &adapters.Error{Kind: adapters.Invalid, Op: r.op, Err: fmt.Errorf("%d files, discord takes %d", len(files), maxFiles)}
	}
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	if err := addJSON(form, body); err != nil {
		return &adapters.Error{Kind: adapters.Invalid, Op: r.op, Err: err}
	}
	total := int64(0)
	for i, f := range files {
		n, err := addFile(ctx, form, i, f)
		if err != nil {
			return &adapters.Error{Kind: adapters.NotSent, Op: r.op, Err: err}
		}
		if total += n; n > maxUpload || total > maxUploadAll {
			return &adapters.Error{Kind: adapters.Invalid, Op: r.op, Err: fmt.Errorf("file %q is too large for discord", f.Name)}
		}
	}
	if err := form.Close(); err != nil {
		return &adapters.Error{Kind: adapters.NotSent, Op: r.op, Err: err}
	}
	return c.exchange(ctx, r, form.FormDataContentType(), b.Bytes(), into)
}

// addJSON adds the message itself. Files need no list of their own: those with a
// number in their field's name are attached.
func addJSON(form *multipart.Writer, body any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	part, err := form.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="payload_json"`}, "Content-Type": {"application/json"},
	})
	if err != nil {
		return err
	}
	_, err = part.Write(raw)
	return err
}

// addFile adds the n-th file and returns its size, which is more than allowed
// where it was cut.
func addFile(ctx context.Context, form *multipart.Writer, n int, f adapters.File) (int64, error) {
	from, err := f.Open(ctx)
	if err != nil {
		return 0, fmt.Errorf("open file %q: %w", f.Name, err)
	}
	defer from.Close()
	mime := cmp.Or(f.MIME, "application/octet-stream")
	name := strings.NewReplacer("\\", "_", `"`, "_", "\r", "_", "\n", "_").Replace(f.Name)
	part, err := form.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="files[` + strconv.Itoa(n) + `]"; filename="` + name + `"`}, "Content-Type": {mime},
	})
	if err != nil {
		return 0, err
	}
	size, err := io.Copy(part, io.LimitReader(from, maxUpload+1))
	if err != nil {
		return 0, fmt.Errorf("read file %q: %w", f.Name, err)
	}
	return size, nil
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

var _ adapters.FileDownloader = (*Client)(nil)

// Fetch opens the bytes of an attachment. Its address is asked for anew, because
// those in messages expire.
func (c *messageReader) Fetch(ctx context.Context, a adapters.Attachment, limit int64) (io.ReadCloser, error) {
	address, err := c.addressOf(ctx, a)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, &adapters.Error{Kind: adapters.Invalid, Op: "get file", Err: httpx.Hide(err, 0, c.token, adapters.Secret(address))}
	}
	resp, err := c.files.Do(req) // without the token: the address is enough
	if err != nil {
		return nil, &adapters.Error{Kind: adapters.NotSent, Op: "get file", Err: httpx.Hide(err, 0, c.token, adapters.Secret(address))}
	}
	switch {
	case resp.StatusCode == http.StatusOK && resp.ContentLength <= limit:
		return httpx.Capped(resp.Body, limit), nil
	case resp.StatusCode == http.StatusOK:
		err = fmt.Errorf("the file has %d bytes, more than %d", resp.ContentLength, limit)
	default:
		err = fmt.Errorf("HTTP %s", resp.Status)
	}
	_ = resp.Body.Close() // nothing of it is wanted
	_, kind := adapters.Judge(adapters.CallOutcome{Written: true, Status: resp.StatusCode})
	if resp.StatusCode == http.StatusOK {
		kind = adapters.Invalid
	}
	return nil, &adapters.Error{Kind: kind, Op: "get file", Err: err}
}

// addressOf returns where an attachment can be had now.
func (c *messageReader) addressOf(ctx context.Context, a adapters.Attachment) (string, error) {
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
	err := c.patiently(ctx, channelRoute("get message", http.MethodGet, channel, "/messages/"+in), leniently(&m))
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
