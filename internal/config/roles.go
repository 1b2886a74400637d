package config

import (
	"fmt"
	"slices"
	"strings"
)

// A Role is one kind of work that a process does. Processes that share a database
// may divide the kinds among themselves.
type Role string

// The roles.
const (
	ServesAccounts Role = "adapters" // accounts on platforms, and jobs that read from them
	RunsMinds      Role = "minds"    // wakes, cycles, timers, voices
	ShowsConsole   Role = "console"  // what is served at listen
)

// Roles are all there are, and what a process does that is told nothing else.
func Roles() []Role { return []Role{ServesAccounts, RunsMinds, ShowsConsole} }

// Does reports whether the process has a role.
func (c *Config) Does(r Role) bool { return len(c.Roles) == 0 || slices.Contains(c.Roles, r) }

// DoesAll returns the roles that the process has.
func (c *Config) DoesAll() []Role {
	return slices.DeleteFunc(Roles(), func(r Role) bool { return !c.Does(r) })
}

// roles reads what the process shall do. Whoever divides the work and makes a
// mistake would have parts of it done by nobody: that stops the start.
func (d *decoder) roles(top *section) {
	c := d.config
	for _, l := range top.list("roles") {
		switch r := Role(l.text); {
		case !slices.Contains(Roles(), r):
			top.fail(l.at, fmt.Sprintf("roles: there is no role %q", l.text), "write some of "+roleWords())
		case !slices.Contains(c.Roles, r):
			c.Roles = append(c.Roles, r)
		}
	}
	if len(c.Roles) > 0 && len(c.Roles) < len(Roles()) && c.Database == "" {
		top.fail(top.where("roles"), "the record is a file, which one process has: it must do everything", "leave roles out, or set database: several processes share a Postgres database")
	}
	d.stop(top)
}

func roleWords() string {
	var all []string
	for _, r := range Roles() {
		all = append(all, string(r))
	}
	return strings.Join(all, ", ")
}
