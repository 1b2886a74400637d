package config

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"github.com/trestle-bridge/trestle/adapters"
)

// checkURL refuses what is no address of a server; empty is none.
func (s *section) checkURL(name, value string) {
	if value == "" {
		return
	}
	u, err := url.Parse(value)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		s.addError(s.positionOf(name), name+" is no address of a server", "write it with its scheme, such as https://api.example.com/v1")
	}
}

// isAvatar reports whether platforms take s as the picture of who speaks; empty is
// the account's own.
func isAvatar(s string) bool {
	if name, ok := strings.CutPrefix(s, ":"); ok {
		name, ok = strings.CutSuffix(name, ":")
		return ok && name != "" && !strings.ContainsAny(name, ": /")
	}
	u, err := url.Parse(s)
	return s == "" || err == nil && u.Scheme == "https" && u.Host != "" && u.User == nil
}

// checkTokens finds the mistakes that a token's shape gives away, before anybody
// is asked.
func checkTokens(s *section, a *AdapterEntry) {
	s.checkNoBlank("token", a.Token)
	s.checkNoBlank("bot_token", a.BotToken)
	s.checkNoBlank("app_token", a.AppToken)
	s.checkNoBlank("signing_secret", a.SigningSecret)
	digits, rest, _ := strings.Cut(string(a.Token), ":")
	if a.Type == "telegram" && a.Token != "" && (rest == "" || strings.Trim(digits, "0123456789") != "") {
		s.addError(s.positionOf("token"), "this is no token of a Telegram bot: they look like 123456:AAE…", "copy it again from @BotFather")
	}
	if strings.HasPrefix(string(a.BotToken), "xapp-") {
		s.addError(s.positionOf("bot_token"), "bot_token holds an app token", "put the one that begins with xoxb- here, and the one with xapp- under app_token")
	}
	if strings.HasPrefix(string(a.AppToken), "xox") {
		s.addError(s.positionOf("app_token"), "app_token holds a bot or user token", "put the one that begins with xapp- here, and the one with xoxb- under bot_token")
	}
}

// checkNoBlank refuses a credential with a blank or a line's end in it, which nobody gives out:
// it was copied with something beside it, or cut over two lines.
func (s *section) checkNoBlank(name string, value adapters.Secret) {
	if strings.ContainsFunc(string(value), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		s.addError(s.positionOf(name), name+" holds a blank or a line break", "copy it again, whole and with nothing beside it")
	}
}

// checkSlack finds a Slack account that nothing could reach.
func checkSlack(s *section, a *AdapterEntry, listen string) {
	switch {
	case a.SigningSecret == "" && a.WebhookURL != "" && !s.has("signing_secret"):
		s.addError(s.positionOf("webhook_url"), "webhook_url is set, and no signing_secret proves who calls", "copy the Signing Secret from the app's Basic Information")
	case a.AppToken == "" && a.SigningSecret == "" && s.has("signing_secret"):
		s.addError(s.node.origin, "there is neither an app_token nor a signing_secret", "an app_token, xapp-…, is enough: the app's Basic Information → App-Level Tokens, with the scope connections:write")
	case a.AppToken == "" && a.SigningSecret != "" && listen == "":
		s.addError(s.positionOf("signing_secret"), "Slack is to call us, and nothing listens for the calls", "set webhook_listen to the address that your proxy passes them to, such as 127.0.0.1:8443, or give an app_token")
	}
}

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

// checkSameAccount refuses a second entry for the same account: the platform lets one
// of them in.
func (d *decoder) checkSameAccount() {
	for i := range d.config.Adapters {
		a := &d.config.Adapters[i]
		for _, b := range d.config.Adapters[:i] {
			what, remedy := a.sharedWith(b)
			if what == "" || a.Misconfigured {
				continue
			}
			at := d.config.doc.root.get("adapters").get(a.Name).origin
			a.Misconfigured = d.reportEntry("adapters."+a.Name, []Error{{At: at, What: fmt.Sprintf("it has the same %s as adapters.%s", what, b.Name), Remedy: remedy}})
		}
	}
}

// sharedWith returns what two entries have in common that each needs for itself, and
// what to do about it; empty: nothing.
func (a *AdapterEntry) sharedWith(b AdapterEntry) (what, remedy string) {
	switch {
	case a.Type != b.Type || a.APIURL != b.APIURL:
		return "", ""
	case a.Token == b.Token && a.BotToken == b.BotToken && (a.Token != "" || a.BotToken != ""):
		return "token", "remove one of the two, or give it a bot of its own"
	case a.AppToken == b.AppToken && a.AppToken != "": // Slack brings each event by any one socket of an app
		return "app_token", "make an app of its own for each workspace: of one app, each would take events of the other away"
	}
	return "", ""
}

// chatForms are the ids that platforms give chats. Those of other adapters may be
// anything.
var chatForms = map[string]struct {
	form *regexp.Regexp
	mend string
}{

	"telegram": {regexp.MustCompile(`^-?[0-9]{1,19}$`), "write the number that Telegram gives the chat, such as -1001234; trestle pair lists chats that wrote to the bot"},
	"slack":    {regexp.MustCompile(`^[CDG][A-Z0-9]+$`), "write the channel's id, such as C0123456: it stands at the end of its details in Slack"},
	"discord":  {regexp.MustCompile(`^[0-9]{1,20}$`), "write the channel's id, such as 998877: Developer Mode, then Copy Channel ID"},
}

// CheckChatID says that a platform gives no chat such an id, and what to write; nil when
// it may.
func CheckChatID(platform, id string) *Error {
	known, strict := chatForms[platform]
	if !strict || known.form.MatchString(id) {
		return nil
	}
	return &Error{What: fmt.Sprintf("%q is no id of a chat", id), Remedy: known.mend}
}

// warnChatID says that a space names a chat that cannot be: it would stay silent
// there.
func (d *decoder) warnChatID(entry string, at Origin, c ChatRef) {
	if f := CheckChatID(d.config.platformOf(c.Adapter), c.Chat); f != nil {
		f.At = at
		d.config.Warnings = append(d.config.Warnings, EntryWarning{Entry: entry, Err: *f})
	}
}
