package config

import (
	"fmt"
	"slices"
	"strings"
)

// warnSharedMemory warns of spaces that name no circle, so that an agent of both carries
// what it hears in one into the other, where they may have different people.
func (d *decoder) warnSharedMemory() {
	var shared []string
	var people []string
	for _, s := range d.config.Spaces {
		n := d.config.doc.root.get("spaces").get(s.Key)
		if len(s.Chats) == 0 || n == nil || n.get("circle") != nil || !d.sharesAgent(s) {
			continue
		}
		shared = append(shared, s.Key)
		if who := d.onlyPerson(s); who == "" || !slices.Contains(people, who) {
			people = append(people, who)
		}
	}
	if len(people) < 2 {
		return
	}
	d.warn("spaces", d.config.doc.root.get("spaces").origin,
		fmt.Sprintf("%s name no circle and share one memory: what an agent hears in one, it may say to the people of the others", joinNames(shared)),
		"give each a circle of its own, such as circle: "+shared[0]+", or write circle: "+DefaultCircle+" in each if that is meant")
}

// maxNamed is how many spaces a warning names.
const maxNamed = 4

// joinNames returns names as a sentence lists them.
func joinNames(names []string) string {
	if len(names) > maxNamed {
		names = append(slices.Clone(names[:maxNamed-1]), fmt.Sprintf("%d more", len(names)-maxNamed+1))
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// sharesAgent reports whether an agent of the space is in another space without a circle.
func (d *decoder) sharesAgent(s SpaceEntry) bool {
	return slices.ContainsFunc(d.config.Spaces, func(o SpaceEntry) bool {
		n := d.config.doc.root.get("spaces").get(o.Key)
		if o.Key == s.Key || len(o.Chats) == 0 || n == nil || n.get("circle") != nil {
			return false
		}
		mine, theirs := d.agentsIn(s), d.agentsIn(o)
		return slices.ContainsFunc(mine, func(a string) bool { return slices.Contains(theirs, a) })
	})
}

// agentsIn returns the agents of a space.
func (d *decoder) agentsIn(s SpaceEntry) []string {
	if len(s.Agents) > 0 {
		return s.Agents
	}
	return d.config.DefaultAgents
}

// onlyPerson returns who the only person of a space is, or "" where there may be others: on
// Telegram a direct chat has the id of its person.
func (d *decoder) onlyPerson(s SpaceEntry) string {
	who := ""
	for _, c := range s.Chats {
		a := slices.IndexFunc(d.config.Adapters, func(a AdapterEntry) bool { return a.Name == c.Adapter })
		if a < 0 || d.config.Adapters[a].Type != "telegram" || strings.HasPrefix(c.Chat, "-") {
			return ""
		}
		person := c.Adapter + ":" + c.Chat
		for _, p := range d.config.People {
			if slices.ContainsFunc(p.Accounts, func(r PersonRef) bool { return r.Adapter == c.Adapter && r.User == c.Chat }) {
				person = "people." + p.Key
			}
		}
		if who != "" && who != person {
			return ""
		}
		who = person
	}
	return who
}
