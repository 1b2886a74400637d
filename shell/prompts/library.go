package prompts

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"
)

// The bounds of what is read of a folder.
const (
	maxVersionBytes = 16 << 10
	maxFolderFiles  = 500
)

// A PromptVersion is one version of a section.
type PromptVersion struct {
	Section string
	Number  int
	Text    string
	File    string // its path; empty: it is built in

	template *template.Template // nil: the text is shown as it is
}

// String returns the version as operators write it: "identity@2".
func (v PromptVersion) String() string { return v.Section + "@" + strconv.Itoa(v.Number) }

// Mode returns when a model is shown the version.
func (v PromptVersion) Mode() SectionMode { return sectionOf(v.Section).Mode }

// ParseVersion returns the section and the number that "identity@2" names. Without a
// number it is 0.
func ParseVersion(name string) (section string, number int, err error) {
	section, digits, numbered := strings.Cut(name, "@")
	if sectionOf(section) == nil {
		return "", 0, unknownSection(section)
	}
	if !numbered {
		return section, 0, nil
	}
	if number, err = strconv.Atoi(digits); err != nil || number < 1 || strconv.Itoa(number) != digits {
		return "", 0, &SectionError{fmt.Sprintf("%q is no version", name), "write SECTION@NUMBER, such as " + section + "@2"}
	}
	return section, number, nil
}

// A RefusedFile is a file of the folder that cannot be a version.
type RefusedFile struct {
	File string `json:"file"`
	Why  string `json:"why"`
}

// A PromptLibrary is all versions that there are. It does not change.
type PromptLibrary struct {
	versions map[string][]PromptVersion // by section, ascending
	// Refused are files that are no versions, each with the reason.
	Refused []RefusedFile
}

// builtIn is the library without a folder.
var builtIn = sync.OnceValue(func() *PromptLibrary {
	l := &PromptLibrary{versions: map[string][]PromptVersion{}}
	for _, s := range sections {
		text, err := builtInFiles.ReadFile(s.Name + ".md")
		if err != nil {
			panic("prompts: section missing: " + err.Error())
		}
		v, err := s.parse(1, string(text))
		if err != nil {
			panic("prompts: section " + s.Name + ": " + err.Error())
		}
		l.versions[s.Name] = []PromptVersion{v}
	}
	return l
})

// ReadLibrary returns the built-in versions with those of a folder, whose files are named
// SECTION@NUMBER.md. A file that cannot be a version is refused and named as such; a
// folder that is not there holds none, and neither does one without a name.
func ReadLibrary(folder string) *PromptLibrary {
	l := &PromptLibrary{versions: map[string][]PromptVersion{}}
	for name, all := range builtIn().versions {
		l.versions[name] = slices.Clone(all)
	}
	if folder == "" {
		return l
	}
	files, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.refuse(folder, err)
	}
	if len(files) > maxFolderFiles {
		l.refuse(folder, &SectionError{fmt.Sprintf("it holds more than %d files", maxFolderFiles), "the rest is not read"})
		files = files[:maxFolderFiles]
	}
	for _, f := range files {
		name, text := strings.CutSuffix(f.Name(), ".md")
		if !text || f.IsDir() || strings.HasPrefix(name, ".") || name == "README" {
			continue
		}
		file := filepath.Join(folder, f.Name())
		v, err := readVersion(name, file)
		if err != nil {
			l.refuse(file, err)
			continue
		}
		v.File = file
		l.versions[v.Section] = append(l.versions[v.Section], v)
	}
	for _, all := range l.versions {
		slices.SortFunc(all, func(a, b PromptVersion) int { return a.Number - b.Number })
	}
	return l
}

func (l *PromptLibrary) refuse(file string, err error) {
	l.Refused = append(l.Refused, RefusedFile{file, err.Error()})
}

func readVersion(name, file string) (PromptVersion, error) {
	section, number, err := ParseVersion(name)
	switch {
	case err != nil:
		return PromptVersion{}, err
	case number == 0:
		return PromptVersion{}, &SectionError{"its name has no version", "name it " + section + "@2.md, or with another number"}
	case number == 1:
		return PromptVersion{}, &SectionError{"version 1 is built in", "name it " + section + "@2.md, or with another number"}
	}
	f, err := os.Open(file)
	if err != nil {
		return PromptVersion{}, err
	}
	defer func() { _ = f.Close() }() // it is only read
	text, err := io.ReadAll(io.LimitReader(f, maxVersionBytes+1))
	if err != nil {
		return PromptVersion{}, err
	}
	if len(text) > maxVersionBytes {
		return PromptVersion{}, &SectionError{fmt.Sprintf("it has more than %d bytes", maxVersionBytes), "make it shorter"}
	}
	return sectionOf(section).parse(number, string(text))
}

// Versions returns the versions of a section, ascending.
func (l *PromptLibrary) Versions(section string) []PromptVersion {
	return slices.Clone(l.versions[section])
}

// find returns a version of a section, or says why there is none.
func (l *PromptLibrary) find(section string, number int) (PromptVersion, error) {
	for _, v := range l.versions[section] {
		if v.Number == number {
			return v, nil
		}
	}
	wanted := PromptVersion{Section: section, Number: number}.String()
	for _, r := range l.Refused {
		if strings.TrimSuffix(filepath.Base(r.File), ".md") == wanted {
			return PromptVersion{}, &SectionError{"the file of " + wanted + " is refused: " + r.Why, "mend " + r.File}
		}
	}
	return PromptVersion{}, &SectionError{"there is no " + wanted, "trestle prompts list names those that there are"}
}

// Find returns the version that "identity@2" names, or says why there is none. Without a
// number it is the newest.
func (l *PromptLibrary) Find(name string) (PromptVersion, error) {
	section, number, err := ParseVersion(name)
	if err != nil {
		return PromptVersion{}, err
	}
	if all := l.versions[section]; number == 0 {
		return all[len(all)-1], nil
	}
	return l.find(section, number)
}
