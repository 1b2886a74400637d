package activity

import (
	"fmt"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

// SECURITY S20: of what one sender writes too fast nothing is lost, and it wakes
// nobody; others are not slowed down.
func TestWhoWritesTooFastIsKeptAndHushed(t *testing.T) {
	r := newRecord()
	in := enter(r, IngressOptions{SenderPerMinute: 10})
	zoe := adapters.Person{ID: "8", Kind: adapters.Human, Name: "Zoe"}
	for i := range 25 {
		take(t, in, "1", says(hub, kai, fmt.Sprint("k", i), "spam"))
	}
	take(t, in, "2", says(hub, zoe, "z", "hello"))
	hushed := map[string]int{}
	for _, e := range r.events {
		if e.Hushed != "" {
			hushed[e.From.User]++
		}
	}
	if len(r.events) != 26 || hushed["7"] != 15 || hushed["8"] != 0 || in.Tally().Hushed != 15 {
		t.Errorf("kept %d, hushed %v, want all 26 and 15 of the fast one", len(r.events), hushed)
	}
}

func TestASendersPaceComesBack(t *testing.T) {
	var s senders
	who, at := Sender{User: "7"}, noon
	for range 10 {
		s.message(who, 10, at)
	}
	if s.message(who, 10, at) {
		t.Error("the eleventh in a minute is within the bound of ten")
	}
	if !s.message(who, 10, at.Add(time.Minute)) || !s.message(who, 0, at) || !s.message(Sender{Scope: "T2", User: "7"}, 10, at) {
		t.Error("a minute later, without a bound, or as somebody else it is not let through")
	}
}
