package adaptertest

import (
	"slices"

	"github.com/trestle-bridge/trestle/adapters"
)

func replyTarget(s *stage) {
	s.receive()
	question := s.say("when?")
	_, m := s.message(s.Say(Line{Chat: s.Chat, Text: "now", ReplyTo: question}))
	if m.ReplyTo != question {
		s.Errorf("the reply answers %q, want %q", m.ReplyTo, question)
	}
	if m.ToUs {
		s.Error("a reply to somebody else is marked as meant for us")
	}
	ours, err := s.Adapter.Send(s.Context(), adapters.Post{Chat: s.Chat, Text: s.Adapter.Split("never")[0]})
	if err != nil {
		s.Fatal(err)
	}
	if _, m = s.message(s.Say(Line{Chat: s.Chat, Text: "really?", ReplyTo: ours.Message})); m.ReplyTo != ours.Message || !m.ToUs {
		s.Errorf("the reply to us is %+v, want it to answer %q and to be meant for us", m, ours.Message)
	}
}

func threadKept(s *stage) {
	s.receive()
	in, out := s.Say(Line{Chat: s.Chat, Thread: s.Thread, Text: "inside"}), s.say("outside")
	if u, m := s.message(in); u.Thread.ID != s.Thread || u.Chat.ID != s.Chat || m.ReplyTo != "" {
		s.Errorf("inside: chat %q thread %q reply %q, want %q %q and none", u.Chat.ID, u.Thread.ID, m.ReplyTo, s.Chat, s.Thread)
	}
	if u, _ := s.message(out); u.Thread.ID != "" {
		s.Errorf("outside any thread the thread is %q", u.Thread.ID)
	}
}

func mention(s *stage) {
	s.receive()
	if _, m := s.message(s.say(s.Mention + ", are you there?")); !m.ToUs {
		s.Errorf("%q is not marked as meant for us", m.Text)
	}
	if _, m := s.message(s.say("is anybody there?")); m.ToUs {
		s.Errorf("%q is marked as meant for us", m.Text)
	}
}

func reaction(s *stage) {
	s.receive()
	id := s.say("lunch?")
	s.message(id)
	keys := map[string]bool{}
	before := []string{}
	for _, after := range [][]string{{"👍"}, {"🔥"}, {}} {
		s.React(s.Chat, id, after...)
		u := s.heardOf("the reaction", func(u adapters.Update) bool {
			r, ok := u.Body.(adapters.Reaction)
			return ok && slices.Equal(r.New, after) && slices.Equal(r.Old, before)
		})
		if r := u.Body.(adapters.Reaction); r.Message != id || u.From.ID == "" || keys[u.Key] {
			s.Errorf("got %+v by %+v under %q, want a new key, somebody, and message %s", r, u.From, u.Key, id)
		}
		keys[u.Key] = true
		before = after
	}
}

func comeAndGo(s *stage) {
	s.receive()
	one := func(people []adapters.Person, who string) bool { return len(people) == 1 && people[0].ID == who }
	came := s.Comes(s.Chat)
	s.heardOf("the joining of "+came, func(u adapters.Update) bool {
		j, ok := u.Body.(adapters.Joined)
		return ok && one(j.People, came) && u.Chat.ID == s.Chat
	})
	gone := s.Goes(s.Chat)
	s.heardOf("the leaving of "+gone, func(u adapters.Update) bool {
		l, ok := u.Body.(adapters.Left)
		return ok && one(l.People, gone) && u.Chat.ID == s.Chat
	})
}
