package discord

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/textproto"
	"strconv"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
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
func (c *messageSender) post(ctx context.Context, r route, body any, files []adapters.OutgoingFile, into any) error {
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

// A voiceAttachment is what Discord wants to know of a voice message
// (docs.discord.com/developers/resources/message#attachment-object).
type voiceAttachment struct {
	ID       int     `json:"id,string"` // the number of the file
	Filename string  `json:"filename"`
	Seconds  float64 `json:"duration_secs"`
	Waveform []byte  `json:"waveform"` // up to 256 samples from silence to 255; JSON has them as base64
}

// isVoiceMessage marks a message that is a recording and has no words.
const isVoiceMessage = 1 << 13

// spoken returns the message as a voice message, if its only file is one. Its waveform is even: it is
// only drawn.
func (o outgoing) spoken(files []adapters.OutgoingFile) outgoing {
	if len(files) != 1 || files[0].Spoken <= 0 {
		return o
	}
	o.Content, o.Flags, o.Components = "", o.Flags|isVoiceMessage, nil
	o.Attachments = []voiceAttachment{{Filename: files[0].Name, Seconds: files[0].Spoken.Seconds(), Waveform: bytes.Repeat([]byte{128}, 64)}}
	return o
}

// addJSON adds the message itself. Files need no list of their own, unless they are voice messages: those with a
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
func addFile(ctx context.Context, form *multipart.Writer, n int, f adapters.OutgoingFile) (int64, error) {
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

var _ adapters.FileDownloader = (*Client)(nil)
