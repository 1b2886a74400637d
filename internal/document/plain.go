package document

import (
	"bytes"
	"context"
	"mime"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
)

// extractPlain reads text of any kind as it is written.
func extractPlain(ctx context.Context, src FileSource, out *textWriter) error {
	text, err := decodeText(src.Data, declaredCharset(src.MediaType), out.limits.Output)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	out.write(text)
	return nil
}

// declaredCharset returns the charset parameter of a media type, or "".
func declaredCharset(media string) string {
	_, params, err := mime.ParseMediaType(media)
	if err != nil {
		return ""
	}
	return params["charset"]
}

// decodeText returns data as UTF-8: by its byte order mark, else as UTF-8 if it is
// that, else by the declared charset, else as windows-1252, of which Latin-1 is a
// part. It decodes little more than limit bytes.
func decodeText(data []byte, declared string, limit int) (string, error) {
	if len(data) > 4*limit+16 {
		data = data[:4*limit+16] // no encoding needs more bytes for a character
	}
	if enc, skip := markedEncoding(data); enc != nil {
		return transform(enc, data[skip:])
	}
	if validUTF8(data) {
		return string(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))), nil
	}
	enc, _ := charset.Lookup(declared)
	if enc == nil || enc == encoding.Nop {
		enc, _ = charset.Lookup("windows-1252")
	}
	return transform(enc, data)
}

// markedEncoding returns the encoding of a byte order mark other than UTF-8's, and
// the length of the mark.
func markedEncoding(data []byte) (encoding.Encoding, int) {
	var name string
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		name = "utf-16le"
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		name = "utf-16be"
	default:
		return nil, 0
	}
	enc, _ := charset.Lookup(name)
	return enc, 2
}

func transform(enc encoding.Encoding, data []byte) (string, error) {
	text, err := enc.NewDecoder().Bytes(data)
	return string(text), err
}

// validUTF8 reports whether data is UTF-8, but for a character that its end cuts.
func validUTF8(data []byte) bool {
	for n := 1; n < utf8.UTFMax && n <= len(data); n++ {
		if tail := data[len(data)-n:]; utf8.RuneStart(tail[0]) && !utf8.FullRune(tail) {
			return utf8.Valid(data[:len(data)-n])
		}
	}
	return utf8.Valid(data)
}
