package config

import (
	"fmt"
	"net/url"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

// AlertSettings say who is told of problems, and of which.
type AlertSettings struct {
	Chats     []ChatRef
	Webhook   adapters.Secret // takes the JSON of Prometheus' Alertmanager
	DeadMan   adapters.Secret // asked every minute while all is well
	MinLevel  string          // warn, fail
	BackupAge time.Duration   // a backup older than this is a problem; 0: none is
}

// defaultBackupAge is how old the last backup may be unless the configuration
// says otherwise.
const defaultBackupAge = 7 * 24 * time.Hour

var alarmKeys = []keyRow{
	{"chat", "", "`adapter:chat` of the operators, one or several; whoever is in it may answer `ack 2h`. A problem never travels over the adapter it is about", keyForm{kind: aList, start: true}},
	{"webhook", "", "is sent problems in the JSON of Prometheus' Alertmanager", keyForm{kind: aSecret, start: true}},
	{"dead_man", "", "an address that is asked every minute while all is well, such as a dead man's switch gives", keyForm{kind: aSecret, start: true}},
	{"least", "warn", "which problems are told", keyForm{kind: aWord, words: []string{"warn", "fail"}, start: true}},
	{"backup_age", "7d", "how old the last backup may be; 0 is any age", keyForm{start: true}},
}

// readAlerts reads who is told of problems. What is wrong there is a problem that
// the others hear of.
func (d *decoder) readAlerts(top *section) {
	s := top.subsection("alarms")
	a := &d.config.Alerts
	for _, chat := range s.list("chat") {
		if c, ok := d.adapterOf(s, chat, "chat, such as telegram:1234567"); ok {
			a.Chats = append(a.Chats, c)
		}
	}
	a.Webhook, a.DeadMan = s.secretURL("webhook"), s.secretURL("dead_man")
	a.MinLevel = s.oneOf("least", "warn")
	a.BackupAge = defaultBackupAge
	if text := s.stringAt("backup_age"); text != "" {
		age, err := ParseDuration(text)
		if err != nil || age < 0 {
			s.addError(s.positionOf("backup_age"), fmt.Sprintf("backup_age: %q is no length of time", text), "write 7d, or 0 for any age")
		} else {
			a.BackupAge = age
		}
	}
	top.mergeErrors(s)
	d.reportKey(top, "alarms")
}

// secretURL is a secret that is a URL, since it may hold one.
func (s *section) secretURL(name string) adapters.Secret {
	value := s.secret(name)
	if value == "" {
		return ""
	}
	u, err := url.Parse(string(value))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		s.addError(s.positionOf(name), name+" is no address", "write https://…")
		return ""
	}
	return value
}
