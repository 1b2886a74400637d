package shell_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/spaces"
)

// SECURITY S3, DESIGN 3: people of one name are told apart alike by every process, whether
// they are still there or not: who was there first has the name, and nobody who comes
// later is taken for them.
func TestNamesakesStayWhoTheyAre(t *testing.T) {
	k := &keeper{ChatModel: replier("noted")}
	play(t, k, func(w *world) {
		hall := w.room("hall")
		said := func(n int, text string) {
			in := w.update(hall, fmt.Sprintf("alex-%02d", n), spaces.MessagePosted{Text: text})
			in.From.Name = "Alex"
			w.record(in)
			w.settle()
		}
		w.start()
		for n := range 9 {
			said(n, fmt.Sprintf("@Ada I am number%d", n))
			leaves := w.update(hall, fmt.Sprintf("alex-%02d", n), spaces.MemberLeft{})
			leaves.From.Name = "Alex"
			leaves.Who = []spaces.PlatformIdentity{leaves.From}
			w.record(leaves)
			w.settle()
		}
		said(9, "@Ada I am number9")
		w.crash()
		w.start()
		said(9, "@Ada who am I?")
		last := k.frame()
		if !strings.Contains(last, `Alex~10 (human): "@Ada who am I?"`) {
			t.Errorf("who came last is taken for another:\n%s", last[strings.Index(last, "YOUR SPACES"):])
		}
	})
}
