package main

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
)

// SEQ-96, I2, I7: a thousand messages in three chats of one room reach the other
// two chats, each once, in the order in which they were said in each chat, with a
// restart in the middle.
func TestAThousandRelayedMessagesArriveOnceAndInOrder(t *testing.T) {
	const each = 334
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, `
agents: {ada: {name: Ada}}
limits: {outgoing: off}
spaces:
  family: {agents: [ada], wake: none, relay: true, chats: ["telegram:-1001000000001", "telegram:-1001000000002", "telegram:-1001000000003"]}
`)
		people := map[string]string{"one": "Kai", "two": "Lee", "six": "Nova"}
		for _, name := range []string{"one", "two", "six"} {
			w.addChat(name, "supergroup", []string{people[name]})
		}
		w.settle()
		for n := range each {
			for name, who := range people {
				w.says(w.chats[name], w.people[who], fmt.Sprintf("%s says %d", who, n), 0, 0)
			}
			if n == each/2 {
				w.end()
				w.start()
			}
		}
		w.settle()
		for name := range people {
			next := map[string]int{}
			for _, m := range w.chats[name].Sent() {
				head, number, _ := strings.Cut(m.Text, " says ")
				who := head[strings.LastIndex(head, " ")+1:]
				if n, err := strconv.Atoi(number); err != nil || n != next[who] {
					t.Fatalf("in %s after %d of %s comes %q", name, next[who], who, m.Text)
				}
				next[who]++
			}
			for other, who := range people {
				want := each
				if other == name {
					want = 0
				}
				if next[who] != want {
					t.Errorf("in %s arrived %d of %s, want %d", name, next[who], who, want)
				}
			}
		}
		w.stop()
	})
}
