package adaptertest

import (
	"fmt"
	"slices"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

// K1, K3: the platform forgets only what the sink took.
func ackAfterAccept(s *caseRun) {
	release := s.sink.holds()
	s.receive()
	id := s.say("keep me")
	s.until("the sink to be asked", func() bool { return s.sink.held() > 0 })
	pass(2 * time.Minute)
	synctest.Wait()
	if s.Acked(id) {
		s.Error("acknowledged while the sink was still at work")
	}
	release()
	s.until("the acknowledgement", func() bool { return s.Acked(id) })
	if !slices.Contains(s.sink.messages(s.Chat), id) {
		s.Error("acknowledged, but the sink does not have it")
	}
}

// Checks that disk full means not acknowledged, and recovery by itself.
func refusedAgain(s *caseRun) {
	s.sink.refuses(3)
	s.receive()
	id := s.say("try again")
	s.message(id)
	if got := s.sink.messages(s.Chat); !slices.Equal(got, []string{id}) {
		s.Errorf("recorded %v, want %s once", got, id)
	}
	if s.sink.refused != 3 {
		s.Errorf("refused %d times, want 3", s.sink.refused)
	}
}

func refusalOrder(s *caseRun) {
	s.sink.refuses(2)
	s.receive()
	var want []string
	for i := range 10 {
		want = append(want, s.say(fmt.Sprintf("line %d", i)))
		pass(300 * time.Millisecond)
	}
	s.until("all the messages", func() bool { return len(s.sink.messages(s.Chat)) >= len(want) })
	if got := s.sink.messages(s.Chat); !slices.Equal(got, want) {
		s.Errorf("recorded %v, want %v", got, want)
	}
}

// K3, K4: the stored cursor is where the next process begins.
func cursorResumes(s *caseRun) {
	s.receive()
	first := s.dieWith("before")
	meanwhile := s.say("meanwhile")
	s.restart()
	after := s.say("after")
	s.message(after)
	if got := s.sink.messages(s.Chat)[1:]; !slices.Equal(got, []string{first, meanwhile, after}) {
		s.Errorf("recorded %v, want %v, %v, %v once each", got, first, meanwhile, after)
	}
	for id, want := range map[string]bool{first: false, meanwhile: s.Keeps} {
		if u, m := s.message(id); u.Kept != want {
			s.Errorf("%q is told as kept for us: %t, want %t", m.Text, u.Kept, want)
		}
	}
}

// K1, K2, K5: what was not recorded comes again, all of it.
func restartBeforeAccept(s *caseRun) {
	release := s.sink.holds()
	s.receive()
	want := []string{s.say("one"), s.say("two")}
	s.until("the sink to be asked", func() bool { return s.sink.held() > 0 })
	if err := s.stop(); err != nil {
		s.Errorf("receive: %v", err)
	}
	release()
	if got := s.sink.messages(s.Chat); len(got) != 0 {
		s.Fatalf("recorded %v although the sink never agreed", got)
	}
	s.restart()
	s.message(want[1])
	if got := s.sink.messages(s.Chat); !slices.Equal(got, want) {
		s.Errorf("recorded %v, want %v", got, want)
	}
}

// K3: recorded, killed before the platform was told; and the commit was lost on
// top of it. It comes again, under the same key.
func crashBeforeAck(s *caseRun) {
	before := s.sink.saved()
	s.receive()
	id := s.dieWith("one")
	if s.Acked(id) {
		s.Fatal("acknowledged although the adapter was stopped in Accept")
	}
	s.sink.mu.Lock()
	s.sink.cursor = before
	s.sink.mu.Unlock()
	s.restart()
	s.message(s.say("two"))
	keys := map[string]int{}
	for _, u := range s.sink.all() {
		if isMessage(u, id) {
			keys[u.Key]++
		}
	}
	if len(keys) != 1 {
		s.Errorf("message %s has the keys %v, want one", id, keys)
	}
	for key, n := range keys {
		if n != 2 {
			s.Errorf("%s came %d times, want twice", key, n)
		}
	}
}

// The contract of Receive.
func cancelled(s *caseRun) {
	s.receive()
	s.message(s.say("hello"))
	pass(3 * time.Second) // in the middle of waiting
	start := time.Now()
	if err := s.stop(); err != nil {
		s.Errorf("cancelled while waiting, Receive returned %v, want nil", err)
	}
	if took := time.Since(start); took > time.Second {
		s.Errorf("it took %s to return", took)
	}
	defer s.sink.holds()()
	s.restart()
	s.say("hold this")
	s.until("the sink to be asked", func() bool { return s.sink.held() > 0 })
	start = time.Now()
	if err := s.stop(); err != nil {
		s.Errorf("cancelled while the sink worked, Receive returned %v, want nil", err)
	}
	if took := time.Since(start); took > time.Second {
		s.Errorf("it took %s to return from the sink", took)
	}
}

func lostConnection(s *caseRun) {
	s.receive()
	first := s.say("before")
	s.message(first)
	synctest.Wait()
	if !s.Fail(ReadLost) {
		s.Skip("the platform's connection cannot break")
	}
	if err := s.failed(); err == nil {
		s.Fatal("the connection broke, but Receive returned nil")
	} else if k := adapters.KindOf(err); k == adapters.Unauthorized || k == adapters.Conflict {
		s.Errorf("a broken connection is told as %s", k)
	}
	meanwhile := s.say("meanwhile")
	s.receive()
	s.message(meanwhile)
	if got := s.sink.messages(s.Chat); !slices.Equal(got, []string{first, meanwhile}) {
		s.Errorf("recorded %v, want %s and %s", got, first, meanwhile)
	}
}

// I13: status says healthy only when traffic proves it, within 90 s.
func silence(s *caseRun) {
	s.receive()
	s.message(s.say("hello"))
	for range 5 {
		before := s.sink.heards()
		pass(90 * time.Second)
		synctest.Wait()
		if s.sink.heards() == before {
			s.Fatal("nothing was heard of the platform for 90 s")
		}
	}
	for _, at := range s.sink.heard {
		if at.After(time.Now()) {
			s.Errorf("heard at %s, which is to come", at)
		}
	}
}

func conflict(s *caseRun)     { receiveFails(s, OtherReader, adapters.Conflict) }
func unauthorized(s *caseRun) { receiveFails(s, Dismissed, adapters.Unauthorized) }

func receiveFails(s *caseRun, f CallFailure, want adapters.FailureKind) {
	s.receive()
	s.message(s.say("before"))
	synctest.Wait()
	if !s.Fail(f) {
		s.Skip("the platform never fails so")
	}
	if err := s.failed(); adapters.KindOf(err) != want {
		s.Errorf("%s is told as %v, want %s", f, err, want)
	}
	if f != Dismissed {
		return
	}
	if _, err := s.Adapter.Connect(s.Context()); adapters.KindOf(err) != want {
		s.Errorf("connecting gives %v, want %s", err, want)
	}
	if _, err := s.Adapter.Send(s.Context(), adapters.OutgoingMessage{Chat: s.Chat, Text: s.Adapter.Split("x")[0]}); adapters.KindOf(err) != want {
		s.Errorf("sending gives %v, want %s", err, want)
	}
}
