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

func alarmed(t *testing.T, alarms string) *Config {
	t.Helper()
	folder := t.TempDir()
	text := "adapters: {telegram: {type: telegram, token: \"1:a\"}}\nalarms: " + alarms + "\n"
	testutil.OK(t, os.WriteFile(filepath.Join(folder, DefaultFile), []byte(text), 0o600))
	c, err := Load(LoadOptions{Folder: folder, Lookup: func(string) (string, bool) { return "", false }})
	testutil.OK(t, err)
	return c
}

// ECOSYSTEM 8
func TestAlarmsSayWhoIsTold(t *testing.T) {
	c := alarmed(t, `{chat: "telegram:-100", webhook: "https://hooks.example.com/k3y", dead_man: "https://switch.example.com/s3cret", least: fail, backup_age: 2d}`)
	a := c.Alerts
	if len(c.Problems) != 0 || !slices.Equal(a.Chats, []ChatRef{{"telegram", "-100"}}) || a.MinLevel != "fail" || a.BackupAge != 48*time.Hour {
		t.Errorf("alarms are %+v, problems %v", a, c.Problems)
	}
	for _, secret := range []string{"k3y", "s3cret"} {
		if !slices.ContainsFunc(c.Secrets(), func(s adapters.Secret) bool { return strings.Contains(string(s), secret) }) {
			t.Errorf("%s is not scrubbed from logs", secret)
		}
	}
	if a := alarmed(t, "{}").Alerts; a.MinLevel != "warn" || a.BackupAge != defaultBackupAge || len(a.Chats) != 0 {
		t.Errorf("without a word: %+v", a)
	}
}

func TestWrongAlarmsAreAProblemOfTheirOwn(t *testing.T) {
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
