package shell

import "testing"

// PRD-5.6-3: what does not fit is told in plain language.
func TestWhatDoesNotFitIsToldInPlainWords(t *testing.T) {
	c := NewCatalogue(false)
	for _, x := range []struct{ act, args, want string }{
		{"send_message", `{"txt":"hi"}`, `There is no argument "txt"; there are account, answers, broadcast, instruction, more, reply_to, space, text, thread, wait, why.`},
		{"send_reply", `{}`, `The argument "text" is missing.`},
		{"timer", `{"seconds":"ten","note":"x"}`, `The argument "seconds" must be a whole number, and it is a text.`},
		{"timer", `{"seconds":1.5,"note":"x"}`, `The argument "seconds" must be a whole number, and it is a number.`},
		{"send_message", `{"text":"hi","broadcast":"yes"}`, `The argument "broadcast" must be true or false, and it is a text.`},
		{"note", `nope`, `The arguments could not be read: they are no JSON object.`},
		{"note", `{"text":null}`, `The argument "text" must be a text, and it is nothing.`},
		{"note", `{"text":"fine"}`, ``},
	} {
		if _, got := c.find(x.act).parse(x.args); got != x.want {
			t.Errorf("%s %s: %q, want %q", x.act, x.args, got, x.want)
		}
	}
}
