package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// mention is an id in a text, and what may follow it: the other end of a range,
// with or without its beginning.
var mention = regexp.MustCompile(`[A-Z][A-Z0-9]*(?:[-.][A-Z0-9]+)+`)

var (
	rangeTo = regexp.MustCompile(`^ ?(?:…|\.\.\.?|–|—|to) ?(-?[A-Z0-9]+(?:[-.][A-Z0-9]+)*)`)
	listed  = regexp.MustCompile(`^, ?-([A-Z0-9]+)`)
	number  = regexp.MustCompile(`^(.*?)(\d+)$`)
)

// citations returns for each wanted id the files that cite it, sorted.
func citations(tree string, wanted []requirement) (map[string][]string, error) {
	known := map[string]bool{}
	for _, r := range wanted {
		known[r.id] = true
	}
	cited := map[string][]string{}
	err := filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); path != tree && (strings.HasPrefix(name, ".") || name == "bin" || name == "data") {
				return filepath.SkipDir
			}
			return nil
		}
		if !isTest(path) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(tree, path)
		if err != nil {
			return err
		}
		for id := range citedIn(string(text), known) {
			cited[id] = append(cited[id], filepath.ToSlash(name))
		}
		return nil
	})
	for _, files := range cited {
		slices.Sort(files)
	}
	return cited, err
}

// isTest reports whether a file tests something: a test file, a suite or a scene.
func isTest(path string) bool {
	slashed := filepath.ToSlash(path)
	switch {
	case strings.HasSuffix(slashed, "_test.go"), strings.HasSuffix(slashed, ".txtar"):
		return true
	case !strings.HasSuffix(slashed, ".go"):
		return false
	}
	folder := filepath.Base(filepath.Dir(path))
	return folder == "adaptertest" || folder == "storetest" || folder == "llmtest"
}

// citedIn returns the known ids that a text cites.
func citedIn(text string, known map[string]bool) map[string]bool {
	found := map[string]bool{}
	add := func(id string) {
		if known[id] {
			found[id] = true
		}
	}
	for _, at := range mention.FindAllStringIndex(text, -1) {
		id, rest := text[at[0]:at[1]], text[at[1]:]
		for !known[id] && strings.ContainsAny(id, "-.") && !number.MatchString(id) {
			id = id[:strings.LastIndexAny(id, "-.")] // a word that follows with a dash
		}
		add(id)
		if m := rangeTo.FindStringSubmatch(rest); m != nil {
			for _, within := range between(id, m[1]) {
				add(within)
			}
		}
		for m := listed.FindStringSubmatch(rest); m != nil; m = listed.FindStringSubmatch(rest) {
			add(id[:strings.LastIndexByte(id, '-')+1] + m[1])
			rest = rest[len(m[0]):]
		}
	}
	return found
}

// maxRange is more than any table has in one group.
const maxRange = 1000

// between returns the ids from one to another, of which the end may leave out
// what both begin with. Ends that do not belong together have nothing between
// them.
func between(from, to string) []string {
	first := number.FindStringSubmatch(from)
	last := number.FindStringSubmatch(strings.TrimPrefix(to, "-"))
	if first == nil || last == nil || !strings.HasSuffix(first[1], last[1]) {
		return nil
	}
	low, _ := strconv.Atoi(first[2])
	high, _ := strconv.Atoi(last[2])
	if high < low || high-low > maxRange {
		return nil
	}
	var ids []string
	for n := low; n <= high; n++ {
		digits := strconv.Itoa(n)
		if pad := len(first[2]) - len(digits); pad > 0 {
			digits = strings.Repeat("0", pad) + digits
		}
		ids = append(ids, first[1]+digits)
	}
	return ids
}
