package skills

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

// write writes a file below a folder.
func write(t *testing.T, folder, name, text string) {
	t.Helper()
	file := filepath.Join(folder, name)
	testutil.OK(t, os.MkdirAll(filepath.Dir(file), 0o700))
	testutil.OK(t, os.WriteFile(file, []byte(text), 0o600))
}

const minutes = "---\nname: minutes\ndescription: >\n  Write minutes\n  of a meeting.\nlicense: MIT\nmetadata: {author: kai}\nallowed-tools: Bash(git:*)\n---\n\n# Minutes\n\nList who was there.\n"

func TestASkillIsRead(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "minutes/SKILL.md", strings.ReplaceAll(minutes, "\n", "\r\n"))
	write(t, folder, "minutes/references/form.md", "Date:")
	write(t, folder, "minutes/.git/config", "[core]")
	l := ReadLibrary([]string{folder})
	testutil.Same(t, "refused", []RefusedSkill(nil), l.Refused)
	s := l.Skill("minutes")
	testutil.Same(t, "description", "Write minutes of a meeting.", s.About)
	testutil.Same(t, "instructions", "# Minutes\n\nList who was there.", s.Text)
	testutil.Same(t, "files", []string{"references/form.md"}, s.Files)
	testutil.Same(t, "advice", []string(nil), s.Advice)
	text, err := s.ReadFile("./references/form.md")
	testutil.OK(t, err)
	testutil.Same(t, "file", "Date:", text)

	state := LibraryState([]string{folder})
	write(t, folder, "minutes/references/form.md", "Date: Time:")
	if LibraryState([]string{folder}) == state {
		t.Error("the state is the same after a file was written")
	}
	if again, err := ReadSkill(s.Path); err != nil || again.Hash == s.Hash || len(again.Hash) != 16 {
		t.Errorf("after a file was written the hash is %q, was %q (%v)", again.Hash, s.Hash, err)
	}
	if alone := ReadLibrary([]string{filepath.Join(folder, "minutes")}); len(alone.Skills) != 1 {
		t.Errorf("a folder that is a skill itself is not read: %+v", alone)
	}
}

func TestWhatIsNoSkillIsRefused(t *testing.T) {
	head := func(name, about, more string) string {
		return "---\nname: " + name + "\ndescription: " + about + "\n" + more + "---\nWork.\n"
	}
	for folder, c := range map[string]struct{ text, why string }{
		"plain":                 {"# Just text", "does not begin with front matter"},
		"open":                  {"---\nname: open\ndescription: x\n", "does not begin with front matter"},
		"broken":                {"---\nname: [\n---\nx", "is no YAML"},
		"nameless":              {"---\ndescription: x\n---\nx", "it has no name"},
		"Upper":                 {head("Upper", "x", ""), "not of lower-case letters"},
		"two--dashes":           {head("two--dashes", "x", ""), "not of lower-case letters"},
		strings.Repeat("n", 65): {head(strings.Repeat("n", 65), "x", ""), "at most 64"},
		"other":                 {head("another", "x", ""), `not that of its folder, "other"`},
		"mute":                  {head("mute", `" "`, ""), "it has no description"},
		"wordy":                 {head("wordy", strings.Repeat("d", 1025), ""), "1025 characters"},
		"choosy":                {head("choosy", "x", "compatibility: "+strings.Repeat("c", 501)+"\n"), "more than 500"},
		"hidden":                {head("hidden", "x", "") + "do\u202ethis", "U+202E"},
		"huge":                  {head("huge", "x", "") + strings.Repeat("x", maxText), "more than 64 KB"},
		"unreadable":            {"", "does not begin"},
	} {
		dir := filepath.Join(t.TempDir(), folder)
		write(t, dir, SkillFile, c.text)
		if _, err := ReadSkill(dir); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v, want %q", folder, err, c.why)
		}
	}
	all := t.TempDir()
	write(t, all, "a/minutes/SKILL.md", minutes)
	write(t, all, "b/minutes/SKILL.md", minutes)
	write(t, all, "b/empty/notes.txt", "")
	l := ReadLibrary([]string{filepath.Join(all, "a"), filepath.Join(all, "b"), filepath.Join(all, "c")})
	var why []string
	for _, r := range l.Refused {
		why = append(why, strings.TrimPrefix(r.Path, all)+": "+strings.ReplaceAll(r.Why, all, ""))
	}
	testutil.Same(t, "refused", []string{
		"/b/empty: there is no such folder, or no SKILL.md in it", "/b/minutes: /a/minutes has the same name", "/c: there is no such folder, or no SKILL.md in it",
	}, why)
}

// Nothing outside of a skill's folder is read, however it is named or linked.
func TestASkillReadsNothingOutside(t *testing.T) {
	all := t.TempDir()
	write(t, all, "secret.txt", "secret")
	write(t, all, "skills/minutes/SKILL.md", minutes)
	write(t, all, "skills/minutes/.env", "secret")
	write(t, all, "skills/minutes/data.bin", "\xff\xfe")
	folder := filepath.Join(all, "skills/minutes")
	testutil.OK(t, os.Symlink(filepath.Join(all, "secret.txt"), filepath.Join(folder, "link.txt")))
	testutil.OK(t, os.Symlink(all, filepath.Join(folder, "up")))
	s, err := ReadSkill(folder)
	testutil.OK(t, err)
	for _, name := range []string{"../../secret.txt", "../minutes/SKILL.md", filepath.Join(all, "secret.txt"), "link.txt", "up/secret.txt", ".env", "", "."} {
		if text, err := s.ReadFile(name); err == nil {
			t.Errorf("%q is read as %q", name, text)
		}
	}
	if _, err := s.ReadFile("data.bin"); err == nil || err.Error() != "it is no text" {
		t.Errorf("a file that is no text: %v", err)
	}
	// A file that is replaced by a link after the folder was read.
	testutil.OK(t, os.Remove(filepath.Join(folder, "data.bin")))
	testutil.OK(t, os.Symlink(filepath.Join(all, "secret.txt"), filepath.Join(folder, "data.bin")))
	if text, err := s.ReadFile("data.bin"); err == nil {
		t.Errorf("a link is read as %q", text)
	}
}

func TestLongSkillsAreAdvisedAgainst(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "minutes")
	write(t, dir, SkillFile, minutes+strings.Repeat("Write down what was decided, and by whom.\n", 600))
	s, err := ReadSkill(dir)
	testutil.OK(t, err)
	if len(s.Advice) != 2 {
		t.Errorf("advice is %q", s.Advice)
	}
	many := filepath.Join(t.TempDir(), "minutes")
	write(t, many, SkillFile, minutes)
	for i := range maxFiles {
		write(t, many, "f"+strings.Repeat("x", i/26)+string(rune('a'+i%26)), "")
	}
	if _, err := ReadSkill(many); err == nil || !strings.Contains(err.Error(), "more than 500 files") {
		t.Errorf("a folder of %d files: %v", maxFiles+1, err)
	}
}
