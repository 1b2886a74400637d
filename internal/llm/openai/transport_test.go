package openai

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// dripping is a transport whose answer comes in pieces, each after a wait that
// the request's context may end.
func dripping(first, gap time.Duration, pieces ...string) fakeTransport {
	return func(r *http.Request) (*http.Response, error) {
		ctx := r.Context()
		if err := sleep(ctx, first); err != nil {
			return nil, err
		}
		return &http.Response{StatusCode: http.StatusOK, Body: &drip{wait: func() error { return sleep(ctx, gap) }, pieces: pieces}}, nil
	}
}

type drip struct {
	wait   func() error // until the next piece, or the end of the request
	pieces []string
}

func (d *drip) Read(p []byte) (int, error) {
	if err := d.wait(); err != nil {
		return 0, err
	}
	if len(d.pieces) == 0 {
		return 0, io.EOF
	}
	n := copy(p, d.pieces[0])
	d.pieces = d.pieces[1:]
	return n, nil
}

func (d *drip) Close() error { return nil }

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A call ends after 5 minutes in all, or 60 seconds between chunks.
func TestCallsEndWhenTheEndpointIsSlowOrSilent(t *testing.T) {
	piece := "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"
	last := "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
	many := make([]string, 1000)
	for i := range many {
		many[i] = piece
	}
	for name, tt := range map[string]struct {
		transport fakeTransport
		cause     error // nil: it answers
		after     time.Duration
	}{
		"slow start":            {dripping(4*time.Minute, time.Second, piece, last), nil, 4*time.Minute + 3*time.Second},
		"slow pieces":           {dripping(0, 59*time.Second, piece, last), nil, 177 * time.Second},
		"no headers":            {dripping(time.Hour, 0), errTotal, 5 * time.Minute},
		"silence after headers": {dripping(2*time.Second, time.Hour, piece), errSilent, 62 * time.Second},
		"silence in the middle": {dripping(0, 61*time.Second, piece, last), errSilent, 60 * time.Second},
		"endless":               {dripping(0, 30*time.Second, many...), errTotal, 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := mustNew(t, Options{BaseURL: "http://model.test", Transport: tt.transport})
				start := time.Now()
				_, err := c.Generate(t.Context(), hello)
				if got := time.Since(start); got.Round(100*time.Millisecond) != tt.after {
					t.Errorf("returned after %s, want %s", got, tt.after)
				}
				if tt.cause == nil {
					if err != nil {
						t.Error(err)
					}
					return
				}
				if llm.KindOf(err) != llm.Timeout || !errors.Is(err, tt.cause) {
					t.Errorf("error = %v, want a timeout: %v", err, tt.cause)
				}
			})
		})
	}
}

func TestDeadlineOfTheCallerIsATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := mustNew(t, Options{BaseURL: "http://model.test", Transport: dripping(time.Hour, 0)})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := c.Generate(ctx, hello)
		if llm.KindOf(err) != llm.Timeout || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error = %v, want a timeout", err)
		}
	})
}

func TestAnswerIsNotHeldUpByABodyLeftOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done := "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
		c := mustNew(t, Options{BaseURL: "http://model.test", Transport: fakeTransport(func(r *http.Request) (*http.Response, error) {
			open := &drip{wait: func() error { return sleep(r.Context(), time.Hour) }}
			return &http.Response{StatusCode: http.StatusOK, Body: struct {
				io.Reader
				io.Closer
			}{io.MultiReader(strings.NewReader(done), open), open}}, nil
		})})
		start := time.Now()
		got, err := c.Generate(t.Context(), hello)
		if err != nil || got.Text != "a" || time.Since(start) > drainFor {
			t.Errorf("answer %+v after %s, error %v", got, time.Since(start), err)
		}
	})
}

// gzipped packs a text.
func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const (
	firstHalf  = `{"choices":[{"delta":{"content":"Good "}}]}`
	secondHalf = `{"choices":[{"delta":{"content":"morning"},"finish_reason":"stop"}]}`
)

// An answer that is compressed without a request is read, streamed, whole or
// refused.
func TestCompressedAnswerIsUnpacked(t *testing.T) {
	packed := http.Header{"Content-Encoding": {"GZIP"}}
	for name, body := range map[string]string{
		"stream": stream(firstHalf, secondHalf),
		"plain":  `{"choices":[{"message":{"content":"Good morning"},"finish_reason":"stop"}]}`,
	} {
		got, err := canned(t, 200, packed.Clone(), gzipped(t, body)).Generate(t.Context(), hello)
		if err != nil || got.Text != "Good morning" {
			t.Errorf("%s: %q, %v", name, got.Text, err)
		}
	}
	_, err := canned(t, 429, packed.Clone(), gzipped(t, `{"error":{"message":"slow down"}}`)).Generate(t.Context(), hello)
	if err == nil || llm.KindOf(err) != llm.Limited || !strings.Contains(err.Error(), "slow down") {
		t.Errorf("a refusal: %v", err)
	}
	whole := gzipped(t, stream(firstHalf, secondHalf))
	for name, body := range map[string]string{"half": whole[:len(whole)/2], "not packed at all": stream(firstHalf, secondHalf)} {
		if _, err := canned(t, 200, packed.Clone(), body).Generate(t.Context(), hello); err == nil || llm.KindOf(err) != llm.Garbled {
			t.Errorf("%s: %v, want garbled", name, err)
		}
	}
	heard, _, err := canned(t, 200, packed.Clone(), gzipped(t, `{"text":"hello there"}`)).Transcribe(t.Context(), "w", "v.ogg", strings.NewReader("OggS"), 4)
	if err != nil || heard != "hello there" {
		t.Errorf("a recording: %q, %v", heard, err)
	}
}

// Hear receives a compressed stream while it arrives, over a real connection.
func TestCompressedStreamIsHeardAsItComes(t *testing.T) {
	heard := make(chan struct{})
	c := newClient(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Encoding", "gzip")
		w := gzip.NewWriter(rw)
		defer func() { _ = w.Close() }() // the client has gone
		for i, part := range []string{"data: " + firstHalf + "\n\n", "data: " + secondHalf + "\n\ndata: [DONE]\n\n"} {
			if i > 0 {
				select {
				case <-heard:
				case <-r.Context().Done():
					return
				}
			}
			_, _ = io.WriteString(w, part)
			_ = w.Flush()
			rw.(http.Flusher).Flush()
		}
	}), Options{})
	r, once := hello, sync.Once{}
	r.Hear = func(llm.ModelResponse) { once.Do(func() { close(heard) }) }
	if got, err := c.Generate(t.Context(), r); err != nil || got.Text != "Good morning" {
		t.Errorf("%q, %v", got.Text, err)
	}
}

// The byte limit applies to the decompressed size.
func TestPackedBombStopsAtTheLimit(t *testing.T) {
	bomb := gzipped(t, `data: {"choices":[{"delta":{"content":"`+strings.Repeat("a", 64<<20)+`"}}]}`)
	src := strings.NewReader(bomb)
	c := mustNew(t, Options{BaseURL: "http://model.test/v1", MaxBytes: 1 << 20, Transport: fakeTransport(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Encoding": {"gzip"}}, Body: io.NopCloser(src)}, nil
	})})
	_, err := c.Generate(t.Context(), hello)
	if err == nil || !strings.Contains(err.Error(), errTooLarge.Error()) {
		t.Errorf("got %v, want that it is too large", err)
	}
	if read := len(bomb) - src.Len(); read > len(bomb)/8 {
		t.Errorf("%d of %d packed bytes were read", read, len(bomb))
	}
}
