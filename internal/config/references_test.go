package config

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

// A token with any characters is read unchanged, changes nothing around it, and is
// in no output. One with white space is refused.
func TestATokenCannotBreakTheFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, DefaultFile)
	for _, yaml := range []string{
		"adapters: {telegram: {type: telegram, token: ${TOKEN}, api_url: \"\"}}\nadmit: deny\n",
		"adapters:\n  telegram:\n    type: telegram\n    token: ${TOKEN}\nadmit: deny\n",
		"adapters:\n  telegram:\n    type: telegram\n    token: \"${file:token}\"\nadmit: deny\n",
	} {
		testutil.OK(t, os.WriteFile(path, []byte(yaml), 0o600))
		rapid.Check(t, func(rt *rapid.T) {
			token := "7:hidden" + rapid.StringOf(rapid.RuneFrom([]rune("$#{}[]:,&*!|>'\"%@` \t\\aZ0\u00e9"))).Draw(rt, "token") + "end"
			if err := os.WriteFile(filepath.Join(dir, "token"), []byte(token+"\n"), 0o600); err != nil {
				rt.Fatal(err)
			}
			lookup, environ := environment("")
			c, err := Load(LoadOptions{Folder: dir, Environ: environ, Lookup: func(name string) (string, bool) {
				if name == "TOKEN" {
					return token, true
				}
				return lookup(name)
			}})
			if err != nil {
				rt.Fatal(err)
			}
			if got := string(c.Adapters[0].Token); got != token || c.Admit != "deny" || len(c.Problems) != 0 != strings.ContainsAny(token, " \t") {
				rt.Fatalf("token %q became %q; admit %s, problems %v", token, got, c.Admit, c.Problems)
			}
			var out strings.Builder
			said(&out, c, nil)
			WriteRows(&out, c.Rows(ShowOptions{Origin: true, All: true}), ShowOptions{Origin: true})
			if err := json.NewEncoder(&out).Encode(c); err != nil {
				rt.Fatal(err)
			}
			fmt.Fprintf(&out, "%v %+v %#v %d", c, c, c, c.Secrets())
			if strings.Contains(out.String(), token) {
				rt.Fatalf("the token is shown in %s", out.String())
			}
		})
	}
}

// Excerpts do not show credentials that the file contains literally.
func TestExcerptsHideLiteralCredentials(t *testing.T) {
	const token = "123456:AAdontshowme"
	for _, line := range []string{
		"adapters: {telegram: {type: telegram, token: " + token + ", bogus: 1}}",
		"adapters: {telegram: {type: telegram, tokne: '" + token + "'}}",
		"adapters: {telegram: {type: telegram, \"token\": \"" + token + "\", admit: nobody}}",
		"model: {api_key: " + token + ", namee: x}",
		"adapters: {telegram: {type: telegram, token: \"" + token,
		"token: " + token + "\nlisten: x\nlistne: " + token,
		"database: " + token,
	} {
		c, err := loadText(t, line, "")
		var out strings.Builder
		if exit := said(&out, c, err); exit == "0" {
			t.Errorf("%s: no fault found", line)
		}
		if strings.Contains(out.String(), "dontshowme") {
			t.Errorf("%s: shown in\n%s", line, out.String())
		}
		if err != nil && strings.Contains(err.Error(), "dontshowme") {
			t.Errorf("%s: shown in the error %v", line, err)
		}
	}
}

func TestReferencesAreReplacedInValuesOnly(t *testing.T) {
	for _, test := range []struct{ text, want, missing string }{
		{"plain", "plain", ""},
		{"${A}", "one", ""},
		{"x${A}y${A}", "xoneyone", ""},
		{"${B:-else}", "else", ""},
		{"${EMPTY:-else}", "else", ""},
		{"${B:-}", "", ""},
		{"$$", "$", ""},
		{"$${A}", "${A}", ""},
		{"a$b $ 5$", "a$b $ 5$", ""},
		{"${B}", "", "the environment variable B is not set"},
		{"${EMPTY}", "", "the environment variable EMPTY is empty"},
		{"${a b}", "", "${a b} names no variable; write ${NAME}, ${NAME:-default}, ${file:PATH} or ${cred:NAME}, and $$ for a dollar"},
		{"${file:/no/such}", "", "the file /no/such cannot be read: it does not exist"},
		{"${unclosed", "${unclosed", ""},
	} {
		lookup, _ := environment("A=one\nEMPTY=")
		e := expander{lookup: lookup}.expand(test.text)
		if e.text != test.want || e.missing != test.missing {
			t.Errorf("expand(%q) = %q, %q; want %q, %q", test.text, e.text, e.missing, test.want, test.missing)
		}
	}
}

// Any file and environment gives a configuration or an error, and the result can be
// shown and compared.
func FuzzLoad(f *testing.F) {
	for _, pattern := range []string{"testdata/faults/*.txtar", "testdata/shapes/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(text), "TRESTLE_AGENTS__ADA__WAKE=all")
		}
	}
	for _, seed := range []string{contractExample, "a: &x [1]\nb: *x\n", "{", "? a\n: b\n", "<<: {a: 1}\n", "- - -", "a: !!binary x", "\"${A\": ${A}", "agents: &a {b: &b {<<: [*a, *b]}}"} {
		f.Add(seed, "TRESTLE_A__B=c")
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text, env string) {
		file := filepath.Join(dir, DefaultFile)
		testutil.OK(t, os.WriteFile(file, []byte(text), 0o600))
		lookup, environ := environment(env)
		c, err := Load(LoadOptions{Path: file, Folder: dir, Lookup: lookup, Environ: environ})
		findings := ListFindings(c, err)
		if c == nil && len(findings) == 0 {
			t.Error("no configuration and no reason")
		}
		if c == nil || c.doc == nil {
			return
		}
		said(new(strings.Builder), c, err)
		if changes := CompareConfigs(c, c); len(changes) > 0 {
			t.Errorf("it differs from itself: %+v", changes)
		}
		WriteRows(io.Discard, c.Rows(ShowOptions{All: true, Origin: true}), ShowOptions{Origin: true})
	})
}

// Private-use characters in a file are read unchanged.
func TestPrivateUseCharactersStayUnchanged(t *testing.T) {
	const name = "\U000f0000\U000f0024\U000f007f\U000f0081"
	c, err := loadText(t, "agents: {ada: {name: \""+name+"\", persona: \"${A}\"}}\n", "A=b")
	if err != nil || c.Agents[0].Name != name || c.Agents[0].Persona != "b" {
		t.Errorf("%v: name %q, persona %q", err, c.Agents[0].Name, c.Agents[0].Persona)
	}
}
