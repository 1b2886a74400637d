package openai

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/trestle-bridge/trestle/internal/llm"
)

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

// DELIVERY F47: an endpoint that compresses although nobody asked is understood, whether it
// streams, answers whole or refuses.
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

// DELIVERY K22: a compressed stream is heard as it comes, over a real connection.
func TestCompressedStreamIsHeardAsItComes(t *testing.T) {
	heard := make(chan struct{})
	c := newClient(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Encoding", "gzip")
		w := gzip.NewWriter(rw)
		defer func() { _ = w.Close() }() // nobody listens any more
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
	r.Hear = func(llm.Response) { once.Do(func() { close(heard) }) }
	if got, err := c.Generate(t.Context(), r); err != nil || got.Text != "Good morning" {
		t.Errorf("%q, %v", got.Text, err)
	}
}

// A little that becomes much stops at the limit of what is unpacked.
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
