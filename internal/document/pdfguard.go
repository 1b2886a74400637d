package document

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"io"
)

// checkStreams fails for a file whose streams would be more than four times the limit
// of unpacked bytes together. The library keeps every object stream decompressed, and
// a kilobyte may hold a megabyte. Pictures are left out: they are never decompressed.
func checkStreams(ctx context.Context, data []byte, out *textWriter) error {
	left := 4 * out.limits.Unpacked
	for at := 0; ; {
		i := bytes.Index(data[at:], []byte("stream"))
		if i < 0 {
			return nil
		}
		start := at + i
		at = start + len("stream")
		if start >= 3 && string(data[start-3:start]) == "end" {
			continue
		}
		body := bytes.TrimLeft(data[at:min(at+2, len(data))], "\r\n")
		begin := at + min(2, len(data)-at) - len(body)
		if isPicture(data[max(0, start-2048):start]) || begin+2 > len(data) || data[begin]&0x0f != 8 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		n, used := inflatedSize(data[begin:], left)
		if left -= n; left <= 0 {
			return fmt.Errorf("%w: its streams are too large", ErrTooLarge)
		}
		at = max(at, begin+used)
	}
}

// isPicture reports whether the text before a stream is the dictionary of a picture,
// and says nothing that could make it something else.
func isPicture(before []byte) bool {
	if i := bytes.LastIndex(before, []byte(" obj")); i >= 0 {
		before = before[i:]
	}
	return bytes.Contains(before, []byte("/Image")) && !bytes.Contains(before, []byte("ObjStm")) && !bytes.Contains(before, []byte("#"))
}

// inflatedSize returns how many bytes data unpacks to, little more than limit at
// most, and how many of its bytes that took.
func inflatedSize(data []byte, limit int64) (int64, int) {
	from := bytes.NewReader(data)
	r, err := zlib.NewReader(from)
	if err != nil {
		return 0, 0
	}
	n, err := io.CopyN(io.Discard, r, limit+1)
	if err != nil && n == 0 {
		return 0, 0
	}
	return n, max(0, len(data)-from.Len()-16)
}
