//go:build !race

package telegram

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// What many entities cost grows no faster than their bytes, whatever they are and
// however deep they lie.
func TestManyEntitiesAreCheap(t *testing.T) {
	const n = 10_000
	for _, text := range []string{strings.Repeat("word ", 2*n/5), strings.Repeat("a\n", 2*n/2), strings.Repeat("é", 2*n)} {
		text = strings.ReplaceAll(text, "\\n", "\n")
		for _, kind := range []string{"bold", "blockquote", "code", "pre", "text_link", "mention", "url", "spoiler"} {
			var entities []entity
			for i := range n {
				entities = append(entities, entity{Type: kind, Offset: i, Length: 2*n - 2*i, URL: "https://a.b"})
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := time.Now()
			newMarkdown().of(text, entities)
			peopleIn(text, entities, user{})
			runtime.ReadMemStats(&after)
			if cost := after.TotalAlloc - before.TotalAlloc; cost > 128<<20 {
				t.Errorf("%d nested %s of %.4q cost %d MB in %s", n, kind, text, cost>>20, time.Since(began))
			}
		}
	}
}
