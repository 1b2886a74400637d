// Package timezone finds time zones by their names in the IANA database, and by what
// people write instead.
//
// The database is part of the program, so that it is there on machines and in images
// without zone files.
package timezone

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // the database, for machines without zone files
)

//go:embed zones.txt
var zoneNames string

// maxNear is how many names an error proposes.
const maxNear = 3

// loaded holds time zones by their names.
var loaded sync.Map

// Named returns the time zone of that name, nil for an empty or unknown one.
func Named(name string) *time.Location {
	if name == "" {
		return nil
	}
	if in, ok := loaded.Load(name); ok {
		return in.(*time.Location)
	}
	in, err := Load(name)
	if err != nil {
		return nil
	}
	loaded.Store(name, in)
	return in
}

// Load returns the time zone of that name, such as Europe/Zurich or UTC. The error for
// an unknown name proposes the nearest ones. "Local" and the empty name are unknown.
func Load(name string) (*time.Location, error) {
	if name != "" && name != "Local" {
		if in, err := time.LoadLocation(name); err == nil {
			return in, nil
		}
	}
	near := Nearest(name)
	if len(near) == 0 {
		return nil, fmt.Errorf("%q is no time zone, such as Europe/Zurich or America/New_York", name)
	}
	return nil, fmt.Errorf("%q is no time zone; did you mean %s?", name, strings.Join(near, ", "))
}

// Find returns the time zone that words name: by its name in any case, with blanks for
// underscores, or by its city alone, such as zurich. The error for words that name none,
// or several, proposes the nearest ones.
func Find(words string) (*time.Location, error) {
	wanted := plain(words)
	var cities []string
	for name := range strings.Lines(zoneNames) {
		name = strings.TrimSpace(name)
		if plain(name) == wanted {
			return time.LoadLocation(name)
		}
		if wanted != "" && city(name) == wanted {
			cities = append(cities, name)
		}
	}
	if len(cities) == 1 {
		return time.LoadLocation(cities[0])
	}
	return Load(strings.TrimSpace(words))
}

// Nearest returns the names that resemble a word most, the best first, at most three.
// A word without a resemblance to any has none.
func Nearest(word string) []string {
	type candidate struct {
		name     string
		distance int
	}
	wanted := plain(word)
	if wanted == "" {
		return nil
	}
	last := city(word)
	var all []candidate
	for name := range strings.Lines(zoneNames) {
		name = strings.TrimSpace(name)
		d := min(distance(wanted, plain(name)), distance(last, city(name))+1)
		if city(name) == last {
			d = 0
		}
		if d <= max(2, len(last)/3) {
			all = append(all, candidate{name, d})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return a.distance - b.distance })
	var names []string
	for _, c := range all[:min(len(all), maxNear)] {
		names = append(names, c.name)
	}
	return names
}

// plain returns a name in small letters, with underscores for blanks.
func plain(name string) string {
	return strings.ToLower(strings.Join(strings.Fields(name), "_"))
}

// city returns the last part of a name, plain.
func city(name string) string {
	name = plain(name)
	return name[strings.LastIndexByte(name, '/')+1:]
}

// distance returns how many letters have to be inserted, deleted or replaced to turn a
// into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		corner := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			corner, row[j] = row[j], min(row[j]+1, row[j-1]+1, corner+cost)
		}
	}
	return row[len(b)]
}
