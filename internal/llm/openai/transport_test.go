package openai

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
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

// A call ends after 5 minutes without a word, 60 seconds between chunks, 3 minutes with
// hardly a word, or 10 minutes in all.
func TestCallsEndWhenTheEndpointIsSlowOrSilent(t *testing.T) {
	piece := "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"
	last := "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
	words := "data: {\"choices\":[{\"delta\":{\"content\":\"I think about it. \"}}]}\n\n"
	thought := "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"I think about it. \"}}]}\n\n"
	many := func(pieces ...string) []string { return slices.Repeat(pieces, 1000) }
	for name, tt := range map[string]struct {
		transport fakeTransport
		cause     error // nil: it answers
		after     time.Duration
	}{
		"slow start":            {dripping(4*time.Minute, time.Second, piece, last), nil, 4*time.Minute + 3*time.Second},
		"slow pieces":           {dripping(0, 59*time.Second, words, last), nil, 118*time.Second + 5*time.Second},
		"no headers":            {dripping(time.Hour, 0), modelhttp.ErrNoStart, 5 * time.Minute},
		"silence after headers": {dripping(2*time.Second, time.Hour, piece), modelhttp.ErrNoStart, 5 * time.Minute},
		"comments alone":        {dripping(0, 10*time.Second, many(": ping\n\n")...), modelhttp.ErrNoStart, 5 * time.Minute},
		"silence in the middle": {dripping(0, 61*time.Second, piece, last), modelhttp.ErrSilent, 121 * time.Second},
		"comments in between":   {dripping(0, 50*time.Second, words, ": ping\n\n", ": ping\n\n", strings.Replace(words, "I think", strings.Repeat("I think ", 6), 1), last), nil, 250*time.Second + 5*time.Second},
		"comments after a word": {dripping(0, 30*time.Second, append([]string{words}, many(": ping\n\n")...)...), modelhttp.ErrDrip, 3*time.Minute + 30*time.Second},
		"a letter now and then": {dripping(0, 30*time.Second, many(piece)...), modelhttp.ErrDrip, 3*time.Minute + 30*time.Second},
		"empty pieces":          {dripping(0, 30*time.Second, append([]string{words}, many("data: {\"choices\":[{\"delta\":{\"content\":\"\"}}]}\n\n")...)...), modelhttp.ErrDrip, 3*time.Minute + 30*time.Second},
		"endless":               {dripping(0, 30*time.Second, many(words)...), modelhttp.ErrTotal, 10 * time.Minute},
		"a minute of thought":   {dripping(0, 40*time.Second, thought, thought, thought, words, last), nil, 200*time.Second + 5*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := mustNew(t, modelhttp.ClientOptions{BaseURL: "http://model.test", Transport: tt.transport})
				r := hello
				r.MaxOutput = 0
				start := time.Now()
				_, err := c.Generate(t.Context(), r)
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
		c := mustNew(t, modelhttp.ClientOptions{BaseURL: "http://model.test", Transport: dripping(time.Hour, 0)})
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
		c := mustNew(t, modelhttp.ClientOptions{BaseURL: "http://model.test", Transport: fakeTransport(func(r *http.Request) (*http.Response, error) {
			open := &drip{wait: func() error { return sleep(r.Context(), time.Hour) }}
			return &http.Response{StatusCode: http.StatusOK, Body: struct {
				io.Reader
				io.Closer
			}{io.MultiReader(strings.NewReader(done), open), open}}, nil
		})})
		start := time.Now()
		got, err := c.Generate(t.Context(), hello)
		if err != nil || got.Text != "a" || time.Since(start) > time.Second {
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

// What is kept of an answer is bounded by its output limit, whatever the endpoint
// sends; a form that is tried later has all its time.
func TestAnswerIsBoundedByItsOutputLimit(t *testing.T) {
	words := `{"choices":[{"delta":{"content":"` + strings.Repeat("word ", 1000) + `"}}]}`
	got, err := canned(t, 200, nil, stream(slices.Repeat([]string{words}, 100)...)).Generate(t.Context(), hello)
	if err != nil || got.Finish != llm.Length || len(got.Text) > llm.KeptBytes(hello.MaxOutput) {
		t.Errorf("%d bytes, finish %s, %v", len(got.Text), got.Finish, err)
	}
	r := hello
	r.MaxOutput = 4000
	got, err = canned(t, 200, nil, stream(slices.Repeat([]string{words}, 10)...)).Generate(t.Context(), r)
	if err != nil || got.Finish != llm.Stopped || len(got.Text) != 50_000 {
		t.Errorf("%d bytes, finish %s, %v", len(got.Text), got.Finish, err)
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
	}), modelhttp.ClientOptions{})
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
	c := mustNew(t, modelhttp.ClientOptions{BaseURL: "http://model.test/v1", MaxBytes: 1 << 20, Transport: fakeTransport(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Encoding": {"gzip"}}, Body: io.NopCloser(src)}, nil
	})})
	_, err := c.Generate(t.Context(), hello)
	if err == nil || !strings.Contains(err.Error(), modelhttp.ErrTooLarge.Error()) {
		t.Errorf("got %v, want that it is too large", err)
	}
	if read := len(bomb) - src.Len(); read > len(bomb)/8 {
		t.Errorf("%d of %d packed bytes were read", read, len(bomb))
	}
}
