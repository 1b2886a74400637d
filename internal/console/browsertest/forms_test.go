package browsertest

import (
	"slices"
	"testing"
)

// The forms of pages do what they say in a browser, which tells in headers of its own where
// they come from.
func TestFormsOfPagesAreServed(t *testing.T) {
	b := newBrowser(t)
	s := newStand(t, b)
	l := s.Live("hello")
	for _, c := range []struct{ page, form, want string }{
		{"/people", `form[action="/people/revoke"]`, "shut out telegram:42 7"},
		{"/spaces/" + string(l.Space), `form[action$="/mute"]`, "mute ada, lifted false"},
		{"/problems", `form[action$="/ack"]`, "quiet 3"},
		{"/runs/" + string(l.Closed), `form[action$="/rehearse"]`, "rehearse  0 []"},
		{"/runs/" + string(l.Closed), `form[action$="/resend"]`, "resend to -100"},
		{"/settings/change?path=admit", `form[action="/settings/change"]`, "propose admit pairing"},
		{"/settings/change?path=model.api_key", `form[action="/settings/change"]`, "apply model.api_key k"},
	} {
		b.visit(s.server.URL + c.page)
		b.run("window.before = true; for (const f of document.querySelectorAll('input[type=password]')) f.value = 'k'; document.querySelector(`"+c.form+"`).requestSubmit()", nil)
		var text string
		for range 1000 { // each waits until a page that is on its way has come
			if b.run(`return window.before ? "" : document.body.innerText.slice(0, 200)`, &text); text != "" {
				break
			}
		}
		if !slices.Contains(s.Program.Asked(), c.want) {
			t.Errorf("%s: want %q, asked was %q; the page says %q", c.page, c.want, s.Program.Asked(), text)
		}
	}
}
