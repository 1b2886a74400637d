package hud

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/trestle-bridge/trestle/spaces"
)

// speakerNames holds the people of one room and gives each a unique label, so that a
// person who takes another's name can be told apart.
type speakerNames struct {
	people map[spaces.EntityID]speaker
	taken  map[string]spaces.EntityID // by skeleton
}

type speaker struct {
	label string
	name  string // CleanName of what the label was made from
	kind  spaces.EntityKind
}

// add gives e a label, and reports whether it is another than before. It keeps the one it
// has while its name stays the same.
func (c *speakerNames) add(e spaces.Entity) (renamed bool) {
	name := CleanName(e.Name)
	if e.Name == "" {
		name = "someone"
	}
	old, ok := c.people[e.ID]
	if ok && old.name == name {
		old.kind = e.Kind
		c.people[e.ID] = old
		return false
	}
	if c.people == nil {
		c.people, c.taken = map[spaces.EntityID]speaker{}, map[string]spaces.EntityID{}
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
	c.people[e.ID] = speaker{label: label, name: name, kind: e.Kind}
	return ok && old.label != label
}

// rename gives an entity a label. The lines that it wrote are found by the new one from the
// next query on.
func (r *SharedRoom) rename(e spaces.Entity) {
	if !r.speakers.add(e) {
		return
	}
	for i := range r.Chat.Messages {
		if r.Chat.Messages[i].Sender == e.ID {
			r.cache[i] = messageCache{}
			r.index.MarkRenamed(i)
		}
	}
}

// Introduce sets the current members and the people who acted in the room and left. Of
// new people with the same name, the one who was there first gets it as label, as if they
// had come one after the other.
func (r *SharedRoom) Introduce(members []spaces.SpaceMember, left map[spaces.EntityID]spaces.Entity) {
	fresh := slices.Clone(members)
	for _, e := range left {
		fresh = append(fresh, spaces.SpaceMember{Entity: e, Since: math.MaxInt64})
	}
	fresh = slices.DeleteFunc(fresh, func(m spaces.SpaceMember) bool { _, known := r.speakers.people[m.ID]; return known })
	if len(fresh) > 1 {
		r.byFirst(fresh)
	}
	for _, m := range fresh {
		r.speakers.add(m.Entity)
	}
	for _, id := range slices.Sorted(maps.Keys(left)) { // they may go by other names now
		r.rename(left[id])
	}
	r.SetMembers(members)
}

// byFirst sorts people by when the room first had anything of them.
func (r *SharedRoom) byFirst(people []spaces.SpaceMember) {
	first := make(map[spaces.EntityID]int64, len(people))
	for i := range r.Chat.Messages {
		if m := &r.Chat.Messages[i]; first[m.Sender] == 0 {
			first[m.Sender] = m.Seq
		}
	}
	for i := range people {
		if seq := first[people[i].ID]; seq > 0 {
			people[i].Since = min(people[i].Since, seq)
		}
	}
	slices.SortFunc(people, func(a, b spaces.SpaceMember) int {
		return cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.ID, b.ID))
	})
}

// find returns the person with that id. An unknown person is "someone", an unknown agent
// is named by its id.
func (c *speakerNames) find(id spaces.EntityID) speaker {
	if p, ok := c.people[id]; ok {
		return p
	}
	if a, ok := id.IsAgent(); ok {
		c.add(spaces.Entity{ID: id, Kind: spaces.Agent, Name: string(a)})
	} else {
		c.add(spaces.Entity{ID: id, Kind: spaces.Human})
	}
	return c.people[id]
}

// Label returns the name under which the room's lines show a person or agent.
func (r *SharedRoom) Label(id spaces.EntityID) string { return r.speakers.find(id).label }

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
