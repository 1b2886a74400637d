package browsertest

import "testing"

// Each table of figures is drawn, with the console's own policy in force.
func TestFiguresAreDrawn(t *testing.T) {
	b := newBrowser(t)
	s := newStand(t, b)
	s.Live("hello")
	if _, err := s.Store.Figures().Count(t.Context(), 10_000); err != nil {
		t.Fatal(err)
	}
	b.visit(s.server.URL + "/figures?range=day")
	var tables int
	b.await(`const done = arguments[arguments.length - 1];
const wait = () => { const n = document.querySelectorAll("[data-plot]").length; n > 0 && document.querySelectorAll(".plot canvas").length === n ? done(n) : setTimeout(wait, 20); }; wait();`, &tables)
	if tables < 4 {
		t.Errorf("%d charts are drawn", tables)
	}
}
