package mcpclient

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

func TestListIsUsedForItsTime(t *testing.T) {
	now := time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		age, life time.Duration
		stale     bool
		want      bool
	}{
		{0, time.Minute, false, true},
		{59 * time.Second, time.Minute, false, true},
		{time.Minute, time.Minute, false, false},
		{listRest / 2, time.Minute, true, true}, // a flood of changes asks once in this time
		{listRest, time.Minute, true, false},
		{listRest / 2, 0, false, true},
	} {
		l := toolList{fetched: now.Add(-c.age), life: c.life, stale: c.stale}
		if got := l.fresh(now); got != c.want {
			t.Errorf("%+v: got %v", c, got)
		}
	}
	if (&toolList{life: time.Hour}).fresh(now) {
		t.Error("a list that was never read is fresh")
	}
}

// Many callers at one time ask the server once; while the list is fresh none does.
func TestListIsReadOnce(t *testing.T) {
	var lists atomic.Int64
	tools := overHTTP(newTools(), true)
	s := httpServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.Header.Get("Mcp-Method"), "tools/list") {
			lists.Add(1)
		}
		tools.ServeHTTP(w, r)
	}))
	var callers sync.WaitGroup
	for range 20 {
		callers.Go(func() {
			if tools, err := s.Tools(t.Context()); err != nil || len(tools) != 7 {
				t.Errorf("%d tools, %v", len(tools), err)
			}
		})
	}
	callers.Wait()
	testutil.Same(t, "pages read", int64(3), lists.Load()) // of three tools each
}

// A server may say how long its list may be used; longer than an hour it is not.
func TestServerSaysHowLongItsListLasts(t *testing.T) {
	for ttl, want := range map[int]time.Duration{1500: 1500 * time.Millisecond, 1 << 40: listMost, 0: listMost, -5: listMost} {
		server := newTools()
		server.AddReceivingMiddleware(withTTL(ttl))
		s := httpServer(t, overHTTP(server, true))
		_, err := s.Tools(t.Context())
		testutil.OK(t, err)
		if got := s.list.life; got != want {
			t.Errorf("%d ms: got %s, want %s", ttl, got, want)
		}
	}
}

func TestTextsAreCleaned(t *testing.T) {
	for raw, want := range map[string]string{
		"plain\ttext\n":             "plain\ttext\n",
		"a\u200bb\u202ec\ufeffd":    "abcd",
		"tag\U000E0049\U000E0067":   "tag",
		"\x1b[31mred\x00":           "[31mred",
		"bad \xff":                  "bad \uFFFD",
		"👩\u200d👩\u200d👧 family":    "👩\u200d👩\u200d👧 family",
		"private \ue000 use":        "private  use",
		strings.Repeat("é", 20):     strings.Repeat("é", 10) + "…",
		"soft\u00adhyphen\u2066iso": "softhyphenis…",
	} {
		n := 100
		if strings.HasSuffix(want, "…") {
			n = 20
			if !strings.HasPrefix(want, "é") {
				n = 12
			}
		}
		if got := cleanText(raw, n); got != want {
			t.Errorf("%q: got %q, want %q", raw, got, want)
		}
	}
	testutil.Same(t, "line", "one two", cleanLine("one\r\n  two\t", 50))
}

// withTTL makes a server tell how many milliseconds its lists may be used.
func withTTL(ms int) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			result, err := next(ctx, method, r)
			if list, ok := result.(*mcp.ListToolsResult); ok {
				list.TTLMs = ms
			}
			return result, err
		}
	}
}
