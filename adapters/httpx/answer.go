package httpx

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/trestle-bridge/trestle/adapters"
)

// maxAnswer bounds one answer of a platform.
const maxAnswer = 64 << 20

// An Answer is what was seen of one call, as far as it came.
type Answer struct {
	Written bool // some of the request may have left us
	Status  int  // 0 when no answer came
	Header  http.Header
	Whole   []byte // the body; nil unless it was read to its end
}

// Take reads the body of resp whole, so that the connection is used again and an
// answer that nobody can parse can still be looked at. It returns resp as it was
// given, with the same bytes to be read.
func (a *Answer) Take(resp *http.Response, err error) (*http.Response, error) {
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	a.Status, a.Header = resp.StatusCode, resp.Header
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxAnswer {
		return nil, fmt.Errorf("the answer is longer than %d bytes", maxAnswer)
	}
	a.Whole = body
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// Capped returns body, whose reading fails with [adapters.Invalid] beyond limit bytes.
func Capped(body io.ReadCloser, limit int64) io.ReadCloser {
	return capped{http.MaxBytesReader(nil, body, limit)}
}

type capped struct{ io.ReadCloser }

// Read reads on.
func (c capped) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if long, ok := errors.AsType[*http.MaxBytesError](err); ok {
		err = &adapters.Error{Kind: adapters.Invalid, Op: "get file", Err: fmt.Errorf("the file has more than %d bytes", long.Limit)}
	}
	return n, err
}
