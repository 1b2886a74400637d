package slack

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// SEQ-04: an empty page in between ends no list, an error and a cursor that leads
// to itself do.
func TestAListIsReadToItsLastPage(t *testing.T) {
	broken := errors.New("broken")
	type step struct {
		members []string
		next    string
		err     error
	}
	for name, c := range map[string]struct {
		pages map[string]step
		want  []string
		fails bool
	}{
		"one page":         {map[string]step{"": {members: []string{"a"}}}, []string{"a"}, false},
		"an empty between": {map[string]step{"": {members: []string{"a"}, next: "1"}, "1": {next: "2"}, "2": {members: []string{"b"}}}, []string{"a", "b"}, false},
		"a circle of one":  {map[string]step{"": {members: []string{"a"}, next: "1"}, "1": {members: []string{"b"}, next: "1"}}, []string{"a", "b"}, false},
		"an error":         {map[string]step{"": {members: []string{"a"}, next: "1"}, "1": {err: broken}}, []string{"a"}, true},
	} {
		var got []string
		var failed error
		for page, err := range pages(func(cursor string) (list, error) {
			var l list
			l.Members, l.Metadata.Cursor = c.pages[cursor].members, c.pages[cursor].next
			return l, c.pages[cursor].err
		}) {
			got, failed = append(got, page.Members...), err
		}
		if diff := cmp.Diff(c.want, got); diff != "" || (failed != nil) != c.fails {
			t.Errorf("%s: %v, read (-want +got):\n%s", name, failed, diff)
		}
	}
}
