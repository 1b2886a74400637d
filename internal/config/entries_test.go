package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// People are identified by the id that the platform assigned; an invalid reference
// grants nothing.
func TestPeopleAreNamedByTheirIds(t *testing.T) {
	for text, want := range map[string]string{
		`"telegram:123"`:           "telegram:123",
		`["telegram:123"]`:         "telegram:123",
		`"acme:T01/U02"`:           "acme:T01/U02",
		`"acme:U02"`:               "does not say of which team",
		`"telegram:T01/123"`:       "has a team",
		`"telegram:@kai"`:          "handles can be changed",
		`"kai"`:                    "names no adapter",
		`"discord:1"`:              "not under adapters",
		`"*"`:                      "write admit: open",
		`["telegram:1", "nobody"]`: "telegram:1",
	} {
		file := filepath.Join(t.TempDir(), "trestle.yaml")
		err := os.WriteFile(file, []byte("adapters:\n  telegram: {type: telegram, token: \"1:a\"}\n"+
			"  acme: {type: slack, bot_token: xoxb-1, app_token: xapp-1}\nowners: "+text+"\n"), 0o600)
		if err != nil {
			t.Fatal(err)
		}
		c, err := Load(LoadOptions{Path: file, Lookup: func(string) (string, bool) { return "", false }})
		if err != nil {
			t.Errorf("%s stops the start: %v", text, err)
			continue
		}
		var got strings.Builder
		got.WriteString(strings.Join(personTexts(c.Owners), ", "))
		for _, p := range c.Problems {
			if p.Entry == "owners" {
				got.WriteString(" " + p.Err.What + " " + p.Err.Remedy)
			}
		}
		if !strings.Contains(got.String(), want) {
			t.Errorf("owners: %s reads as %q, want %q", text, got.String(), want)
		}
	}
}

// An id is valid on every account of its platform, and on no other platform.
func TestPeopleCountOnTheirPlatform(t *testing.T) {
	c := &Config{
		Adapters: []AdapterEntry{{Name: "a", Type: "telegram"}, {Name: "b", Type: "telegram"}, {Name: "guild", Type: "discord"}},
		Owners:   []PersonRef{{Adapter: "a", User: "7"}},
	}
	for adapter, want := range map[string]int{"a": 1, "b": 1, "guild": 0} {
		if got := len(c.PeopleOnAccount(c.Owners, adapter)); got != want {
			t.Errorf("on %s %d owners are appointed, want %d", adapter, got, want)
		}
	}
}

func alarmed(t *testing.T, alarms string) *Config {
	t.Helper()
	folder := t.TempDir()
	text := "adapters: {telegram: {type: telegram, token: \"1:a\"}}\nalarms: " + alarms + "\n"
	testutil.OK(t, os.WriteFile(filepath.Join(folder, DefaultFile), []byte(text), 0o600))
	c, err := Load(LoadOptions{Folder: folder, Lookup: func(string) (string, bool) { return "", false }})
	testutil.OK(t, err)
	return c
}

func TestAlertSettingsAreRead(t *testing.T) {
	c := alarmed(t, `{chat: "telegram:-100", webhook: "https://hooks.example.com/k3y", dead_man: "https://switch.example.com/s3cret", least: fail, backup_age: 2d}`)
	a := c.Alerts
	if len(c.Problems) != 0 || !slices.Equal(a.Chats, []ChatRef{{"telegram", "-100"}}) || a.MinLevel != "fail" || a.BackupAge != 48*time.Hour {
		t.Errorf("alarms are %+v, problems %v", a, c.Problems)
	}
	for _, secret := range []string{"k3y", "s3cret"} {
		if !slices.ContainsFunc(c.Secrets(), func(s adapters.SecretString) bool { return strings.Contains(string(s), secret) }) {
			t.Errorf("%s is not scrubbed from logs", secret)
		}
	}
	if a := alarmed(t, "{}").Alerts; a.MinLevel != "warn" || a.BackupAge != defaultBackupAge || len(a.Chats) != 0 {
		t.Errorf("without a word: %+v", a)
	}
}

func TestInvalidAlertsAreAProblemOfTheirKey(t *testing.T) {
	for alarms, want := range map[string]string{
		`{chat: "acme:1"}`:           "not under adapters",
		`{webhook: "hooks"}`:         "is no address",
		`{dead_man: "ftp://x"}`:      "is no address",
		`{least: everything}`:        "least",
		`{backup_age: seldom}`:       "backup_age",
		`{backup_age: -2d}`:          "backup_age",
		`{chats: ["telegram:-100"]}`: "unknown key",
	} {
		c := alarmed(t, alarms)
		if len(c.Problems) != 1 || c.Problems[0].Entry != "alarms" || !strings.Contains(c.Problems[0].Err.String(), want) {
			t.Errorf("%s: problems are %+v", alarms, c.Problems)
		}
	}
}

// PRD-5.5-A3: three built-in personas are selected by name; any other text is the
// persona itself.
func TestPersonasAreKnownByName(t *testing.T) {
	for _, name := range []string{"friendly", "professional", "technical"} {
		c, err := loadText(t, "agents: {ada: {persona: "+name+"}}", "")
		testutil.OK(t, err)
		a, _ := c.Agent("ada")
		if a.Persona != personas[name] || len(strings.Fields(a.Persona)) < 30 {
			t.Errorf("%s is %q", name, a.Persona)
		}
	}
	c, err := loadText(t, "agents: {ada: {persona: You are friendly}}", "")
	testutil.OK(t, err)
	if a, _ := c.Agent("ada"); a.Persona != "You are friendly" {
		t.Errorf("a text became %q", a.Persona)
	}
}

// Several processes can divide the roles; a division that leaves work undone is
// refused.
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

// The limits of time and the demands of a model are its own, or those at the top.
func TestModelHasItsTimesAndDemands(t *testing.T) {
	c := loaded(t, "model: {base_url: \"http://a/v1\", timeout: {first_token: 8m, idle: 90s}, compat: [no_tool_choice, -plain_names]}\n"+
		"agents:\n  ada: {model: {name: big, timeout: {idle: 2m}}}\n  bo: {model: {compat: -all}}\n")
	ada, _ := c.Agent("ada")
	bo, _ := c.Agent("bo")
	if want := (ModelTimeouts{FirstToken: 8 * time.Minute, Idle: 90 * time.Second}); c.Model.Timeout != want || c.Model.Compat != "no_tool_choice -plain_names" {
		t.Errorf("at the top: %+v", c.Model)
	}
	if want := (ModelTimeouts{FirstToken: 8 * time.Minute, Idle: 2 * time.Minute}); ada.Model.Timeout != want || ada.Model.Compat != c.Model.Compat {
		t.Errorf("ada: %+v", ada.Model)
	}
	if bo.Model.Compat != "-all" || len(c.Problems) > 0 {
		t.Errorf("bo: %+v, problems %v", bo.Model, c.Problems)
	}
	for text, want := range map[string]string{
		"compat: [no_tool_choise]": "no_tool_choice", "compat: [-no_tool_choise]": "no_tool_choice", "timeout: {idle: soon}": "length of time",
		"timeout: {total: 0}": "length of time", "timeout: {first: 5m}": "first_token",
	} {
		c := loaded(t, "model: {base_url: \"http://a/v1\", "+text+"}\n")
		if len(c.Problems) != 1 || !strings.Contains(c.Problems[0].Err.What+c.Problems[0].Err.Remedy, want) {
			t.Errorf("%s: %v, want a problem with %q", text, c.Problems, want)
		}
	}
}

// loaded returns a configuration without an environment.
func loaded(t *testing.T, text string) *Config {
	t.Helper()
	file := filepath.Join(t.TempDir(), "trestle.yaml")
	testutil.OK(t, os.WriteFile(file, []byte(text), 0o600))
	c, err := Load(LoadOptions{Path: file, Lookup: func(string) (string, bool) { return "", false }})
	testutil.OK(t, err)
	return c
}

// A time zone that does not exist is named with the nearest ones, wherever it is set.
func TestTimeZonesExist(t *testing.T) {
	const good = "timezone: Europe/Zurich\nadapters:\n  telegram: {type: telegram, token: \"1:a\"}\npeople:\n  maya: {accounts: [\"telegram:1\"], timezone: Asia/Tokyo}\n" +
		"spaces:\n  den: {chats: [\"telegram:-1\"], timezone: America/Lima}\n"
	c := loaded(t, good)
	if c.SettingsFor("", "").Timezone != "Europe/Zurich" || c.SettingsFor("", "den").Timezone != "America/Lima" || c.People[0].Timezone != "Asia/Tokyo" {
		t.Errorf("read %q, %q, %+v", c.SettingsFor("", "").Timezone, c.SettingsFor("", "den").Timezone, c.People)
	}
	for right, wrong := range map[string]string{"Europe/Zurich": "Europa/Zurich", "Asia/Tokyo": "Asia/Tokio", "America/Lima": "America/Lime"} {
		text := strings.Replace(good, right, wrong, 1)
		c, err := loadText(t, text, "")
		told := ""
		if err != nil {
			told = err.Error()
		} else {
			for _, p := range c.Problems {
				told += p.Err.What
			}
		}
		if !strings.Contains(told, `"`+wrong+`" is no time zone; did you mean `+right) {
			t.Errorf("%s: told %q", wrong, told)
		}
	}
}

// A token that is blank or of one letter is refused, as long as it may be.
func TestATokenIsNoRepeatedLetter(t *testing.T) {
	for token, good := range map[string]bool{
		strings.Repeat("a", 40): false, strings.Repeat(" ", 40): false, " a a a a a a a a a a a a a a a a a a a a ": false,
		"0123456789abcdef0123456789abcdef": true,
	} {
		_, err := loadText(t, "listen: 0.0.0.0:7420\ntoken: \""+token+"\"\n", "")
		if (err == nil) != good {
			t.Errorf("token %q: %v", token, err)
		}
	}
}

// A token in the environment beside a file that names no account of its platform is told
// of; one that the file uses, or that is there without a file, is not.
func TestATokenThatTheFileDoesNotUseIsToldOf(t *testing.T) {
	for file, want := range map[string]int{
		"agents: {ada: {name: Ada}}\n": 1,
		"adapters: {telegram: {type: telegram, token: \"${TELEGRAM_BOT_TOKEN}\"}}\n":       0,
		"adapters: {mine: {type: telegram, token: \"2:b\"}}\nagents: {ada: {name: Ada}}\n": 0,
	} {
		c, err := loadText(t, file, "TELEGRAM_BOT_TOKEN=1:abc")
		testutil.OK(t, err)
		told := 0
		for _, w := range c.Warnings {
			if strings.Contains(w.Err.What, "TELEGRAM_BOT_TOKEN is set") && strings.Contains(w.Err.Remedy, "${TELEGRAM_BOT_TOKEN}") {
				told++
			}
			if strings.Contains(w.Err.What+w.Err.Remedy, "1:abc") {
				t.Errorf("the token is shown: %+v", w)
			}
		}
		if told != want {
			t.Errorf("%q: told %d times, want %d (%+v)", file, told, want, c.Warnings)
		}
	}
}
