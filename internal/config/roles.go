package config

import (
	"fmt"
	"slices"
	"strings"
)

// A ProcessRole is one kind of work that a process does. Processes that share a database
// may divide the kinds among themselves.
type ProcessRole string

// The roles.
const (
	RoleAdapters ProcessRole = "adapters" // accounts on platforms, and jobs that read from them
	RoleMinds    ProcessRole = "minds"    // wakes, cycles, timers, voices
	RoleConsole  ProcessRole = "console"  // what is served at listen
)

// AllRoles are all there are, and what a process does that is told nothing else.
func AllRoles() []ProcessRole { return []ProcessRole{RoleAdapters, RoleMinds, RoleConsole} }

// HasRole reports whether the process has a role.
func (c *Config) HasRole(r ProcessRole) bool { return len(c.Roles) == 0 || slices.Contains(c.Roles, r) }

// ActiveRoles returns the roles that the process has.
func (c *Config) ActiveRoles() []ProcessRole {
	return slices.DeleteFunc(AllRoles(), func(r ProcessRole) bool { return !c.HasRole(r) })
}

// readRoles reads what the process shall do. Whoever divides the work and makes a
// mistake would have parts of it done by nobody: that stops the start.
func (d *decoder) readRoles(top *section) {
	c := d.config
	for _, l := range top.list("roles") {
		switch r := ProcessRole(l.text); {
		case !slices.Contains(AllRoles(), r):
			top.addError(l.at, fmt.Sprintf("roles: there is no role %q", l.text), "write some of "+roleWords())
		case !slices.Contains(c.Roles, r):
			c.Roles = append(c.Roles, r)
		}
	}
	if len(c.Roles) > 0 && len(c.Roles) < len(AllRoles()) && c.Database == "" {
		top.addError(top.positionOf("roles"), "the record is a file, which one process has: it must do everything", "leave roles out, or set database: several processes share a Postgres database")
	}
	d.makeFatal(top)
}

func roleWords() string {
	var all []string
	for _, r := range AllRoles() {
		all = append(all, string(r))
	}
	return strings.Join(all, ", ")
}
