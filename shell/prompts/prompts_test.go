package prompts

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// folder returns a folder with these files.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "prompts")
	testutil.OK(t, os.Mkdir(dir, 0o700))
	for name, text := range files {
		testutil.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

const ownIdentity = "You are {{.Name}}, {{.Entity}}.\n{{.Persona}}"

// activated returns activations of versions such as identity@2, or identity@2 ada.
func activated(t *testing.T, names ...string) (all []spaces.PromptActivation) {
	t.Helper()
	for _, name := range names {
		version, agent, _ := strings.Cut(name, " ")
		section, number, err := ParseVersion(version)
		testutil.OK(t, err)
		all = append(all, spaces.PromptActivation{Section: section, Version: number, Agent: spaces.AgentID(agent)})
	}
	return all
}

// PRD-1-2, PRD-3-2: every text that a model is shown is a section with a mode, once.
func TestEverySectionIsAFileWithAMode(t *testing.T) {
	files, err := builtInFiles.ReadDir(".")
	testutil.OK(t, err)
	var names []string
	for _, s := range AllSections() {
		names = append(names, s.Name+".md")
	}
	slices.Sort(names)
	var have []string
	for _, f := range files {
		have = append(have, f.Name())
	}
	testutil.Same(t, "files", names, have)
	for _, m := range []SectionMode{AlwaysShown, TagsDialect, EachPhase, CrossSpace, RoomSetup, OldAccounts} {
		if !slices.ContainsFunc(AllSections(), func(s PromptSection) bool { return s.Mode == m }) {
			t.Errorf("no section is of mode %s", m)
		}
	}
	if used := BuiltIn().Used(); len(used) > 0 {
		t.Errorf("what is built in is said to use %v", used)
	}
}

// A file that cannot be a version is refused with the reason, and the others are read.
func TestFilesThatAreNoVersionsAreRefused(t *testing.T) {
	for name, x := range map[string]struct{ file, text, why string }{
		"unknown section":        {"identty@2.md", ownIdentity, `there is no section "identty"; did you mean "identity"?`},
		"nothing near":           {"zzzzzzzzzz@2.md", ownIdentity, "the sections are identity, antipatterns"},
		"no version":             {"identity.md", ownIdentity, "its name has no version"},
		"the built-in version":   {"identity@1.md", ownIdentity, "version 1 is built in"},
		"another form of two":    {"identity@02.md", ownIdentity, `"identity@02" is no version`},
		"placeholder missing":    {"identity@2.md", "You are {{.Name}} ({{.Entity}}).", "it does not show {{.Persona}}"},
		"placeholder unknown":    {"identity@2.md", ownIdentity + "{{.Namen}}", "Namen"},
		"not a template":         {"identity@2.md", ownIdentity + "{{", "its placeholders cannot be filled in"},
		"placeholder not needed": {"setup@2.md", "Set up {{.Room}}", "has no placeholders"},
		"phase missing":          {"phases@2.md", "contemplation: Think.\none: Answer.", `no line of it begins with "engagement: "`},
		"without an origin":      {"compose@2.md", "{{.Agent}}{{.Persona}}{{.Instruction}}{{.Origin.Name}}{{.Target.Name}}{{join .Target.Messages}}", "its placeholders cannot be filled in"},
		"hidden character":       {"setup@2.md", "Set up\u202e this room", "U+202E"},
		"control character":      {"setup@2.md", "Set up\x1b[31m this room", "U+001B"},
		"not UTF-8":              {"setup@2.md", "Set up \xff", "U+FFFD"},
		"empty":                  {"setup@2.md", " \n", "it is empty"},
		"too long":               {"setup@2.md", strings.Repeat("word ", maxVersionBytes/4), "more than 16384 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			l := ReadLibrary(folder(t, map[string]string{x.file: x.text, "offer@2.md": "You may offer it. 👩‍🔧\r\n", "README.md": "notes", "notes.txt": "notes"}))
			if len(l.Refused) != 1 || filepath.Base(l.Refused[0].File) != x.file || !strings.Contains(l.Refused[0].Why, x.why) {
				t.Errorf("refused: %q, want %q", l.Refused, x.why)
			}
			v, err := l.Find("offer@2")
			testutil.OK(t, err)
			if v.Text != "You may offer it. 👩‍🔧" {
				t.Errorf("the other file is read as %q", v.Text)
			}
			if section, number, _ := strings.Cut(x.file, "@"); number == "2.md" && len(l.Versions(section)) > 1 {
				t.Errorf("there is a version of %s", section)
			}
		})
	}
}

func TestEveryBuiltInTextCouldBeAFile(t *testing.T) {
	files := map[string]string{}
	for _, s := range AllSections() {
		files[s.Name+"@2.md"] = BuiltIn().Text(s.Name)
	}
	if l := ReadLibrary(folder(t, files)); len(l.Refused) > 0 {
		t.Errorf("refused: %q", l.Refused)
	}
}

func TestAnAgentIsToldItsOwnVersionThenThatOfAll(t *testing.T) {
	l := ReadLibrary(folder(t, map[string]string{"identity@2.md": ownIdentity, "identity@3.md": ownIdentity + "!", "setup@4.md": "Set it up."}))
	b := NewBook(l, activated(t, "identity@2", "identity@3 ada", "setup@4", "setup@1 bea"))
	for agent, want := range map[spaces.AgentID][]string{"": {"identity@2", "setup@4"}, "kim": {"identity@2", "setup@4"}, "ada": {"identity@3", "setup@4"}, "bea": {"identity@2"}} {
		testutil.Same(t, "used by "+string(agent), want, b.Set(agent).Used())
	}
	if ada := b.Set("ada"); b.Set("kim") != b.Set("") || b.Set("ada") != ada {
		t.Error("the same versions are not the same set")
	}
	text := b.Set("ada").Expand("identity", map[string]string{"Name": "Ada", "Entity": "agent:ada", "Persona": "Kind."})
	testutil.Same(t, "text", "You are Ada, agent:ada.\nKind.!", text)
	testutil.Same(t, "phase", BuiltIn().Phase("one"), b.Set("ada").Phase("one"))
}

// PRD-11-4: a version whose file is gone gives way to the one that was activated before it,
// and that is found.
func TestAVersionWithoutAFileGivesWayToTheOneBefore(t *testing.T) {
	l := ReadLibrary(folder(t, map[string]string{"identity@2.md": ownIdentity, "identity@4.md": "spoilt"}))
	b := NewBook(l, activated(t, "identity@2", "identity@3", "identity@4", "setup@2 ada", "tools@9", "tools@1"))
	testutil.Same(t, "used", []string{"identity@2"}, b.Set("ada").Used())
	var found []string
	for _, m := range b.Missing() {
		found = append(found, m.Activation.Section+" "+m.String())
	}
	for i, want := range []string{
		"identity the file of identity@4 is refused: it does not show {{.Name}}", "identity there is no identity@3; trestle prompts list names those that there are; identity@2 is told", "setup there is no setup@2; trestle prompts list names those that there are; setup@1 is told for ada",
	} {
		if i >= len(found) || !strings.HasPrefix(found[i], want) {
			t.Fatalf("missing: %q, want %q", found, want)
		}
	}
	if len(found) != 3 {
		t.Errorf("missing: %q", found)
	}
}

// memory is an [ActivationStore] in memory.
type memory struct {
	mu  sync.Mutex // guards all
	all []spaces.PromptActivation
}

func (m *memory) PromptActivations(context.Context) ([]spaces.PromptActivation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.all), nil
}

func (m *memory) ActivatePrompt(_ context.Context, a spaces.PromptActivation) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = append(m.all, a)
	return nil
}

func (m *memory) RollBackPrompt(_ context.Context, section string, agent spaces.AgentID, _ string, _ time.Time) (bool, error) {
	for i, a := range slices.Backward(m.all) {
		if a.Section == section && a.Agent == agent {
			m.all = slices.Delete(m.all, i, i+1)
			return true, nil
		}
	}
	return false, nil
}

// PRD-8-1: one call activates a version, and one goes back to the version before it.
func TestAVersionIsActivatedAndRolledBack(t *testing.T) {
	dir := folder(t, map[string]string{"identity@2.md": ownIdentity})
	m := &memory{}
	r := &PromptRegistry{Folder: dir, Reader: m}
	change := func(c PromptChange, want string) {
		t.Helper()
		got, err := r.Apply(t.Context(), m, c, time.Time{})
		said := got.Was + " → " + got.Version
		if err != nil {
			said = err.Error()
		}
		if said != want {
			t.Errorf("%+v: %s, want %s", c, said, want)
		}
	}
	change(PromptChange{Version: "identity", Back: true}, "no version of identity is activated; trestle prompts list names those that are")
	change(PromptChange{Version: "identity@1"}, "identity@1 is active already")
	change(PromptChange{Version: "identity@2"}, "identity@1 → identity@2")
	change(PromptChange{Version: "identity@2"}, "identity@2 is active already")
	change(PromptChange{Version: "identity@2", Agent: "ada"}, "identity@2 → identity@2")
	change(PromptChange{Version: "identity@3"}, "there is no identity@3; trestle prompts list names those that there are")
	testutil.OK(t, os.WriteFile(filepath.Join(dir, "identity@3.md"), []byte(ownIdentity+"?"), 0o600))
	change(PromptChange{Version: "identity@3"}, "identity@2 → identity@3")
	testutil.Same(t, "told", []string{"identity@3"}, r.Set("kim").Used())
	change(PromptChange{Version: "identity", Back: true, Agent: "bea"}, "no version of identity is activated for bea; trestle prompts list names those that are")
	change(PromptChange{Version: "identity@3", Back: true}, "identity@3 → identity@2")
	change(PromptChange{Version: "identity", Back: true}, "identity@2 → identity@1")
	testutil.Same(t, "told", []string{"identity@2"}, r.Set("ada").Used())
	testutil.Same(t, "told", []string(nil), r.Set("kim").Used())
	change(PromptChange{Version: "identity"}, "a version has a number; write identity@2, or another number")
}

// What another process activates, and what becomes of the folder, is noticed.
func TestChangesOfOthersAreNoticed(t *testing.T) {
	dir := folder(t, map[string]string{"identity@2.md": ownIdentity})
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		r := &PromptRegistry{Folder: dir, Reader: m}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _ = r.Watch(ctx, time.Second, slog.New(slog.DiscardHandler)) }()
		look := func(want ...string) {
			t.Helper()
			<-time.After(2 * time.Second)
			synctest.Wait()
			testutil.Same(t, "told", want, r.Set("ada").Used())
		}
		look()
		testutil.OK(t, m.ActivatePrompt(ctx, activated(t, "identity@2")[0]))
		look("identity@2")
		before := r.Set("ada")
		look("identity@2")
		if r.Set("ada") != before {
			t.Error("there is another set, though nothing has changed")
		}
		testutil.OK(t, os.Remove(filepath.Join(dir, "identity@2.md")))
		look()
	})
}
