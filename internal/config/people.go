package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// defaultSenderPerMinute is more than people type.
const defaultSenderPerMinute = 60

// people reads a list of people or programs, "adapter:user" each. A person is
// never named by what they are called: names can be chosen (SECURITY S1). An
// entry that names nobody for good gives nobody anything.
func (d *decoder) people(top *section, key string) []Person {
	var all []Person
	for _, l := range top.list(key) {
		if p, ok := d.person(top, l); ok {
			all = append(all, p)
		}
	}
	d.part(top, key)
	return all
}

// known reads who is one person on several platforms.
func (d *decoder) known(n *node) {
	d.each("people", n, func(name string, s *section) {
		v := PersonLink{Key: name}
		for _, l := range s.list("accounts") {
			if p, ok := d.person(s, l); ok {
				v.Accounts = append(v.Accounts, p)
			}
		}
		if !d.entry("people."+name, s.done()) {
			d.config.People = append(d.config.People, v)
		}
	})
}

func (d *decoder) person(top *section, l listed) (Person, bool) {
	if l.text == "*" {
		top.fail(l.at, "nobody is called *", "to let everybody in, write admit: open")
		return Person{}, false
	}
	c, ok := d.adapterOf(top, l, "user, with the id that the platform minted, such as telegram:123456")
	if !ok {
		return Person{}, false
	}
	p := Person{Adapter: c.Adapter, User: c.Chat}
	if scope, user, ok := strings.Cut(c.Chat, "/"); ok {
		p.Scope, p.User = scope, user
	}
	slack := d.config.platformOf(c.Adapter) == "slack"
	switch {
	case p.User == "" || strings.HasPrefix(p.User, "@"):
		top.fail(l.at, fmt.Sprintf("%q names nobody for good: handles can be changed", l.text), "write the id that the platform minted, such as telegram:123456")
	case slack && p.Scope == "":
		top.fail(l.at, fmt.Sprintf("%q does not say of which team", l.text), "write adapter:TEAM/USER, such as acme:T0123/U0456")
	case !slack && p.Scope != "":
		top.fail(l.at, fmt.Sprintf("%q has a team, which only Slack knows", l.text), "write adapter:user, such as telegram:123456")
	default:
		return p, true
	}
	return Person{}, false
}

// number reads a whole number that is not negative.
func (s *section) number(key string, fallback int) int {
	text := s.str(key)
	if text == "" {
		return fallback
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		s.fail(s.where(key), fmt.Sprintf("%s: %q is no whole number", key, text), "write a number, or 0 for no bound")
		return fallback
	}
	return n
}

// Appointed returns the people of a list who are on an account: those listed
// under its entry, and those of another entry of the same platform, whose ids
// mean the same person there.
func (c *Config) Appointed(list []Person, adapter string) []Person {
	var on []Person
	for _, p := range list {
		if p.Adapter == adapter || c.platformOf(p.Adapter) == c.platformOf(adapter) {
			on = append(on, p)
		}
	}
	return on
}

// Kin returns what an adapter's platform calls the person whom another calls that;
// false when nobody has said that they are one.
func (c *Config) Kin(platform, scope, user, adapter string) (Person, bool) {
	for _, k := range c.People {
		if !slices.ContainsFunc(k.Accounts, func(p Person) bool {
			return c.platformOf(p.Adapter) == platform && p.Scope == scope && p.User == user
		}) {
			continue
		}
		on := c.Appointed(k.Accounts, adapter)
		if i := slices.IndexFunc(on, func(p Person) bool { return p.Adapter == adapter }); i > 0 {
			on = on[i:]
		}
		if len(on) > 0 {
			return on[0], true
		}
	}
	return Person{}, false
}

func (c *Config) platformOf(adapter string) string {
	for _, a := range c.Adapters {
		if a.Name == adapter {
			return a.Type
		}
	}
	return ""
}

// SenderBound returns how many messages of one sender may wake agents in a
// minute. Tests that lift the platforms' pace lift it too.
func (c *Config) SenderBound() int {
	if c.Outgoing == "off" {
		return 0
	}
	return c.SenderPerMinute
}
