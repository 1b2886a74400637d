package mentions

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/adapters"
)

// SECURITY S6: a person is notified by their whole name, and not by a longer word that
// begins with it.
func TestANameIsTakenWhole(t *testing.T) {
	people := []adapters.Person{{ID: "1", Name: "Ann", Handle: "ann"}, {ID: "2", Name: "Ann Lee"}, {ID: "", Name: "Nobody"}}
	names := Of(people, func(who adapters.Person, name string) []string {
		if who.ID == "" {
			return nil
		}
		return []string{name}
	})
	for words, want := range map[string][]string{
		"":                          nil,
		"Ann":                       nil,
		"@Ann":                      {"1 Ann"},
		"hi @ann, @ANN LEE!":        {"1 ann", "2 ANN LEE"},
		"@Ann Leeds":                {"1 Ann"},
		"@Anna, @Ann_, @Ann1, @Änn": nil,
		"mail@Ann, _@Ann, (@Ann)":   {"1 Ann"},
		"@@Ann@Ann":                 {"1 Ann", "1 Ann"},
		"@Nobody":                   nil,
		"❤️@Ann 1️⃣@Ann❤️":          {"1 Ann", "1 Ann"},

		"https://a.example/@ann, a.example/@ann":         nil,
		"(https://a.example/x?by=@Ann&to=@Ann+Lee)":      nil,
		"@Ann/@Ann Lee https://a.example @Ann":           {"1 Ann", "2 Ann Lee", "1 Ann"},
		"(https://a.example)@Ann https://a.example。@Ann": {"1 Ann", "1 Ann"},
	} {
		var got []string
		rest, whole := words, ""
		for {
			m, found := names.Cut(rest)
			whole += m.Before
			if !found {
				break
			}
			whole += "@" + m.Written
			got = append(got, fmt.Sprint(m.Who.ID, " ", m.Written))
			rest = m.After
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", words, diff)
		}
		if whole != words {
			t.Errorf("%q became %q", words, whole)
		}
	}
	// A mark or a joiner goes on with the name: these are Mohini, Alireza and Ánn.
	near := Of([]adapters.Person{{ID: "1", Name: "मोहन"}, {ID: "2", Name: "علی"}, {ID: "3", Name: "A"}}, func(_ adapters.Person, name string) []string { return []string{name} })
	for _, words := range []string{"@मोहनी", "@علی\u200cرضا", "@A\u0301nn"} {
		if m, found := near.Cut(words); found {
			t.Errorf("%q calls %s", words, m.Who.Name)
		}
	}
	if m, found := NameSet(nil).Cut("@Ann"); found || m.Before != "@Ann" {
		t.Errorf("found %+v among nobody", m)
	}
}
