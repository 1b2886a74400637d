package config

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

const editedFile = `# ours
agents:
  ada: {name: Ada, phases: one}   # the first
  max:
    name: "Max: the \"second\""  # quoted
    persona: |
      Keeps track.

      # of the family
    model: {name: gpt, limits: {per_day: 2M}}
    # below max

adapters:
  telegram: {type: telegram, token: "${TELEGRAM_BOT_TOKEN}"}
owners:
- telegram:1
- 'telegram:2'
admit: pairing # for now
hosts: [a.example.org,
  b.example.org] # two
alarms:
listen: 127.0.0.1:7420`

func TestOneValueIsChangedAndTheRestStays(t *testing.T) {
	for _, c := range []struct{ path, value, was, now string }{
		{"admit", "open", "admit: pairing # for now", "admit: open # for now"},
		{"agents.ada.name", "Eve", "{name: Ada, phases: one}   # the first", "{name: Eve, phases: one}   # the first"},
		{"agents.ada.name", "a, b", "{name: Ada, phases", `{name: "a, b", phases`},
		{"agents.max.name", "Maxim # X: y", `name: "Max: the \"second\""  # quoted`, `name: "Maxim # X: y"  # quoted`},
		{"agents.max.persona", "short", "persona: |\n      Keeps track.\n\n      # of the family\n", "persona: short\n"},
		{"agents.max.model.limits.per_day", "500k", "{per_day: 2M}", "{per_day: 500k}"},
		{"agents.max.model.limits.per_cycle", "60k", "{per_day: 2M}", "{per_day: 2M, per_cycle: 60k}"},
		{"agents.max.streaming", "off", "    model: {name: gpt, limits: {per_day: 2M}}\n", "    model: {name: gpt, limits: {per_day: 2M}}\n    streaming: off\n"},
		{"agents.eve.model.name", "gpt", "\nadapters:", "  eve:\n    model:\n      name: gpt\n\nadapters:"},
		{"adapters.telegram.token", "${OTHER_TOKEN}", `token: "${TELEGRAM_BOT_TOKEN}"`, "token: ${OTHER_TOKEN}"},
		{"adapters.telegram.limits.outgoing", "off", `_TOKEN}"}`, `_TOKEN}", limits: {outgoing: off}}`},
		{"owners", "[telegram:3]", "owners:\n- telegram:1\n- 'telegram:2'\n", "owners: [telegram:3]\n"},
		{"hosts", "c.example.org", "[a.example.org,\n  b.example.org] # two", "c.example.org # two"},
		{"alarms.chat", "telegram:5", "alarms:\n", "alarms:\n  chat: telegram:5\n"},
		{"spaces.\"a.b\".name", "Family", "listen: 127.0.0.1:7420", "listen: 127.0.0.1:7420\nspaces:\n  \"a.b\":\n    name: Family\n"},
		{"listen", "", "listen: 127.0.0.1:7420", "listen: \"\""},
	} {
		for _, end := range []string{"\n", "\r\n"} {
			text, was, now := editedFile, c.was, c.now
			for _, s := range []*string{&text, &was, &now} {
				*s = strings.ReplaceAll(*s, "\n", end)
			}
			got, err := SetValue(text, c.path, c.value)
			testutil.OK(t, err)
			testutil.Same(t, c.path, strings.Replace(text, was, now, 1), got)
		}
	}
}

func TestOneValueIsRemovedAndTheRestStays(t *testing.T) {
	for _, c := range []struct{ path, was, now string }{
		{"admit", "admit: pairing # for now\n", ""},
		{"agents.ada.name", "{name: Ada, phases: one}", "{phases: one}"},
		{"agents.ada.phases", "{name: Ada, phases: one}", "{name: Ada}"},
		{"agents.max.persona", "    persona: |\n      Keeps track.\n\n      # of the family\n", ""},
		{"agents.max.model.limits.per_day", "{per_day: 2M}", "{}"},
		{"owners", "owners:\n- telegram:1\n- 'telegram:2'\n", ""},
		{"hosts", "hosts: [a.example.org,\n  b.example.org] # two\n", ""},
		{"alarms", "alarms:\n", ""},
		{"adapters.telegram.token", `, token: "${TELEGRAM_BOT_TOKEN}"`, ""},
	} {
		got, err := RemoveValue(editedFile, c.path)
		testutil.OK(t, err)
		testutil.Same(t, c.path, strings.Replace(editedFile, c.was, c.now, 1), got)
		windows, err := RemoveValue(strings.ReplaceAll(editedFile, "\n", "\r\n"), c.path)
		testutil.OK(t, err)
		testutil.Same(t, c.path, strings.ReplaceAll(got, "\n", "\r\n"), windows)
	}
	for path, want := range map[string]string{"agents.max": "a group of keys", "agents.max.timezone": "does not set agents.max.timezone", "agents.eve.name": "does not set"} {
		if _, err := RemoveValue(editedFile, path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

func TestWhatCannotBeChangedIsRefusedInWords(t *testing.T) {
	const anchored = "base: &base {name: x}\nagents:\n  ada: *base\n  max: {<<: *base}\nmodel: gpt\n"
	for _, c := range []struct{ text, path, value, want string }{
		{editedFile, "agents.max", "x", "a group of keys"},
		{editedFile, "agents..max", "x", "no path of keys"},
		{editedFile, `agents."max`, "x", "no path of keys"},
		{anchored, "agents.ada.name", "y", "no group of keys"},
		{anchored, "agents.ada", "y", "anchor"},
		{anchored, "model.name", "y", "no group of keys"},
		{"a: [", "a", "y", "not sound"},
		{"a: one\n  two\n", "a", "y", "cannot be changed by a command"},
	} {
		if _, err := SetValue(c.text, c.path, c.value); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %q: %v, want %q", c.path, c.text, err, c.want)
		}
	}
}

// Whatever the form of a file and its values, one value is changed, the lines of all others stay as
// they are, and every comment is still there.
func TestAnyValueOfAnyFileIsChangedAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		comments := 0
		var file func(depth, indent int) (lines []string, paths []string)
		value := rapid.SampledFrom([]string{"on", "60k", `"a: b # c"`, "'it''s'", "[a, 'b]', c]", "${NAME}", "${NAME:-x: y}", "", "plain words", "-1001"})
		file = func(depth, indent int) (lines, paths []string) {
			for n := range rapid.IntRange(1, 3).Draw(t, "keys") {
				pad, key := strings.Repeat(" ", indent), fmt.Sprintf("k%d", n)
				comment := ""
				if rapid.Bool().Draw(t, "comment") {
					comments++
					comment = fmt.Sprintf(" # c%d: \"'[{", comments)
				}
				switch kind := rapid.IntRange(0, 4).Draw(t, "kind"); {
				case kind == 0 && depth > 0:
					below, names := file(depth-1, indent+rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "indent"))
					lines = append(append(lines, pad+key+":"+comment), below...)
					for _, name := range names {
						paths = append(paths, key+"."+name)
					}
				case kind == 1:
					lines = append(lines, fmt.Sprintf("%s%s: {a: %s, 'b': {c: %s}}%s", pad, key, flowValue(t), flowValue(t), comment))
					paths = append(paths, key+".a", key+".b.c", key+".new", key+".b.new.deep")
				case kind == 2:
					lines = append(lines, pad+key+": |"+comment, pad+"   text # no comment", "", pad+"    deeper: x")
					paths = append(paths, key)
				case kind == 3:
					lines = append(lines, pad+key+":"+comment, pad+"- one", pad+"- two: 2", pad+"  three: 3")
					paths = append(paths, key)
				default:
					lines = append(lines, pad+key+": "+value.Draw(t, "value")+comment)
					paths = append(paths, key)
				}
				if rapid.IntRange(0, 4).Draw(t, "blank") == 0 {
					comments++
					lines = append(lines, "", fmt.Sprintf("%s# c%d:", pad, comments))
				}
			}
			return lines, append(paths, "new", "new2.deep")
		}
		lines, paths := file(2, 0)
		text := strings.Join(lines, "\n")
		path, set := rapid.SampledFrom(paths).Draw(t, "path"), value.Draw(t, "set")
		got, err := SetValue(text, path, set)
		if err != nil {
			t.Fatalf("%s: %s in\n%s\n%v", path, set, text, err)
		}
		tree, faults := parseTree("", newRefEscaper(got).escape(got), expander{})
		wanted, _ := parseTree("", "x: "+newRefEscaper(got).escape(cmp.Or(set, `""`))+"\n", expander{})
		for key := range strings.SplitSeq(path, ".") {
			tree = tree.get(key)
		}
		if len(faults) > 0 || tree == nil || !sameTree(tree, wanted.get("x")) {
			t.Fatalf("%s: %s is not what is in\n%s", path, set, got)
		}
		for n := 1; n <= comments; n++ {
			if mark := fmt.Sprintf("# c%d:", n); !strings.Contains(got, mark) {
				t.Fatalf("%s: %s lost the comment %s of\n%s\nin\n%s", path, set, mark, text, got)
			}
		}
		without, err := RemoveValue(got, path)
		if err != nil {
			t.Fatalf("without %s in\n%s\n%v", path, got, err)
		}
		lost := 0
		for n := 1; n <= comments; n++ {
			if !strings.Contains(without, fmt.Sprintf("# c%d:", n)) {
				lost++
			}
		}
		if lost > 1 {
			t.Fatalf("without %s, %d comments are lost in\n%s\nof\n%s", path, lost, without, got)
		}
	})
}

func flowValue(t *rapid.T) string {
	return rapid.SampledFrom([]string{"on", "60k", `"a, b}"`, "'it''s'", "[a, 'b]']", "${NAME}", `"${NAME:-x}"`, "-1001"}).Draw(t, "flow value")
}

func TestKeysOfCredentialsAndOfTheStartAreKnown(t *testing.T) {
	for path, want := range map[string][2]bool{
		"adapters.telegram.token": {true, false}, "model.api_key": {true, false}, "agents.ada.model.api_key": {true, false}, "database": {true, true},
		"agents.ada.name": {}, "alarms.chat": {false, true}, "budget.per_cycle": {}, "agents.ada.budget.per_cycle": {},
	} {
		testutil.Same(t, path, want, [2]bool{IsSecretKey(path), ReadAtStart(path)})
	}
}

// Whatever a file and a value are, a change is refused or leaves a sound file.
func FuzzSetValue(f *testing.F) {
	f.Add(editedFile, "admit", "open")
	f.Add(editedFile, "agents.ada.model.name", "a: b")
	f.Add("a: {b: [1, '2'], c}\r\n", "a.b", "[x, {y: z}]")
	f.Add("- a\n", "a.b", "1")
	f.Add("? a\n: b\n", "a", "1")
	f.Fuzz(func(t *testing.T, text, path, value string) {
		after, err := SetValue(text, path, value)
		if err != nil {
			return
		}
		if _, faults := parseTree("", newRefEscaper(after).escape(after), expander{}); len(faults) > 0 {
			t.Fatalf("%q is not sound: %v", after, faults)
		}
	})
}
