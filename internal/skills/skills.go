// Package skills reads skills in the open Agent Skills format: a folder with a file
// SKILL.md, which names and describes the skill and says how to work, and with other files
// that are read when they are needed.
package skills

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"

	"github.com/trestle-bridge/trestle/hud"
)

// SkillFile is the file of a skill's folder that describes it.
const SkillFile = "SKILL.md"

// The limits of a skill. Those of its name, description and compatibility are the format's;
// the format recommends that the instructions take less than 5,000 tokens and 500 lines.
const (
	maxName          = 64
	maxAbout         = 1024
	maxCompatibility = 500
	maxText          = 64 << 10 // of SKILL.md
	maxFiles         = 500
	maxFile          = 1 << 20
	maxFolder        = 20 << 20

	advisedTokens = 5000
	advisedLines  = 500
)

// A SkillFolder is a skill as it was read from its folder.
type SkillFolder struct {
	Name, About string
	Path        string   // of the folder
	Text        string   // the instructions
	Files       []string // besides SKILL.md, relative to the folder
	Hash        string   // of all files: another one when one of them is other
	Advice      []string // what the format recommends otherwise
}

// A RefusedSkill is a folder that is no valid skill.
type RefusedSkill struct {
	Path string
	Why  string
}

// A SkillLibrary is what folders hold.
type SkillLibrary struct {
	Skills  []*SkillFolder
	Refused []RefusedSkill
}

// ReadLibrary reads the skills of folders. Each is a skill itself, or holds skills. Of two
// skills of one name the first is taken.
func ReadLibrary(folders []string) *SkillLibrary {
	l := &SkillLibrary{}
	for _, folder := range folders {
		paths, err := skillPaths(folder)
		if err != nil {
			l.Refused = append(l.Refused, RefusedSkill{folder, plainReason(err)})
		}
		for _, p := range paths {
			s, err := ReadSkill(p)
			if err == nil && l.Skill(s.Name) != nil {
				err = fmt.Errorf("%s has the same name", l.Skill(s.Name).Path)
			}
			if err != nil {
				l.Refused = append(l.Refused, RefusedSkill{p, plainReason(err)})
				continue
			}
			l.Skills = append(l.Skills, s)
		}
	}
	return l
}

// Skill returns the skill of a name; nil if there is none.
func (l *SkillLibrary) Skill(name string) *SkillFolder {
	i := slices.IndexFunc(l.Skills, func(s *SkillFolder) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return l.Skills[i]
}

// LibraryState returns a text that is another one once a file of the folders is added,
// removed or written.
func LibraryState(folders []string) string {
	var b strings.Builder
	for _, folder := range folders {
		paths, err := skillPaths(folder)
		fmt.Fprintln(&b, folder, err)
		for _, p := range paths {
			fmt.Fprintln(&b, p)
			root, err := os.OpenRoot(p)
			if err != nil {
				fmt.Fprintln(&b, err)
				continue
			}
			err = walk(root, func(name string, info fs.FileInfo) {
				fmt.Fprintln(&b, name, info.Size(), info.ModTime().UnixNano())
			})
			fmt.Fprintln(&b, err)
			_ = root.Close() // it was only read
		}
	}
	return b.String()
}

// skillPaths returns the folder if it is a skill, else the folders in it that are.
func skillPaths(folder string) ([]string, error) {
	if _, err := os.Stat(filepath.Join(folder, SkillFile)); err == nil {
		return []string{folder}, nil
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, e := range entries {
		p := filepath.Join(folder, e.Name())
		if info, err := os.Stat(p); err == nil && info.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			all = append(all, p)
		}
	}
	return all, nil
}

// frontMatter is what stands before the instructions.
type frontMatter struct {
	Name          string `yaml:"name"`
	Description   string `yaml:"description"`
	Compatibility string `yaml:"compatibility"`
}

// ReadSkill reads the skill in a folder, or says why it is none.
func ReadSkill(folder string) (*SkillFolder, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // it is only read
	text, err := readFile(root, SkillFile, maxText)
	if err != nil {
		return nil, err
	}
	head, body, err := splitText(text)
	if err != nil {
		return nil, err
	}
	full, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	if err := head.check(filepath.Base(full)); err != nil {
		return nil, err
	}
	if r, found := hud.FindHidden(head.Description + body); found {
		return nil, fmt.Errorf("it holds the character U+%04X, which a reader does not see", r)
	}
	s := &SkillFolder{Name: head.Name, About: strings.Join(strings.Fields(head.Description), " "), Path: folder, Text: body}
	if s.Files, s.Hash, err = sumFiles(root); err != nil {
		return nil, err
	}
	if n := hud.Bound(body); n > advisedTokens {
		s.Advice = append(s.Advice, fmt.Sprintf("its instructions take about %d tokens; keep them below %d, and move parts to files", n, advisedTokens))
	}
	if n := strings.Count(body, "\n") + 1; n > advisedLines {
		s.Advice = append(s.Advice, fmt.Sprintf("its instructions have %d lines; keep them below %d", n, advisedLines))
	}
	return s, nil
}

// splitText returns the front matter of a SKILL.md and its instructions.
func splitText(text string) (head frontMatter, body string, err error) {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	rest, ok := strings.CutPrefix(text, "---\n")
	front, body, closed := strings.Cut("\n"+rest, "\n---\n")
	if !ok || !closed {
		return head, "", errors.New(SkillFile + " does not begin with front matter between two lines ---")
	}
	if err := yaml.Unmarshal([]byte(front), &head); err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		return head, "", fmt.Errorf("the front matter of %s is no YAML: %s", SkillFile, first)
	}
	return head, strings.TrimSpace(body), nil
}

var skillName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// check returns what is wrong with the front matter of a skill in a folder of that name.
func (h *frontMatter) check(folder string) error {
	switch {
	case h.Name == "":
		return errors.New("it has no name")
	case len(h.Name) > maxName || !skillName.MatchString(h.Name):
		return fmt.Errorf("the name %q is not of lower-case letters, digits and single hyphens between them, at most %d", h.Name, maxName)
	case h.Name != folder:
		return fmt.Errorf("the name %q is not that of its folder, %q", h.Name, folder)
	case strings.TrimSpace(h.Description) == "":
		return errors.New("it has no description")
	case utf8.RuneCountInString(h.Description) > maxAbout:
		return fmt.Errorf("the description has %d characters, more than %d", utf8.RuneCountInString(h.Description), maxAbout)
	case utf8.RuneCountInString(h.Compatibility) > maxCompatibility:
		return fmt.Errorf("the compatibility has more than %d characters", maxCompatibility)
	}
	return nil
}

// ReadFile returns the text of one of the skill's files.
func (s *SkillFolder) ReadFile(name string) (string, error) {
	name = path.Clean(filepath.ToSlash(name))
	if !slices.Contains(s.Files, name) {
		return "", errors.New("the skill has no such file")
	}
	root, err := os.OpenRoot(s.Path)
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }() // it is only read
	text, err := readFile(root, name, maxFile)
	if err == nil && !utf8.ValidString(text) {
		err = errors.New("it is no text")
	}
	return text, err
}

// readFile returns a regular file below root, of at most so many bytes.
func readFile(root *os.Root, name string, limit int64) (string, error) {
	info, err := root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New(name + " is no regular file")
	}
	if err != nil {
		return "", err
	}
	f, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it is only read
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s has more than %d KB", name, limit>>10)
	}
	return string(data), err
}

// walk calls visit for each regular file below root, in the order of names. Hidden files
// and links are passed over.
func walk(root *os.Root, visit func(name string, info fs.FileInfo)) error {
	count, size := 0, int64(0)
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != "." && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !d.Type().IsRegular():
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		count, size = count+1, size+info.Size()
		if count > maxFiles || size > maxFolder {
			return fmt.Errorf("it has more than %d files, or %d MB", maxFiles, maxFolder>>20)
		}
		visit(name, info)
		return nil
	})
}

// sumFiles returns the files besides SKILL.md, and the hash of all.
func sumFiles(root *os.Root) (files []string, hash string, err error) {
	var all []string
	if err := walk(root, func(name string, _ fs.FileInfo) { all = append(all, name) }); err != nil {
		return nil, "", err
	}
	sum := sha256.New()
	for _, name := range all {
		text, err := readFile(root, name, maxFolder)
		if err != nil {
			return nil, "", err
		}
		part := sha256.Sum256([]byte(text))
		fmt.Fprintf(sum, "%q %x\n", name, part)
		if name != SkillFile {
			files = append(files, name)
		}
	}
	return files, hex.EncodeToString(sum.Sum(nil)[:8]), nil
}

// plainReason returns why something could not be read, without the path.
func plainReason(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "there is no such folder, or no " + SkillFile + " in it"
	}
	return err.Error()
}
