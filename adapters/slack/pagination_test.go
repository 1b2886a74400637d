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
		channels []string
		next     string
		err      error
	}
	for name, c := range map[string]struct {
		pages map[string]step
		want  []string
		fails bool
	}{
		"one page":         {map[string]step{"": {channels: []string{"a"}}}, []string{"a"}, false},
		"an empty between": {map[string]step{"": {channels: []string{"a"}, next: "1"}, "1": {next: "2"}, "2": {channels: []string{"b"}}}, []string{"a", "b"}, false},
		"a circle of one":  {map[string]step{"": {channels: []string{"a"}, next: "1"}, "1": {channels: []string{"b"}, next: "1"}}, []string{"a", "b"}, false},
		"an error":         {map[string]step{"": {channels: []string{"a"}, next: "1"}, "1": {err: broken}}, []string{"a"}, true},
	} {
		var got []string
		var failed error
		for page, err := range pages(func(cursor string) (list, error) {
			var l list
			for _, id := range c.pages[cursor].channels {
				l.Channels = append(l.Channels, channel{ID: id})
			}
			l.Metadata.Cursor = c.pages[cursor].next
			return l, c.pages[cursor].err
		}) {
			for _, ch := range page.Channels {
				got = append(got, ch.ID)
			}
			failed = err
		}
		if diff := cmp.Diff(c.want, got); diff != "" || (failed != nil) != c.fails {
			t.Errorf("%s: %v, read (-want +got):\n%s", name, failed, diff)
		}
	}
}
