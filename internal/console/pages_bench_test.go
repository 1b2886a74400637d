package console_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/consoletest"
)

// ECOSYSTEM 6: any page within 50 ms at a million events and a hundred thousand
// runs. Filling the record takes most of the time.
//
//	go test -run '^$' -bench Pages -benchtime 20x ./internal/console
func BenchmarkPages(b *testing.B) {
	w := consoletest.Open(b)
	l := w.Crowd(1_000_000, 100_000)
	measurePages(b, w, map[string]string{
		"now": "/", "spaces": "/spaces", "space": "/spaces/" + string(l.Space), "space-old": "/spaces/" + string(l.Space) + "?before=5000", "uplinks": "/uplinks?window=7d",
		"minds": "/minds", "mind": "/minds/ada/home", "runs": "/runs", "runs-stop": "/runs?stop=model_error", "runs-space": "/runs?space=" + string(l.Space) + "&agent=ada",
		"runs-old": "/runs?before=" + string(l.Old), "run": "/runs/" + string(l.Closed), "frame": "/runs/" + string(l.Closed) + "/steps/1", "denials": "/denials", "denials-agent": "/denials?agent=ada", "live": "/live", "problems": "/problems",
		"settings": "/settings", "search": "/search?q=pers",
	})
}

// The same where thousands of strangers found the bot, each with a mind for them
// alone (DESIGN 5).
func BenchmarkPagesOfStrangers(b *testing.B) {
	w := consoletest.Open(b)
	w.Strangers(5000)
	measurePages(b, w, map[string]string{"now": "/", "spaces": "/spaces", "minds": "/minds", "memory": "/memory", "runs": "/runs", "search": "/search?q=room+42"})
}

func measurePages(b *testing.B, w *consoletest.ConsoleWorld, pages map[string]string) {
	b.Helper()
	session := w.Key(console.KeySession)
	h := w.Console.Handler()
	for name, path := range pages {
		b.Run(name, func(b *testing.B) {
			var slowest time.Duration
			size := 0
			for b.Loop() {
				began := time.Now()
				rec := do(b, h, call{target: path, header: cookie(session.Secret)})
				slowest = max(slowest, time.Since(began))
				size = rec.Body.Len()
				if rec.Code != http.StatusOK {
					b.Fatalf("%s: %d", path, rec.Code)
				}
			}
			b.ReportMetric(float64(slowest.Microseconds())/1000, "ms-slowest")
			b.ReportMetric(float64(size)/1000, "kB")
		})
	}
}
