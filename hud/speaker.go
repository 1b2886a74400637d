package hud

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/trestle-bridge/trestle/spaces"
)

// A cast knows who is who in one room and gives everybody a label that nobody
// else there has, so that a person who takes another's name is told apart.
type cast struct {
	people map[spaces.EntityID]person
	taken  map[string]spaces.EntityID // by skeleton
}

type person struct {
	label string
	name  string // CleanName of what the label was made from
	kind  spaces.EntityKind
}

// know gives e a label, keeping the one it has while its name stays the same.
func (c *cast) know(e spaces.Entity) {
	name := CleanName(e.Name)
	if e.Name == "" {
		name = "someone"
	}
	old, ok := c.people[e.ID]
	if ok && old.name == name {
		old.kind = e.Kind
		c.people[e.ID] = old
		return
	}
	if c.people == nil {
		c.people, c.taken = map[spaces.EntityID]person{}, map[string]spaces.EntityID{}
	}
	label := name
	for n := 2; ; n++ {
		holder, held := c.taken[skeleton(label)]
		if !held || holder == e.ID {
			break
		}
		label = name + "~" + strconv.Itoa(n)
	}
	c.taken[skeleton(label)] = e.ID
	c.people[e.ID] = person{label: label, name: name, kind: e.Kind}
}

// who returns the person behind id. Somebody the room was never told about is
// "someone", or an agent by its id.
func (c *cast) who(id spaces.EntityID) person {
	if p, ok := c.people[id]; ok {
		return p
	}
	if a, ok := id.IsAgent(); ok {
		c.know(spaces.Entity{ID: id, Kind: spaces.Agent, Name: string(a)})
	} else {
		c.know(spaces.Entity{ID: id, Kind: spaces.Human})
	}
	return c.people[id]
}

// skeleton maps names that look alike to the same string.
func skeleton(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" _-.'", r) || unicode.Is(unicode.M, r) {
			return -1
		}
		r = unicode.ToLower(r)
		if i := strings.IndexRune(lookalikes, r); i >= 0 {
			return rune(plainLetters[len([]rune(lookalikes[:i]))])
		}
		return r
	}, name)
}

// Small letters of Cyrillic and Greek, and digits, with the Latin letter each
// looks like, at the same position.
const (
	lookalikes   = "аеорсхуіјѕԁһкмтвнгοαερνκτυιχ01ӏłøıé"
	plainLetters = "aeopcxyijsdhkmtbhroaepvktuixollloie"
)
