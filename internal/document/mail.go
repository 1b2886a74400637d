package document

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"strings"

	"golang.org/x/net/html/charset"
)

// maxMailDepth bounds the multiparts and forwarded messages within each other.
const maxMailDepth = 10

// extractMail reads a message of RFC 5322: who wrote to whom and when, its text, and
// the names of its attachments, which are not read.
func extractMail(ctx context.Context, src FileSource, out *textWriter) error {
	return readMail(ctx, bytes.NewReader(src.Data), out, 0)
}

// mailHeaders are shown, in this order.
var mailHeaders = []string{"From", "To", "Cc", "Date", "Subject"}

func readMail(ctx context.Context, r io.Reader, out *textWriter, depth int) error {
	m, err := mail.ReadMessage(r)
	if err != nil {
		return err
	}
	words := mime.WordDecoder{CharsetReader: charset.NewReaderLabel}
	var head []string
	for _, name := range mailHeaders {
		value := m.Header.Get(name)
		if text, err := words.DecodeHeader(value); err == nil {
			value = text
		}
		if value != "" {
			head = append(head, name+": "+strings.Join(strings.Fields(value), " "))
		}
		if name == "Subject" && depth == 0 {
			out.setTitle(value)
		}
	}
	out.writeBlock(strings.Join(head, "\n"))
	return readMailPart(ctx, m.Header.Get("Content-Type"), "", m.Header.Get("Content-Transfer-Encoding"), m.Body, out, depth)
}

// readMailPart writes the text of one part of a message.
func readMailPart(ctx context.Context, declared, file, coding string, body io.Reader, out *textWriter, depth int) error {
	if depth > maxMailDepth {
		return fmt.Errorf("%w: parts within parts", ErrTooLarge)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	media, params, err := mime.ParseMediaType(declared)
	if err != nil {
		media, params = "text/plain", nil
	}
	if file == "" {
		file = params["name"]
	}
	body = decodeTransfer(coding, body)
	switch {
	case strings.HasPrefix(media, "multipart/"):
		return readMultipart(ctx, media, params["boundary"], body, out, depth+1)
	case media == "message/rfc822":
		out.writeBlock("---------- forwarded message ----------")
		return readMail(ctx, body, out, depth+1)
	case file != "":
		out.writeBlock("[attachment: " + file + "]")
		return nil
	case media == "text/html", media == "text/plain":
		data, err := io.ReadAll(io.LimitReader(body, int64(4*out.limits.Output)))
		if err != nil && len(data) == 0 {
			return err
		}
		if media == "text/html" {
			return extractHTML(ctx, FileSource{Data: data, MediaType: declared}, out)
		}
		text, err := decodeText(data, params["charset"], out.limits.Output)
		if err != nil {
			return err
		}
		out.writeBlock(cleanText(text))
	}
	return nil
}

// decodeTransfer undoes a transfer encoding of RFC 2045.
func decodeTransfer(coding string, body io.Reader) io.Reader {
	switch strings.ToLower(strings.TrimSpace(coding)) {
	case "base64":
		return base64.NewDecoder(base64.StdEncoding, body)
	case "quoted-printable":
		return quotedprintable.NewReader(body)
	default:
		return body
	}
}

// readMultipart writes the parts of a message; of alternatives, the plain text if
// there is one.
func readMultipart(ctx context.Context, media, boundary string, body io.Reader, out *textWriter, depth int) error {
	r := multipart.NewReader(body, boundary)
	written := false
	for n := 0; ; n++ {
		if n > 1000 || out.full() {
			out.cut = true
			return nil
		}
		p, err := r.NextRawPart()
		if err != nil {
			return nil //nolint:nilerr // a message without its last boundary ends here
		}
		kind := p.Header.Get("Content-Type")
		if media == "multipart/alternative" && written && !strings.HasPrefix(kind, "multipart/") {
			continue
		}
		file := p.FileName()
		if file == "" && strings.HasPrefix(p.Header.Get("Content-Disposition"), "attachment") {
			file = "without a name"
		}
		before := out.b.Len()
		if err := readMailPart(ctx, kind, file, p.Header.Get("Content-Transfer-Encoding"), p, out, depth); err != nil {
			return err
		}
		written = written || out.b.Len() > before
	}
}
