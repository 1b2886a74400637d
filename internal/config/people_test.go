package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// SECURITY S1: people are named by what their platform minted and by nothing that
// can be chosen; what names nobody gives nobody anything.
func TestPeopleAreNamedByTheirIds(t *testing.T) {
	for text, want := range map[string]string{
		`"telegram:123"`:           "telegram:123",
		`["telegram:123"]`:         "telegram:123",
		`"acme:T01/U02"`:           "acme:T01/U02",
		`"acme:U02"`:               "does not say of which team",
		`"telegram:T01/123"`:       "has a team",
		`"telegram:@kai"`:          "handles can be changed",
		`"kai"`:                    "names no adapter",
		`"discord:1"`:              "not under adapters",
		`"*"`:                      "write admit: open",
		`["telegram:1", "nobody"]`: "telegram:1",
	} {
		file := filepath.Join(t.TempDir(), "trestle.yaml")
		err := os.WriteFile(file, []byte("adapters:\n  telegram: {type: telegram, token: \"1:a\"}\n"+
			"  acme: {type: slack, bot_token: xoxb-1, app_token: xapp-1}\nowners: "+text+"\n"), 0o600)
		if err != nil {
			t.Fatal(err)
		}
		c, err := Load(LoadOptions{Path: file, Lookup: func(string) (string, bool) { return "", false }})
		if err != nil {
			t.Errorf("%s stops the start: %v", text, err)
			continue
		}
		var got strings.Builder
		got.WriteString(strings.Join(personTexts(c.Owners), ", "))
		for _, p := range c.Problems {
			if p.Entry == "owners" {
				got.WriteString(" " + p.Err.What + " " + p.Err.Remedy)
			}
		}
		if !strings.Contains(got.String(), want) {
			t.Errorf("owners: %s reads as %q, want %q", text, got.String(), want)
		}
	}
}

// An id means the same person on every account of a platform, and nobody on another.
func TestPeopleCountOnTheirPlatform(t *testing.T) {
	c := &Config{
		Adapters: []AdapterEntry{{Name: "a", Type: "telegram"}, {Name: "b", Type: "telegram"}, {Name: "guild", Type: "discord"}},
		Owners:   []PersonRef{{Adapter: "a", User: "7"}},
	}
	for adapter, want := range map[string]int{"a": 1, "b": 1, "guild": 0} {
		if got := len(c.PeopleOnAccount(c.Owners, adapter)); got != want {
			t.Errorf("on %s %d owners are appointed, want %d", adapter, got, want)
		}
	}
}
