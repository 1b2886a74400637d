package spaces_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/trestle-bridge/trestle/spaces"
)

// Whatever becomes of those who were asked, in whatever order and however often, a wait ends
// once, when enough of them have answered or fewer can, and says of each whom it
// knows of.
func TestAWaitEndsOnceWhenItHasEnoughAnswersOrCanNoMore(t *testing.T) {
	people := []spaces.EntityID{"agent:max", "agent:zed", "p:kai"}
	outcomes := []spaces.WaitOutcome{spaces.WaitReplied, spaces.WaitReplied, spaces.WaitReplied, spaces.WaitReplied, spaces.WaitLeft, spaces.WaitStopped, spaces.WaitDenied, spaces.WaitFailed, spaces.WaitSilent, spaces.WaitNotDelivered, spaces.WaitBudget}
	rapid.Check(t, func(t *rapid.T) {
		w := spaces.PendingWait{WaitSpec: spaces.WaitSpec{Who: rapid.SliceOfDistinct(rapid.SampledFrom(people), rapid.ID).Draw(t, "asked")}}
		w.Need = rapid.IntRange(0, max(len(w.Who), 2)).Draw(t, "need")
		if len(w.Who) > 0 {
			w.Need = min(w.Need, len(w.Who))
		}
		known, over, replies := map[spaces.EntityID]spaces.WaitOutcome{}, false, 0
		for range rapid.IntRange(0, 12).Draw(t, "events") {
			a := spaces.WaitAnswer{Who: rapid.SampledFrom(people).Draw(t, "who"), Outcome: rapid.SampledFrom(outcomes).Draw(t, "outcome")}
			counts := !over && known[a.Who] == "" && (slices.Contains(w.Who, a.Who) ||
				len(w.Who) == 0 && (a.Outcome == spaces.WaitReplied || a.Outcome == spaces.WaitNotDelivered))
			ends := false
			if counts {
				known[a.Who] = a.Outcome
				if a.Outcome == spaces.WaitReplied {
					replies++
				}
				unknown := len(w.Who) - len(known)
				switch {
				case len(w.Who) == 0:
					ends = replies >= max(1, w.Need) || a.Outcome == spaces.WaitNotDelivered
				case w.Need == 0:
					ends = unknown == 0
				default:
					ends = replies >= w.Need || replies+unknown < w.Need
				}
			}
			over = over || ends
			if ended := w.Take(a); ended != ends || (w.Outcome != "") != over {
				t.Fatalf("%+v ends it: %v, want %v; it is %+v", a, ended, ends, w)
			}
		}
		if len(w.Answers) != len(known) || len(w.Who) > 0 && len(w.Missing()) != len(w.Who)-len(known) || w.Replies() != replies {
			t.Fatalf("%d answers and %d missing of %d who were asked, %d known", len(w.Answers), len(w.Missing()), len(w.Who), len(known))
		}
		switch enough := replies >= w.Needed(); {
		case over && (w.Outcome == spaces.WaitReplied) != enough, over && (w.Outcome == spaces.WaitPartial) != (!enough && replies > 0):
			t.Fatalf("%s after %+v, which needs %d", w.Outcome, w.Answers, w.Needed())
		case over:
			return
		}
		if w.Expire(); w.Outcome != spaces.WaitTimeout || len(w.Missing()) > 0 || w.Replies() != replies || w.Take(spaces.WaitAnswer{Who: "p:kai", Outcome: spaces.WaitReplied}) {
			t.Fatalf("timed out as %+v", w)
		}
	})
}

// R-7, BLU-18, BLU-21.
func TestWhatCountsAsAnAnswer(t *testing.T) {
	named := spaces.PendingWait{Mind: spaces.Mind{Agent: "ada"}, Message: "q", Thread: "t1", WaitSpec: spaces.WaitSpec{Who: []spaces.EntityID{"p:kai"}}}
	people, anybody := named, named
	people.WaitSpec, anybody.WaitSpec = spaces.WaitSpec{People: true}, spaces.WaitSpec{}
	choice, choiceOfKai := people, named
	choice.Options, choiceOfKai.Options = []string{"Tue", "Wed"}, []string{"Tue", "Wed"}
	tue, nothing := spaces.MessagePosted{Text: "tue"}, spaces.MessagePosted{Text: "who cooks?"}
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
		{"an option", choice, spaces.Event{Actor: "p:nova", Thread: "t1", Body: tue}, true, true},
		{"an option in another thread", choice, spaces.Event{Actor: "p:nova", Thread: "t2", Body: tue}, true, false},
		{"an option that an agent says", choice, spaces.Event{Actor: "agent:max", Thread: "t1", Body: tue}, false, false},
		{"other words", choice, spaces.Event{Actor: "p:nova", Thread: "t1", Body: nothing}, true, false},
		{"other words as a reply", choice, spaces.Event{Actor: "p:nova", Thread: "t1", ReplyTo: "q", Body: nothing}, true, true},
		{"an option by who is to choose", choiceOfKai, spaces.Event{Actor: "p:kai", Thread: "t1", Body: tue}, true, true},
		{"an option by another", choiceOfKai, spaces.Event{Actor: "p:nova", Thread: "t1", Body: tue}, true, false},
		{"a reply by another", choiceOfKai, spaces.Event{Actor: "p:nova", Thread: "t1", ReplyTo: "q", Body: tue}, true, false},
	} {
		if got := c.wait.Counts(c.event, c.person, false); got != c.want {
			t.Errorf("%s: counts %v, want %v", c.name, got, c.want)
		}
	}
}

// In the chat of one person any words answer a question with options.
func TestAnyWordsAnswerInAPersonsOwnChat(t *testing.T) {
	w := spaces.PendingWait{Mind: spaces.Mind{Agent: "ada"}, Message: "q", WaitSpec: spaces.WaitSpec{People: true, Options: []string{"Tue", "Wed"}}}
	e := spaces.Event{ID: "a", Actor: "p:kai", Body: spaces.MessagePosted{Text: "neither"}}
	if !w.Counts(e, true, true) || w.AnswerOf(e) != (spaces.WaitAnswer{Who: "p:kai", Outcome: spaces.WaitReplied, Event: "a"}) {
		t.Errorf("counts %v as %+v", w.Counts(e, true, true), w.AnswerOf(e))
	}
}

func TestWordsMeanAnOption(t *testing.T) {
	w := spaces.WaitSpec{Options: []string{"At six.", "3", "Not at all"}}
	for words, want := range map[string]int{
		"at six": 1, "At six!": 1, "1": 1, `1\.`: 1, "#1": 1, "@Ada 1": 1, "@Ada not at all": 3, "2)": 2,
		"3": 2, "4": 0, "0": 0, "-1": 0, "": 0, "@Ada": 0, "six": 0, "not at all, I think": 0,
	} {
		if got := w.ChoiceIn(words); got != want {
			t.Errorf("%q means option %d, want %d", words, got, want)
		}
	}
	if list := spaces.OptionList([]string{"At six.", "Later"}); list != "\n\n1. At six.\n2. Later" || spaces.OptionList(nil) != "" {
		t.Errorf("list %q", list)
	}
}
