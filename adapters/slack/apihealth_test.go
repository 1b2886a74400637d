package slack_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/fake"
	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
)

// DELIVERY 2.2 (7): a Slack that does not say who people are holds up what they say
// for some seconds in all, not for each of them; their names come once it answers.
func TestASlackThatTellsNoNamesHoldsUpNobodyForLong(t *testing.T) {
	for name, fault := range map[string]fake.CallFault{
		"it hangs":  {Method: "users.info", Do: fake.Hang, Times: -1},
		"one hangs": {Method: "users.info", Do: fake.Hang, Times: 1},
	} {
		t.Run(name, func(t *testing.T) {
			listening(t, func(w *workspace, b *book) {
				t := w.t
				var people []*fakeslack.HumanUser
				for n := range 40 {
					p := w.AddPerson(fakeslack.UserProfile{Name: fmt.Sprint("Person ", n)})
					w.ops.Joins(p)
					people = append(people, p)
				}
				pass(time.Hour) // those names are believed no more
				hung := w.Fault(fault)
				for n, p := range people {
					w.ops.Says(p, fmt.Sprint("word ", n), fakeslack.PostOptions{})
				}
				pass(4 * time.Second)
				heard := func() (words int, named int) {
					seen := map[string]bool{}
					for _, u := range b.all() {
						if m, ok := u.Body.(adapters.IncomingMessage); ok && !seen[u.Key] {
							seen[u.Key] = true
							words++
							if u.From.Name != u.From.ID && m.Text != "" {
								named++
							}
						}
					}
					return words, named
				}
				words, named := heard()
				if words != len(people) {
					t.Errorf("%d of %d messages are heard within four seconds", words, len(people))
				}
				if name == "one hangs" && named < len(people)-1 {
					t.Errorf("%d of %d have a name although one question hung", named, len(people))
				}
				if hung.Hits() > 5 {
					t.Errorf("asked %d times in four seconds", hung.Hits())
				}
				w.ClearFaults()
				pass(time.Minute)
				w.ops.Says(people[7], "again", fakeslack.PostOptions{})
				pass(time.Second)
				all := b.all()
				if last := all[len(all)-1]; last.From.Name != "Person 7" {
					t.Errorf("their name is %q once Slack answers", last.From.Name)
				}
			})
		})
	}
}

// R-SL: while Slack asks us to wait, no name is looked up, and no message waits for one.
func TestNamesAreNotAskedForEarly(t *testing.T) {
	listening(t, func(w *workspace, b *book) {
		t := w.t
		kai := w.AddPerson(fakeslack.UserProfile{Name: "Kai"})
		w.ops.Joins(kai)
		pass(2 * time.Hour)
		w.Fault(fake.CallFault{Method: "users.info", Do: fake.Refuse, RetryAfter: 30, Times: -1})
		asked := func() (n int) {
			for _, c := range w.Ledger().Calls {
				if c.Method == "users.info" {
					n++
				}
			}
			return n
		}
		before := asked()
		for n := range 20 {
			w.ops.Says(kai, fmt.Sprint("word ", n), fakeslack.PostOptions{})
			w.ops.Says(w.maya, fmt.Sprint("also ", n), fakeslack.PostOptions{})
			pass(time.Second)
		}
		if n := asked() - before; n != 1 {
			t.Errorf("asked %d times in 20 s, want once in 30", n)
		}
		w.ClearFaults()
		pass(11 * time.Second)
		w.ops.Says(kai, "later", fakeslack.PostOptions{})
		pass(time.Second)
		all := b.all()
		if last := all[len(all)-1]; last.From.Name != "Kai" {
			t.Errorf("their name is %q after the wait", last.From.Name)
		}
	})
}
