package spaces_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/trestle-bridge/trestle/spaces"
)

// BLU-54: whatever becomes of those who were asked, in whatever order and
// however often: a wait ends once, when it knows of everybody, and is replied if
// anybody replied.
func TestAWaitEndsOnceWhenItKnowsOfEverybody(t *testing.T) {
	people := []spaces.EntityID{"agent:max", "agent:zed", "p:kai", "p:nova"}
	outcomes := []spaces.WaitOutcome{spaces.WaitReplied, spaces.WaitDeclined, spaces.WaitSilent, spaces.WaitNotDelivered, spaces.WaitBudget}
	rapid.Check(t, func(t *rapid.T) {
		w := spaces.PendingWait{WaitSpec: spaces.WaitSpec{Who: rapid.SliceOfDistinct(rapid.SampledFrom(people), rapid.ID).Draw(t, "asked")}}
		known := map[spaces.EntityID]spaces.WaitOutcome{}
		for range rapid.IntRange(0, 12).Draw(t, "events") {
			a := spaces.WaitAnswer{Who: rapid.SampledFrom(people).Draw(t, "who"), Outcome: rapid.SampledFrom(outcomes).Draw(t, "outcome")}
			counts := w.Outcome == "" && slices.Contains(w.Who, a.Who) && known[a.Who] == ""
			if len(w.Who) == 0 {
				counts = w.Outcome == "" && (a.Outcome == spaces.WaitReplied || a.Outcome == spaces.WaitNotDelivered)
			}
			if counts {
				known[a.Who] = a.Outcome
			}
			ended := w.Take(a)
			if want := counts && len(known) >= len(w.Who); ended != want || (w.Outcome != "") != (len(known) > 0 && len(known) >= len(w.Who)) {
				t.Fatalf("%+v ends it: %v, want %v; it is %+v", a, ended, want, w)
			}
		}
		if len(w.Answers) != len(known) || len(w.Who) > 0 && len(w.Missing()) != len(w.Who)-len(known) {
			t.Fatalf("%d answers and %d missing of %d who were asked, %d known", len(w.Answers), len(w.Missing()), len(w.Who), len(known))
		}
		replied := slices.ContainsFunc(w.Answers, func(a spaces.WaitAnswer) bool { return a.Outcome == spaces.WaitReplied })
		if w.Outcome != "" && (w.Outcome == spaces.WaitReplied) != replied {
			t.Fatalf("%s after %+v", w.Outcome, w.Answers)
		}
	})
}

// R-7, BLU-18, BLU-21.
func TestWhatCountsAsAnAnswer(t *testing.T) {
	named := spaces.PendingWait{Mind: spaces.Mind{Agent: "ada"}, Message: "q", Thread: "t1", WaitSpec: spaces.WaitSpec{Who: []spaces.EntityID{"p:kai"}}}
	people, anybody := named, named
	people.WaitSpec, anybody.WaitSpec = spaces.WaitSpec{People: true}, spaces.WaitSpec{}
	for _, c := range []struct {
		name   string
		wait   spaces.PendingWait
		event  spaces.Event
		person bool
		want   bool
	}{
		{"who was named, wherever", named, spaces.Event{Actor: "p:kai", Thread: "t2"}, true, true},
		{"who was not", named, spaces.Event{Actor: "p:nova", Thread: "t1"}, true, false},
		{"the asker", anybody, spaces.Event{Actor: "agent:ada", Thread: "t1"}, false, false},
		{"the platform", anybody, spaces.Event{Thread: "t1"}, false, false},
		{"any person", people, spaces.Event{Actor: "p:nova", Thread: "t1"}, true, true},
		{"an agent where people are asked", people, spaces.Event{Actor: "agent:max", Thread: "t1"}, false, false},
		{"an agent where no people are", anybody, spaces.Event{Actor: "agent:max", Thread: "t1"}, false, true},
		{"another thread", people, spaces.Event{Actor: "p:nova", Thread: "t2"}, true, false},
		{"a reply from another thread", people, spaces.Event{Actor: "p:nova", Thread: "t2", ReplyTo: "q"}, true, true},
	} {
		if got := c.wait.Counts(c.event, c.person); got != c.want {
			t.Errorf("%s: counts %v, want %v", c.name, got, c.want)
		}
	}
}
