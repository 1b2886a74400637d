package hud

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trestle-bridge/trestle/spaces"
)

// PRD-10-9: the frame behind a run is recognised later.
func TestFrameHasOneNameWhateverCameBefore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		message := rapid.Custom(func(t *rapid.T) FrameMessage {
			m := FrameMessage{Role: spaces.RoleUser, Text: rapid.StringN(0, 8, 8).Draw(t, "text"), CallID: rapid.SampledFrom([]string{"", "c1"}).Draw(t, "call")}
			for range rapid.IntRange(0, 2).Draw(t, "calls") {
				m.Calls = append(m.Calls, spaces.TurnCall{Name: "send", Args: rapid.StringN(0, 4, 4).Draw(t, "args")})
			}
			return m
		})
		var h FrameHasher
		var frame []FrameMessage
		for range rapid.IntRange(1, 6).Draw(t, "frames") {
			kept := frame[:rapid.IntRange(0, len(frame)).Draw(t, "kept")]
			frame = append(append([]FrameMessage{}, kept...), rapid.SliceOfN(message, 0, 3).Draw(t, "new")...)
			if got, want := h.hash(slices.Values(frame)), Hash(frame); got != want {
				t.Fatalf("got %s, want %s", got, want)
			}
			for _, m := range h.before[len(h.before):cap(h.before)] {
				if m.Text != "" {
					t.Fatalf("the words of an earlier frame are kept: %q", m.Text)
				}
			}
		}
	})
}

func TestEveryByteOfAFrameCounts(t *testing.T) {
	frame := func() []FrameMessage {
		return []FrameMessage{{Role: spaces.RoleSystem, Text: strings.Repeat("a", 9000)}, {
			Role: spaces.RoleAssistant, CallID: "c1", Calls: []spaces.TurnCall{{Name: "send", Args: "{}"}},
		}}
	}
	names := map[string]string{Hash(frame()): "nothing"}
	for what, change := range map[string]func([]FrameMessage){
		"a role":    func(ms []FrameMessage) { ms[0].Role = spaces.RoleUser },
		"a text":    func(ms []FrameMessage) { ms[0].Text = ms[0].Text[:8999] + "b" },
		"a call":    func(ms []FrameMessage) { ms[1].Calls[0].Name = "sent" },
		"arguments": func(ms []FrameMessage) { ms[1].Calls[0].Args = "[]" },
		"an id":     func(ms []FrameMessage) { ms[1].CallID = "c2" },
	} {
		ms := frame()
		change(ms)
		name := Hash(ms)
		if other, taken := names[name]; taken {
			t.Errorf("%s and %s change nothing", what, other)
		}
		names[name] = what
	}
}

func BenchmarkHashOfNextFrame(b *testing.B) {
	var frame []FrameMessage
	for range 100 {
		frame = append(frame, FrameMessage{Role: spaces.RoleUser, Text: strings.Repeat("abcdefgh", 50)})
	}
	tails := [...]FrameMessage{{Role: spaces.RoleUser, Text: "one"}, {Role: spaces.RoleUser, Text: "two"}}
	frames := [...][]FrameMessage{append(frame[:100:100], tails[0]), append(frame[:100:100], tails[1])}
	var h FrameHasher
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		h.hash(slices.Values(frames[n%2]))
		n++
	}
}
