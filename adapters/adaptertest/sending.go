package adaptertest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

// post sends one plain part to the first chat.
func (s *caseRun) post(text string) (adapters.Receipt, error) {
	s.Helper()
	return s.Adapter.Send(s.Context(), s.part(text))
}

func (s *caseRun) part(text string) adapters.OutgoingMessage {
	s.Helper()
	parts := s.Adapter.Split(text)
	if len(parts) != 1 {
		s.Fatalf("%q makes %d parts, want 1", text, len(parts))
	}
	return adapters.OutgoingMessage{Chat: s.Chat, Text: parts[0], Key: "key of " + text}
}

// connect proves the credentials, which sending may need.
func (s *caseRun) connect() {
	s.Helper()
	if _, err := s.Adapter.Connect(s.Context()); err != nil {
		s.Fatalf("connect: %v", err)
	}
}

func receipt(s *caseRun) {
	s.connect()
	a, err := s.Adapter.Connect(s.Context())
	if err != nil || a.Platform == "" || a.ID == "" || a.Name == "" {
		s.Errorf("we are %+v, %v; want a platform, an id and a name", a, err)
	}
	r, err := s.post("hello, **world**")
	if err != nil {
		s.Fatal(err)
	}
	sent := s.Sent(s.Chat)
	if len(sent) != 1 || sent[0].Message != r.Message || r.Message == "" || sent[0].Text != "hello, world" {
		s.Errorf("receipt %q; the platform has %+v, want that one message", r.Message, sent)
	}
	if d := time.Since(r.At); d < 0 || d > 2*time.Second {
		s.Errorf("received at %s, %s ago", r.At, d)
	}
	if n := len(s.Sent(s.Other)); n != 0 {
		s.Errorf("%d messages in the other chat", n)
	}
}

func replyAndThread(s *caseRun) {
	s.connect()
	target := s.say("when?")
	p := s.part("now")
	p.ReplyTo = target
	if _, err := s.Adapter.Send(s.Context(), p); err != nil {
		s.Fatal(err)
	}
	if got := s.Sent(s.Chat); len(got) != 1 || got[0].ReplyTo != target || got[0].Thread != "" {
		s.Errorf("the platform has %+v, want an answer to %s", got, target)
	}
	if s.Thread == "" {
		return
	}
	p = s.part("inside")
	p.Thread = s.Thread
	if _, err := s.Adapter.Send(s.Context(), p); err != nil {
		s.Fatal(err)
	}
	if got := s.Sent(s.Chat); len(got) != 2 || got[1].Thread != s.Thread {
		s.Errorf("the platform has %+v, want the second in thread %s", got, s.Thread)
	}
}

// The contract of Post.ReplyTo.
func vanishedTarget(s *caseRun) {
	s.connect()
	p := s.part("never mind")
	p.ReplyTo = s.Gone(s.Chat)
	if _, err := s.Adapter.Send(s.Context(), p); err != nil {
		s.Errorf("the message answered has vanished: %v, want it sent all the same", err)
	}
	if got := s.Sent(s.Chat); len(got) != 1 || got[0].ReplyTo != "" {
		s.Errorf("the platform has %+v, want one message that answers nothing", got)
	}
}

func ownMessage(s *caseRun) {
	s.connect()
	r, err := s.post("first words")
	if err != nil {
		s.Fatal(err)
	}
	ref := adapters.MessageRef{Chat: s.Chat, Message: r.Message}
	if e, ok := s.Adapter.(adapters.MessageEditor); ok {
		for range 2 { // the second changes nothing, which is success
			if err := e.Edit(s.Context(), ref, s.part("second *words*").Text); err != nil {
				s.Errorf("edit: %v", err)
			}
		}
		if got := s.Sent(s.Chat)[0].Text; got != "second words" {
			s.Errorf("edited to %q, want second words", got)
		}
	}
	if a, ok := s.Adapter.(adapters.ReactionSetter); ok {
		target := adapters.MessageRef{Chat: s.Chat, Message: r.Message}
		for _, emoji := range []string{"👍", ""} {
			if err := a.React(s.Context(), target, emoji); err != nil {
				s.Errorf("react %q: %v", emoji, err)
			}
			if got := strings.Join(s.Sent(s.Chat)[0].Reactions, " "); got != emoji {
				s.Errorf("our reaction is %q, want %q", got, emoji)
			}
		}
	}
	if y, ok := s.Adapter.(adapters.TypingNotifier); ok && s.Typed != nil {
		if err := y.Typing(s.Context(), adapters.MessageRef{Chat: s.Chat}); err != nil || !s.Typed(s.Chat) {
			s.Errorf("typing: %v, seen %v", err, s.Typed(s.Chat))
		}
	}
	if d, ok := s.Adapter.(adapters.MessageDeleter); ok {
		for range 2 { // what is gone already is success
			if err := d.Delete(s.Context(), ref); err != nil || !s.Sent(s.Chat)[0].Deleted {
				s.Errorf("delete: %v, gone %v", err, s.Sent(s.Chat)[0].Deleted)
			}
		}
	}
}

// K19: a restart continues at the part it had reached.
func split(s *caseRun) {
	s.connect()
	if n := len(s.Adapter.Split("")); n != 0 {
		s.Errorf("an empty text has %d parts, want none", n)
	}
	again := s.Restart()
	for name, text := range map[string]string{
		"words":   strings.Repeat("Some words, then some more. ", 900),
		"one":     strings.Repeat("x", 30_000),
		"emoji":   strings.Repeat("👨‍👩‍👧 ", 2500),
		"code":    "Look:\n\n```go\n" + strings.Repeat("if a < b && c > d { return \"&amp;\" }\n", 400) + "```\n\nDone.",
		"markup":  strings.Repeat("**bold _and italic_** `code <x>` [link](https://example.com/?a=1&b=2) ", 200),
		"strange": "<b>not html</b> R&D a < b **open `tick [x](y",
	} {
		parts := s.Adapter.Split(text)
		if !slices.Equal(parts, s.Adapter.Split(text)) || !slices.Equal(parts, again.Split(text)) {
			s.Errorf("%s: the same text is cut in two ways", name)
		}
		before := len(s.Sent(s.Chat))
		for i, p := range parts {
			if _, err := s.Adapter.Send(s.Context(), adapters.OutgoingMessage{Chat: s.Chat, Text: p, Key: fmt.Sprint(name, i)}); err != nil {
				s.Fatalf("%s: part %d of %d: %v", name, i+1, len(parts), err)
			}
		}
		var whole strings.Builder
		for _, m := range s.Sent(s.Chat)[before:] {
			whole.WriteString(m.Text)
		}
		if got, want := letters(whole.String()), letters(unmarked(name, text)); got != want {
			s.Errorf("%s: %d letters arrived of %d", name, len(got), len(want))
		}
	}
}

// unmarked is the text without what its Markdown does not show.
func unmarked(name, text string) string {
	switch name {
	case "code":
		return strings.Replace(text, "```go", "", 1)
	case "markup":
		return strings.ReplaceAll(text, "](https://example.com/?a=1&b=2)", "]")
	default:
		return text
	}
}

// letters keeps what no cutting and no markup may lose.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 0x1f000 {
			return r
		}
		return -1
	}, s)
}

func concurrent(s *caseRun) {
	s.connect()
	const n = 50
	var (
		wg       sync.WaitGroup
		receipts [n]adapters.Receipt
		errs     [n]error
	)
	for i := range n {
		p := s.part(fmt.Sprintf("number %d.", i))
		if i%2 == 1 {
			p.Chat = s.Other
		}
		wg.Go(func() { receipts[i], errs[i] = s.Adapter.Send(s.Context(), p) })
	}
	wg.Wait()
	for i := range n {
		chat := s.Chat
		if i%2 == 1 {
			chat = s.Other
		}
		want := fmt.Sprintf("number %d.", i)
		ok := slices.ContainsFunc(s.Sent(chat), func(m SentMessage) bool { return m.Message == receipts[i].Message && m.Text == want })
		if errs[i] != nil || !ok {
			s.Errorf("send %d: receipt %q, %v; the platform has no such message", i, receipts[i].Message, errs[i])
		}
	}
}
