package config

import (
	"strings"
	"testing"
)

// Issue 7: the work of several processes can be divided; what would leave a part
// of it to nobody is refused.
func TestRolesAreNamedAndNeedADatabase(t *testing.T) {
	const shared = "database: postgres://localhost/trestle\n"
	for _, test := range []struct {
		file, env string
		does      []ProcessRole
		refused   string
	}{
		{shared, "", AllRoles(), ""},
		{"", "", AllRoles(), ""},
		{"roles: [console, minds, adapters]\n", "", AllRoles(), ""},
		{shared + "roles: [minds]\n", "", []ProcessRole{RoleMinds}, ""},
		{shared + "roles: [minds]\n", "adapters, console", []ProcessRole{RoleAdapters, RoleConsole}, ""},
		{"roles: [minds]\n", "", nil, "the record is a file"},
		{shared + "roles: [mind]\n", "", nil, `no role "mind"`},
	} {
		env := ""
		if test.env != "" {
			env = "TRESTLE_ROLES=" + test.env
		}
		c, err := loadText(t, test.file, env)
		if test.refused != "" {
			if err == nil || !strings.Contains(err.Error(), test.refused) {
				t.Errorf("%q: %v, want %q", test.file, err, test.refused)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", test.file, err)
			continue
		}
		n := 0
		for _, r := range AllRoles() {
			if c.HasRole(r) {
				n++
			}
		}
		for _, r := range test.does {
			if !c.HasRole(r) || n != len(test.does) {
				t.Errorf("%q and %q: has %v, want %v", test.file, test.env, c.Roles, test.does)
			}
		}
	}
}
