package safehttp

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

// serve returns a server of our own and a client that may ask it.
func serve(t *testing.T, o Options, h http.HandlerFunc) (*Client, string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	o.Own = []string{s.URL}
	return client(t, o), s.URL
}

func TestWholeBodyWithItsSniffedType(t *testing.T) {
	png := append([]byte("\x89PNG\r\n\x1a\n"), bytes.Repeat([]byte{7}, 4000)...)
	c, at := serve(t, Options{}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html") // servers lie
		_, _ = w.Write(png)
	})
	f, err := c.Get(t.Context(), at+"/x", 0)
	testutil.OK(t, err)
	defer func() { _ = f.Close() }()
	got, err := io.ReadAll(f)
	if err != nil || !bytes.Equal(got, png) || f.MediaType() != "image/png" {
		t.Errorf("got %d bytes of %s, %v", len(got), f.MediaType(), err)
	}
}

// The limit of 20 MB holds, whether the size is declared or not.
func TestTooMuchIsRefused(t *testing.T) {
	const limit = 100_000
	zeros := make([]byte, 4<<20)
	ways := map[string]http.HandlerFunc{
		"said": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(zeros[:limit+1]) },
		"chunked": func(w http.ResponseWriter, _ *http.Request) {
			for range 64 {
				_, _ = w.Write(zeros[:64<<10])
				_ = http.NewResponseController(w).Flush()
			}
		},
		"compressed": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write(zeros)
			_ = z.Close()
		},
	}
	for name, way := range ways {
		c, at := serve(t, Options{}, way)
		f, err := c.Get(t.Context(), at, limit)
		if err == nil {
			var n int64
			n, err = io.Copy(io.Discard, f)
			if n > limit {
				t.Errorf("%s: %d bytes came through, limit %d", name, n, limit)
			}
			_ = f.Close()
		}
		if !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: got %v, want ErrTooLarge", name, err)
		}
	}
	c, at := serve(t, Options{}, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(zeros[:limit]) })
	f, err := c.Get(t.Context(), at, limit)
	testutil.OK(t, err)
	defer func() { _ = f.Close() }()
	if n, err := io.Copy(io.Discard, f); n != limit || err != nil {
		t.Errorf("exactly the limit: %d bytes, %v", n, err)
	}
}

func TestFailuresHaveTheirKinds(t *testing.T) {
	cases := map[string]struct {
		answer http.HandlerFunc
		want   error
	}{
		"gone":             {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, ErrGone},
		"refused":          {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, ErrForbidden},
		"unknown encoding": {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Encoding", "br") }, ErrForbidden},
		"no gzip": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write([]byte("no"))
		}, ErrForbidden},
		"round in circles": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/again", http.StatusFound) }, ErrForbidden},
	}
	for name, one := range cases {
		c, at := serve(t, Options{}, one.answer)
		if _, err := c.Get(t.Context(), at, 0); !errors.Is(err, one.want) {
			t.Errorf("%s: got %v, want %v", name, err, one.want)
		}
	}
	c, at := serve(t, Options{}, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	if _, err := c.Get(t.Context(), at, 0); err == nil || errors.Is(err, ErrGone) || errors.Is(err, ErrForbidden) {
		t.Errorf("a passing failure: got %v", err)
	}
}

func TestSlowBodyEndsInTime(t *testing.T) {
	held := make(chan struct{})
	c, at := serve(t, Options{Timeout: 50 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", 600))
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-held:
		}
	})
	defer close(held)
	f, err := c.Get(t.Context(), at, 0)
	if err == nil {
		_, err = io.Copy(io.Discard, f)
		_ = f.Close()
	}
	if err == nil {
		t.Error("a body that never ends was read to its end")
	}
}

// Errors do not quote the URL, which may contain a credential.
func TestFailureDoesNotQuoteTheAddress(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	c := client(t, Options{Own: []string{s.URL}, Authorize: addToken})
	_, err := c.Get(t.Context(), s.URL+"/secret-path", 0)
	if err == nil || strings.Contains(err.Error(), planted) || strings.Contains(err.Error(), "secret-path") {
		t.Errorf("got %v", err)
	}
}

// A file tells where it came from and what it was declared as; each URL on the way
// is permitted first.
func TestEachURLIsPermittedFirst(t *testing.T) {
	var seen []string
	refuse := ""
	errRefused := errors.New("refused")
	o := Options{UserAgent: "finder/1.0", Permit: func(_ context.Context, u *url.URL) error {
		if seen = append(seen, u.Path); u.Path == refuse {
			return errRefused
		}
		return nil
	}}
	c, base := serve(t, o, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/a" {
			http.Redirect(w, r, "/b", http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/x-who")
		_, _ = io.WriteString(w, r.UserAgent())
	})
	f, err := c.Get(t.Context(), base+"/a", 0)
	testutil.OK(t, err)
	text, err := io.ReadAll(f)
	testutil.OK(t, errors.Join(err, f.Close()))
	testutil.Same(t, "file", []string{"finder/1.0", "text/x-who", base + "/b", "/a", "/b"}, append([]string{string(text), f.DeclaredType(), f.Address()}, seen...))
	refuse = "/b"
	if _, err := c.Get(t.Context(), base+"/a", 0); !errors.Is(err, errRefused) {
		t.Errorf("got %v, want the refusal", err)
	}
}

// A status that is no file is told as a number, and as what it means.
func TestStatusIsTold(t *testing.T) {
	for code, want := range map[int]error{404: ErrGone, 410: ErrGone, 401: ErrForbidden, 403: ErrForbidden, 429: nil, 503: nil} {
		c, base := serve(t, Options{}, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
		_, err := c.Get(t.Context(), base, 0)
		if of, ok := errors.AsType[StatusError](err); !ok || of.Code != code || want != nil && !errors.Is(err, want) || errors.Is(err, ErrPrivate) {
			t.Errorf("%d: got %v, want it and %v", code, err, want)
		}
	}
}
