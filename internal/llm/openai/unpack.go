package openai

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
)

// A decompressTransport transport unpacks an answer that the endpoint compressed although
// nobody asked for it. What reads the answer counts it unpacked, so that its limit
// of bytes holds for little that becomes much.
type decompressTransport struct{ http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (u decompressTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := u.RoundTripper.RoundTrip(r)
	if err != nil || resp.Uncompressed || !packed(resp.Header.Get("Content-Encoding")) {
		return resp, err
	}
	resp.Body = &unpacked{src: resp.Body}
	resp.Header.Del("Content-Encoding")
	resp.Header.Del("Content-Length")
	resp.ContentLength, resp.Uncompressed = -1, true
	return resp, nil
}

func packed(encoding string) bool {
	encoding = strings.ToLower(strings.TrimSpace(encoding))
	return encoding == "gzip" || encoding == "x-gzip"
}

// unpacked is a body that is unpacked as it is read. Nothing of it is read before,
// so that the headers are there at once.
type unpacked struct {
	src io.ReadCloser
	gz  *gzip.Reader
	err error
}

// Read implements [io.Reader].
func (u *unpacked) Read(p []byte) (int, error) {
	if u.gz == nil && u.err == nil {
		u.gz, u.err = gzip.NewReader(u.src)
	}
	if u.err != nil {
		return 0, u.err
	}
	return u.gz.Read(p)
}

// Close implements [io.Closer].
func (u *unpacked) Close() error { return u.src.Close() }
