package activity

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

func TestAFileThatMayNotBePostedClosesNoChat(t *testing.T) {
	// DELIVERY F46, 2.2 (7): many groups take words of a bot and no files
	synctest.Test(t, func(t *testing.T) {
		p := &carrying{searchable: &searchable{platform: &platform{}}}
		p.script = func(c call) error {
			if strings.HasPrefix(c.Text, "📎") {
				return refusal(adapters.Forbidden)
			}
			return nil
		}
		r := newRecord()
		file := spaces.MessageFile{FileAttachment: spaces.FileAttachment{Kind: "file", Name: "n"}, Data: []byte("abc")}
		r.put(spaces.Action{ID: "x", Event: "e", Chat: "c", Text: "look", Files: []spaces.MessageFile{file}})
		runEgress(t, NewEgress(ours, p, r, NewSpaceMapping(r, r), EgressOptions{}))
		after(time.Minute)
		if s := r.failures["x"]; s.State != spaces.ActionFailed || s.Code != adapters.Forbidden.String() {
			t.Errorf("got %+v, want failed as forbidden", s)
		}
		if _, told := r.live["c"]; told {
			t.Error("the chat is told to be out of reach, and took the words")
		}
	})
}

func TestAThreadThatTakesNoWordsClosesNoChat(t *testing.T) {
	// DELIVERY F46, 2.2 (7): on Discord a right of its own is needed to speak in threads
	synctest.Test(t, func(t *testing.T) {
		p := &platform{script: func(c call) error {
			if c.Thread != "" {
				return refusal(adapters.Forbidden)
			}
			return nil
		}}
		r := newRecord()
		r.put(spaces.Action{ID: "aside", Chat: "c", Thread: "t", Text: "aside"})
		r.put(spaces.Action{ID: "said", Chat: "c", Text: "said"})
		send(t, p, r, EgressOptions{})
		after(time.Second)
		if s := r.failures["aside"]; s.State != spaces.ActionFailed || s.Code != adapters.Forbidden.String() {
			t.Errorf("got %+v, want failed as forbidden", s)
		}
		if _, told := r.live["c"]; told || r.action("said").State != spaces.ActionSent {
			t.Errorf("the chat is told to be out of reach: %t; what is said in it is %s", told, r.action("said").State)
		}
	})
}

func TestAChatThatTakesWordsAgainIsInReach(t *testing.T) {
	// DELIVERY F46, 2.2 (8): what arrived proves it at once
	synctest.Test(t, func(t *testing.T) {
		p := &platform{script: once(func(c call) bool { return c.Text == "refused" }, refusal(adapters.Forbidden))}
		r := newRecord()
		r.put(spaces.Action{ID: "1", Chat: "c", Text: "refused"})
		send(t, p, r, EgressOptions{})
		after(time.Second)
		if !r.lost("c") {
			t.Fatal("the chat that refused us is in reach")
		}
		r.put(spaces.Action{ID: "2", Chat: "c", Text: "taken"})
		after(time.Minute)
		if a := r.action("2"); a.State != spaces.ActionSent {
			t.Fatalf("the next one is %s, want sent", a.State)
		}
		if r.lost("c") {
			t.Error("the chat is still out of reach")
		}
	})
}
