package adaptertest

import (
	"fmt"

	"github.com/trestle-bridge/trestle/adapters"
)

// The contract of PrivateSender: one person is told, in the chat and in a thread, and the
// chat has no message of it; who cannot be told is a definite no.
func toldAlone(s *caseRun) {
	s.receive()
	sender, ok := s.Adapter.(adapters.PrivateSender)
	if !ok {
		s.Fatal("the adapter is no PrivateSender")
	}
	before, sent := len(s.Told(s.Chat)), len(s.Sent(s.Chat))
	threads := []string{""}
	if s.Thread != "" {
		threads = append(threads, s.Thread)
	}
	for i, thread := range threads {
		who := s.Private(s.Chat, thread)
		for j, text := range []string{"Only **you**, & <nobody> else", "# Why\n\n- it was `asked`"} {
			p := s.part(text)
			p.Thread, p.Key = thread, fmt.Sprint(p.Key, i, j)
			receipt, err := sender.SendPrivate(s.Context(), who, p)
			if err != nil {
				s.Fatalf("%q in thread %q: %v", text, thread, err)
			}
			told := s.Told(s.Chat)
			if before++; len(told) != before || letters(told[len(told)-1]) != letters(text) {
				s.Errorf("the person was told %q, want %q last", told, text)
			}
			if receipt.Message != "" || receipt.At.IsZero() || len(s.Sent(s.Chat)) != sent {
				s.Errorf("the receipt is %+v, and the chat has %d messages, want none of it", receipt, len(s.Sent(s.Chat)))
			}
		}
	}
	if _, err := sender.SendPrivate(s.Context(), s.Stranger, s.part("Hello")); !adapters.KindOf(err).Permanent() {
		s.Errorf("to a person who is not there: %v, want a definite no", err)
	}
	if told := len(s.Told(s.Chat)); told != before {
		s.Errorf("%d messages were told, want %d", told, before)
	}
}
