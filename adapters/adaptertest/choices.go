package adaptertest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
)

// The contract of ChoiceOfferer: as many buttons as there may be, below a text of any
// form, in the chat and in a thread, before and after a restart.
func presses(s *caseRun) {
	s.receive()
	for i, text := range []string{"Which **one**?", "# Which one\n\n- take your time", "Is it 2*3*4 or `a`b?"} {
		pressIn(s, text, i, "")
	}
	if s.Thread != "" {
		pressIn(s, "Which **one**?", 3, s.Thread)
	}
	if err := s.Adapter.(adapters.ChoiceOfferer).AnswerPress(s.Context(), "no press", "hello"); adapters.KindOf(err) != adapters.Invalid {
		s.Errorf("what names no press is answered: %v, want invalid", err)
	}
}

// pressIn offers buttons below a text and has the person press two of them, the second
// after a restart.
func pressIn(s *caseRun, text string, n int, thread string) {
	s.Helper()
	p := s.part(text)
	p.Thread, p.Key = thread, fmt.Sprint(p.Key, n)
	var labels []string
	for i := range adapters.MaxChoices {
		label := fmt.Sprintf("%d %s", i, strings.Repeat("x", adapters.MaxChoiceLabel-2))
		labels = append(labels, label)
		p.Choices = append(p.Choices, adapters.ChoiceButton{Label: label, Value: fmt.Sprintf("%d%d%s", n, i, strings.Repeat("v", adapters.MaxChoiceValue-2))})
	}
	receipt, err := s.Adapter.Send(s.Context(), p)
	if err != nil {
		s.Fatalf("%q: %v", text, err)
	}
	shown := s.shown(receipt.Message)
	if !slices.Equal(shown.Buttons, labels) || letters(shown.Text) != letters(text) || shown.Thread != thread {
		s.Errorf("%q is shown as %+v, want the words in thread %q and the buttons %q", text, shown, thread, labels)
	}
	keys := map[string]bool{}
	press := func(c adapters.ChoiceButton) string {
		s.Press(s.Chat, receipt.Message, c.Label)
		u := s.heardOf("the press", func(u adapters.Update) bool {
			picked, ok := u.Body.(adapters.ChoicePicked)
			return ok && picked.Value == c.Value && picked.Message == receipt.Message
		})
		if u.Chat.ID != s.Chat || u.Thread.ID != thread || u.From.ID == "" || u.From.Kind != adapters.Human || u.Key == "" || keys[u.Key] {
			s.Errorf("the press is %+v, want of a person in %s, thread %q, under a key of its own", u, s.Chat, thread)
		}
		keys[u.Key] = true
		return u.Body.(adapters.ChoicePicked).Press
	}
	before := s.Told(s.Chat)
	answer := func(press, words string) {
		if err := s.Adapter.(adapters.ChoiceOfferer).AnswerPress(s.Context(), press, words); err != nil {
			s.Errorf("answer a press with %d bytes: %v", len(words), err)
		}
	}
	words := "You may not: <only> *an admin* & " + strings.Repeat("x", adapters.MaxPressText-33)
	answer(press(p.Choices[0]), words)
	if got := s.Told(s.Chat)[len(before):]; !slices.Equal(got, []string{words}) {
		s.Errorf("the person is told %q, want %q", got, words)
	}
	if err := s.stop(); err != nil {
		s.Errorf("receive: %v", err)
	}
	s.restart()
	s.message(s.say(fmt.Sprint("after the restart ", n)))
	answer(press(p.Choices[adapters.MaxChoices-1]), "")
	if got := s.Told(s.Chat)[len(before):]; len(got) != 1 {
		s.Errorf("the second press tells the person more: %q", got)
	}
	ref := adapters.MessageRef{Chat: s.Chat, Thread: thread, Message: receipt.Message}
	stop := []adapters.ChoiceButton{{Label: "Stop", Value: "stop it"}}
	if err := s.Adapter.(adapters.ChoiceOfferer).EditChoices(s.Context(), ref, s.part("**Growing** …").Text, stop); err != nil {
		s.Errorf("edit with a button: %v", err)
	}
	if shown = s.shown(receipt.Message); !slices.Equal(shown.Buttons, []string{"Stop"}) || letters(shown.Text) != letters("Growing …") {
		s.Errorf("after an edit with a button the message is %+v", shown)
	}
	press(stop[0])
	if err := s.Adapter.(adapters.MessageEditor).Edit(s.Context(), ref, s.part("**Decided**").Text); err != nil {
		s.Errorf("edit: %v", err)
	}
	if shown = s.shown(receipt.Message); len(shown.Buttons) > 0 || shown.Text != "Decided" {
		s.Errorf("after its edit the message is %+v, want the words alone", shown)
	}
}

// shown returns a message of ours in the first chat.
func (s *caseRun) shown(message string) SentMessage {
	s.Helper()
	all := s.Sent(s.Chat)
	i := slices.IndexFunc(all, func(m SentMessage) bool { return m.Message == message })
	if i < 0 {
		s.Fatalf("message %s is not in the chat", message)
	}
	return all[i]
}
