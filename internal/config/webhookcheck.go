package config

import (
	"fmt"
	"net/url"
	"strings"
)

// checkIncomingCalls finds what keeps a platform from calling us: an address that it does not
// take, and a secret that is none of its own.
func (d *decoder) checkIncomingCalls(s *section, a *AdapterEntry) {
	d.checkWebhook(s, a)
	secret := string(a.SigningSecret)
	if secret == "" || a.APIURL != "" { // others may prove their calls with secrets of any shape
		return
	}
	const remedy = "copy the Signing Secret from the app's Basic Information"
	switch {
	case strings.HasPrefix(secret, "xox"), strings.HasPrefix(secret, "xapp-"):
		s.addError(s.positionOf("signing_secret"), "signing_secret holds a token", remedy)
	case len(secret) < minSecretLength:
		s.addError(s.positionOf("signing_secret"), fmt.Sprintf("signing_secret has %d letters, and Slack's have %d", len(secret), slackSecretLength), remedy)
	case len(secret) != slackSecretLength, strings.Trim(strings.ToLower(secret), "abcdefghijklmnopqrstuvwxyz0123456789") != "":
		d.config.Warnings = append(d.config.Warnings, EntryWarning{Entry: "adapters." + a.Name, Err: Error{
			At: s.positionOf("signing_secret"), What: fmt.Sprintf("signing_secret does not look like one of Slack's: they have %d letters and digits", slackSecretLength), Remedy: remedy,
		}})
	}
}

const (
	slackSecretLength = 32
	minSecretLength   = 16 // below that somebody may guess it
)

// checkWebhook refuses an address that calls could not come to, and warns of one that the
// platform would not call. Telegram is told the address itself, and its self-hosted servers
// call http:// too. Slack and Discord were told it on their own pages: what counts here is
// the path, and one of this machine can only be meant as what a proxy in front passes
// their calls on to.
func (d *decoder) checkWebhook(s *section, a *AdapterEntry) {
	if a.WebhookURL == "" {
		return
	}
	u, err := url.Parse(a.WebhookURL)
	remedy := "write the address that your proxy serves, such as https://bots.example.com/" + a.Type + "/" + a.Name
	at := s.positionOf("webhook_url")
	odd := func(what string) {
		if a.Type == "telegram" {
			s.addError(at, "webhook_url "+what, remedy)
			return
		}
		d.config.Warnings = append(d.config.Warnings, EntryWarning{
			Entry: "adapters." + a.Name, Err: Error{At: at, What: "webhook_url " + what, Remedy: remedy},
		})
	}
	switch {
	case err != nil, u.Host == "", u.Scheme != "https" && u.Scheme != "http":
		s.addError(at, "webhook_url is no https:// address", remedy)
	case u.Path == "" && a.Type != "slack", u.Path == "/" && a.Type == "telegram": // Slack's has one that is usual
		s.addError(at, "webhook_url has no path, by which the account is known", remedy)
	case u.Scheme == "http" && a.APIURL == "" && (a.Type == "telegram" || !IsLoopback(u.Hostname())):
		odd("begins with http://, and " + platformNames[a.Type] + " calls https:// addresses only")
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		odd("holds a user, a query or a fragment")
	}
}

var platformNames = map[string]string{"telegram": "Telegram", "discord": "Discord", "slack": "Slack"}
