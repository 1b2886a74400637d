package adapters

import (
	"errors"
	"net/http/httptrace"
	"testing"
)

// The outcome of a call tells whether the platform may have done it.
func TestOutcomeOfACallIsJudgedByWhatWasSeen(t *testing.T) {
	for name, c := range map[string]struct {
		seen CallOutcome
		want FailureKind
	}{
		"refused dial":      {CallOutcome{}, NotSent},
		"no answer":         {CallOutcome{Written: true}, Unknown},
		"own 500":           {CallOutcome{Written: true, Status: 500, Own: true}, NotSent},
		"500 page":          {CallOutcome{Written: true, Status: 500}, Unknown},
		"502 page":          {CallOutcome{Written: true, Status: 502}, Unknown},
		"502 in its form":   {CallOutcome{Written: true, Status: 502, Own: true}, Unknown},
		"503 page":          {CallOutcome{Written: true, Status: 503}, NotSent},
		"504 page":          {CallOutcome{Written: true, Status: 504}, Unknown},
		"520 of cloudflare": {CallOutcome{Written: true, Status: 520}, Unknown},
		"too fast":          {CallOutcome{Written: true, Status: 429}, Limited},
		"too slow":          {CallOutcome{Written: true, Status: 408}, NotSent},
		"refused":           {CallOutcome{Written: true, Status: 400, Own: true}, Invalid},
		"unreadable":        {CallOutcome{Written: true, Status: 200}, Unknown},
	} {
		if sent, got := JudgeOutcome(c.seen); sent || got != c.want {
			t.Errorf("%s is %s, want %s", name, got, c.want)
		}
	}
}

// A request whose body was cut while it was written did nothing.
func TestOnlyAWholeRequestIsWritten(t *testing.T) {
	ctx, written := TraceWritten(t.Context())
	trace := httptrace.ContextClientTrace(ctx)
	if trace.WroteHeaders != nil {
		trace.WroteHeaders()
	}
	trace.WroteRequest(httptrace.WroteRequestInfo{Err: errors.New("broken pipe")})
	if written.Load() {
		t.Error("half a request counts as written")
	}
	trace.WroteRequest(httptrace.WroteRequestInfo{})
	if !written.Load() {
		t.Error("a whole request does not")
	}
}
