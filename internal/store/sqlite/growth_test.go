package sqlite

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/trestle-bridge/trestle/spaces"
)

// BenchmarkLongRecord is a message and its answer in a record that has a past:
// the cost of an event may not depend on how many came before it. Filling the
// longest one takes minutes:
//
//	go test ./internal/store/sqlite -run '^$' -bench LongRecord -benchtime 500x -timeout 30m
func BenchmarkLongRecord(b *testing.B) {
	for _, events := range []int{10_000, 100_000, 1_000_000} {
		b.Run(strconv.Itoa(events), func(b *testing.B) {
			rooms := filled(b, events)
			b.ReportAllocs()
			n, report := 0, work(b)
			for b.Loop() {
				if err := rooms[n%len(rooms)].converse(b, events+n); err != nil {
					b.Fatal(err)
				}
				n++
			}
			report(n)
		})
	}
}

// filled returns rooms that together have had so many messages, all of which an
// agent has answered, a hundred at a time.
func filled(b *testing.B, events int) []bench {
	b.Helper()
	const many, batch = 100, 100
	s := openIn(b, b.TempDir())
	rooms := make([]bench, many)
	for i := range rooms {
		rooms[i] = benchAt(b, s, spaces.CircleID(fmt.Sprint("home", i)), strconv.Itoa(100+i))
	}
	for n := 0; n < events; n += batch {
		w := rooms[n/batch%many]
		past := messageIn(w.room, w.chat, n)
		for i := range batch - 1 {
			past.Items = append(past.Items, messageIn(w.room, w.chat, n+i+1).Items...)
		}
		if err := w.take(b, n, past); err != nil {
			b.Fatal(err)
		}
	}
	return rooms
}
