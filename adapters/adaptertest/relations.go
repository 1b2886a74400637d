package adaptertest

import (
	"fmt"
	"slices"

	"github.com/trestle-bridge/trestle/adapters"
)

func replyTarget(s *caseRun) {
	s.receive()
	question := s.say("when?")
	_, m := s.message(s.Say(HumanLine{Chat: s.Chat, Text: "now", ReplyTo: question}))
	if m.ReplyTo != question {
		s.Errorf("the reply answers %q, want %q", m.ReplyTo, question)
	}
	if m.ToUs {
		s.Error("a reply to somebody else is marked as meant for us")
	}
	ours, err := s.Adapter.Send(s.Context(), adapters.OutgoingMessage{Chat: s.Chat, Text: s.Adapter.Split("never")[0]})
	if err != nil {
		s.Fatal(err)
	}
	if _, m = s.message(s.Say(HumanLine{Chat: s.Chat, Text: "really?", ReplyTo: ours.Message})); m.ReplyTo != ours.Message || !m.ToUs {
		s.Errorf("the reply to us is %+v, want it to answer %q and to be meant for us", m, ours.Message)
	}
}

func threadKept(s *caseRun) {
	s.receive()
	in, out := s.Say(HumanLine{Chat: s.Chat, Thread: s.Thread, Text: "inside"}), s.say("outside")
	// Where a thread hangs on a message, all in it answers that message.
	if u, m := s.message(in); u.Thread.ID != s.Thread || u.Chat.ID != s.Chat || m.ReplyTo != "" && m.ReplyTo != s.Thread {
		s.Errorf("inside: chat %q thread %q reply %q, want %q %q and none", u.Chat.ID, u.Thread.ID, m.ReplyTo, s.Chat, s.Thread)
	}
	if u, _ := s.message(out); u.Thread.ID != "" {
		s.Errorf("outside any thread the thread is %q", u.Thread.ID)
	}
}

func mention(s *caseRun) {
	s.receive()
	if _, m := s.message(s.say(s.Mention + ", are you there?")); !m.ToUs {
		s.Errorf("%q is not marked as meant for us", m.Text)
	}
	if _, m := s.message(s.say("is anybody there?")); m.ToUs {
		s.Errorf("%q is marked as meant for us", m.Text)
	}
}

// A platform may tell a change of several emoji at once or one by one: what
// counts is the set that they lead to. A program is not heard as a person is,
// so each change tells what changed it.
func reaction(s *caseRun) {
	s.receive()
	id := s.say("lunch?")
	s.message(id)
	for _, want := range [][]string{{"👍"}, {"🔥"}, {}} {
		s.React(s.Chat, id, want...)
		s.until(fmt.Sprintf("the reactions %q", want), func() bool { return slices.Equal(s.reactions(id), want) })
	}
	keys := map[string]bool{}
	for _, u := range s.sink.all() {
		if r, ok := u.Body.(adapters.ReactionChange); ok {
			if r.Message != id || u.From.ID == "" || u.From.Kind != adapters.Human || u.Key == "" || keys[u.Key] || slices.Equal(r.Old, r.New) {
				s.Errorf("got %+v by %+v under %q, want a change, a new key, a person, and message %s", r, u.From, u.Key, id)
			}
			keys[u.Key] = true
		}
	}
}

// reactions folds what was told of the reactions on a message.
func (s *caseRun) reactions(id string) []string {
	set := []string{}
	for _, u := range s.sink.all() {
		if r, ok := u.Body.(adapters.ReactionChange); ok && r.Message == id {
			set = slices.DeleteFunc(set, func(e string) bool { return slices.Contains(r.Old, e) })
			set = append(set, r.New...)
		}
	}
	return set
}

func comeAndGo(s *caseRun) {
	s.receive()
	one := func(people []adapters.Person, who string) bool { return len(people) == 1 && people[0].ID == who }
	came := s.Comes(s.Chat)
	s.heardOf("the joining of "+came, func(u adapters.Update) bool {
		j, ok := u.Body.(adapters.PeopleJoined)
		return ok && one(j.People, came) && u.Chat.ID == s.Chat
	})
	gone := s.Goes(s.Chat)
	s.heardOf("the leaving of "+gone, func(u adapters.Update) bool {
		l, ok := u.Body.(adapters.PeopleLeft)
		return ok && one(l.People, gone) && u.Chat.ID == s.Chat
	})
}
