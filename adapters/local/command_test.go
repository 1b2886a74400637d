package local

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/adapters"
)

func TestACommandStandsAtTheHeadOfALine(t *testing.T) {
	r := New(Options{NewID: func() string { return "1" }})
	for text, want := range map[string]*adapters.ChatCommand{
		"/stop":          {Name: "stop"},
		"/STOP  now ":    {Name: "stop", Args: "now"},
		"/wake_me at 9":  {Name: "wake_me", Args: "at 9"},
		"please /stop":   nil,
		"/":              nil,
		"/ stop":         nil,
		"/usr/bin/env x": nil,
		"":               nil,
	} {
		if d := cmp.Diff(want, r.command(text)); d != "" {
			t.Errorf("%q: (-want +got)\n%s", text, d)
		}
	}
}

func FuzzCommand(f *testing.F) {
	for _, text := range []string{"/stop now", "/", "//", "/ä x", "@ada, /stop", "(@ada)"} {
		f.Add(text)
	}
	r := New(Options{NewID: func() string { return "1" }, Handle: "ada"})
	f.Fuzz(func(t *testing.T, text string) {
		r.named(text)
		c := r.command(text)
		if c == nil {
			return
		}
		if c.Name == "" || c.Name != strings.ToLower(c.Name) || !strings.HasPrefix(strings.ToLower(text), "/"+c.Name) || !strings.HasSuffix(strings.TrimSpace(text), c.Args) {
			t.Errorf("%q is the command %+v", text, c)
		}
	})
}
