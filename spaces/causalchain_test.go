package spaces

import "testing"

// BLU-27, SECURITY S13, DESIGN 4
func TestPlaceOfAMessageInItsChain(t *testing.T) {
	rows := []ConsumedRow{
		{Event: "v5", Root: "v5", Depth: 0, At: 5},
		{Event: "v9", Root: "v2", Depth: 2, At: 9},
		{Event: "v7", Root: "v1", Depth: 4, At: 7},
	}
	tests := []struct {
		name    string
		rows    []ConsumedRow
		replyTo EventID
		want    CausalChain
	}{
		{"answers nothing: the newest row", rows, "", CausalChain{Cause: "v9", Root: "v2", Depth: 5}},
		{"answers the first row", rows, "v5", CausalChain{Cause: "v5", Root: "v5", Depth: 5}},
		{"answers the deepest row", rows, "v7", CausalChain{Cause: "v7", Root: "v1", Depth: 5}},
		{"answers something it was not woken by", rows, "v1", CausalChain{Cause: "v9", Root: "v2", Depth: 5}},
		{"one person's message", rows[:1], "", CausalChain{Cause: "v5", Root: "v5", Depth: 1}},
		{"no rows: a chain of its own", nil, "", CausalChain{Root: "self", Depth: 1}},
		{"no rows, yet an answer", nil, "v5", CausalChain{Root: "self", Depth: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := NextChain(tt.rows, tt.replyTo, "self"); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// BLU-27: two agents that only answer each other reach the limit, whatever
// their rate.
func TestAgentsAnsweringEachOtherReachTheLimit(t *testing.T) {
	last := ConsumedRow{Event: "v1", Root: "v1", At: 1}
	for n := 1; n <= MaxDepth+1; n++ {
		c := NextChain([]ConsumedRow{last}, last.Event, "self")
		if c.Root != "v1" || c.Depth != n {
			t.Fatalf("message %d: got %+v", n, c)
		}
		last = ConsumedRow{Event: c.Cause + "'", Root: c.Root, Depth: c.Depth, At: last.At + 1}
	}
	if last.Depth <= MaxDepth {
		t.Errorf("depth %d never passes %d", last.Depth, MaxDepth)
	}
}
