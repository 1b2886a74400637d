package activity

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/trestle-bridge/trestle/adapters"
)

// SECURITY S20: messages of one sender above the rate limit are all stored, and wake no
// agent; other senders are not slowed down.
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
	if len(r.events) != 26 || hushed["7"] != 15 || hushed["8"] != 0 || in.Stats().Throttled != 15 {
		t.Errorf("kept %d, hushed %v, want all 26 and 15 of the fast one", len(r.events), hushed)
	}
}

// SECURITY S20, DELIVERY 2.2: a batch that the record did not take is handed in again,
// and is as fast as it was.
func TestABatchThatIsHandedInAgainIsNoFaster(t *testing.T) {
	r := newRecord()
	in := enter(r, IngressOptions{SenderPerMinute: 2})
	batch := adapters.UpdateBatch{Updates: []adapters.Update{says(hub, kai, "1", "one"), says(hub, kai, "2", "two"), says(hub, kai, "3", "three")}}
	take(t, in, "0", says(hub, kai, "0", "hello"))
	r.refuse = errors.New("the disk is full")
	for range 5 {
		if in.Accept(t.Context(), batch) == nil {
			t.Fatal("a record that takes nothing took it")
		}
	}
	r.refuse = nil
	if err := in.Accept(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	var hushed []bool
	for _, e := range r.events {
		hushed = append(hushed, e.Hushed != "")
	}
	if want := []bool{false, false, true, true}; !slices.Equal(hushed, want) || in.Stats().Throttled != 2 {
		t.Errorf("hushed %v and counted %d, want %v", hushed, in.Stats().Throttled, want)
	}
}
