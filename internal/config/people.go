package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// defaultSenderPerMinute is more than people type.
const defaultSenderPerMinute = 60

// readPeople reads a list of people or programs, "adapter:user" each. A person is
// never named by what they are called: names can be chosen (SECURITY S1). An
// entry that names nobody for good gives nobody anything.
func (d *decoder) readPeople(top *section, key string) []PersonRef {
	var all []PersonRef
	for _, l := range top.list(key) {
		if p, ok := d.readPerson(top, l); ok {
			all = append(all, p)
		}
	}
	d.reportKey(top, key)
	return all
}

// readPeopleLinks reads who is one person on several platforms.
func (d *decoder) readPeopleLinks(n *node) {
	d.eachEntry("people", n, func(name string, s *section) {
		v := PersonLink{Key: name}
		for _, l := range s.list("accounts") {
			if p, ok := d.readPerson(s, l); ok {
				v.Accounts = append(v.Accounts, p)
			}
		}
		if !d.reportEntry("people."+name, s.finish()) {
			d.config.People = append(d.config.People, v)
		}
	})
}

func (d *decoder) readPerson(top *section, l listItem) (PersonRef, bool) {
	if l.text == "*" {
		top.addError(l.at, "nobody is called *", "to let everybody in, write admit: open")
		return PersonRef{}, false
	}
	c, ok := d.adapterOf(top, l, "user, with the id that the platform minted, such as telegram:123456")
	if !ok {
		return PersonRef{}, false
	}
	p := PersonRef{Adapter: c.Adapter, User: c.Chat}
	if scope, user, ok := strings.Cut(c.Chat, "/"); ok {
		p.Scope, p.User = scope, user
	}
	slack := d.config.platformOf(c.Adapter) == "slack"
	switch {
	case p.User == "" || strings.HasPrefix(p.User, "@"):
		top.addError(l.at, fmt.Sprintf("%q names nobody for good: handles can be changed", l.text), "write the id that the platform minted, such as telegram:123456")
	case slack && p.Scope == "":
		top.addError(l.at, fmt.Sprintf("%q does not say of which team", l.text), "write adapter:TEAM/USER, such as acme:T0123/U0456")
	case !slack && p.Scope != "":
		top.addError(l.at, fmt.Sprintf("%q has a team, which only Slack knows", l.text), "write adapter:user, such as telegram:123456")
	default:
		return p, true
	}
	return PersonRef{}, false
}

// number reads a whole number that is not negative.
func (s *section) number(key string, fallback int) int {
	text := s.stringAt(key)
	if text == "" {
		return fallback
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		s.addError(s.positionOf(key), fmt.Sprintf("%s: %q is no whole number", key, text), "write a number, or 0 for no bound")
		return fallback
	}
	return n
}

// PeopleOnAccount returns the people of a list who are on an account: those listed
// under its entry, and those of another entry of the same platform, whose ids
// mean the same person there.
func (c *Config) PeopleOnAccount(list []PersonRef, adapter string) []PersonRef {
	var on []PersonRef
	for _, p := range list {
		if p.Adapter == adapter || c.platformOf(p.Adapter) == c.platformOf(adapter) {
			on = append(on, p)
		}
	}
	return on
}

// LinkedAccount returns what an adapter's platform calls the person whom another calls that;
// false when nobody has said that they are one.
func (c *Config) LinkedAccount(platform, scope, user, adapter string) (PersonRef, bool) {
	for _, k := range c.People {
		if !slices.ContainsFunc(k.Accounts, func(p PersonRef) bool {
			return c.platformOf(p.Adapter) == platform && p.Scope == scope && p.User == user
		}) {
			continue
		}
		on := c.PeopleOnAccount(k.Accounts, adapter)
		if i := slices.IndexFunc(on, func(p PersonRef) bool { return p.Adapter == adapter }); i > 0 {
			on = on[i:]
		}
		if len(on) > 0 {
			return on[0], true
		}
	}
	return PersonRef{}, false
}

func (c *Config) platformOf(adapter string) string {
	for _, a := range c.Adapters {
		if a.Name == adapter {
			return a.Type
		}
	}
	return ""
}

// SenderLimit returns how many messages of one sender may wake agents in a
// minute. Tests that lift the platforms' pace lift it too.
func (c *Config) SenderLimit() int {
	if c.Outgoing == "off" {
		return 0
	}
	return c.SenderPerMinute
}
