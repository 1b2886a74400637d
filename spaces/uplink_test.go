package spaces

import "testing"

// SEQ-15
func TestSpanCoversWhatTheAgentWasExposedTo(t *testing.T) {
	open := ConnectionSpan{From: 5, Opened: noon}
	closed := ConnectionSpan{From: 5, To: 8, Opened: noon, Closed: minute(9), Closer: SpanIdle}
	nothing := ConnectionSpan{From: 5, To: 4, Opened: noon, Closed: minute(9), Closer: SpanDeaf}
	tests := []struct {
		name string
		span ConnectionSpan
		seq  int64
		want bool
	}{
		{"before an open one", open, 4, false},
		{"the first of an open one", open, 5, true},
		{"far into an open one", open, 1 << 40, true},
		{"before a closed one", closed, 4, false},
		{"the first of a closed one", closed, 5, true},
		{"the last of a closed one", closed, 8, true},
		{"after a closed one", closed, 9, false},
		{"the start of one that covered nothing", nothing, 5, false},
		{"the end of one that covered nothing", nothing, 4, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.span.Covers(tt.seq); got != tt.want {
				t.Errorf("covers %d: %v, want %v", tt.seq, got, tt.want)
			}
		})
	}
	if !open.Active() || closed.Active() {
		t.Error("a span is active as long as it is not closed")
	}
}
