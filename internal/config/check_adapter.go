package config

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"text/template"
	"unicode"

	"github.com/trestle-bridge/trestle/adapters"
)

// checkURL refuses a value that is not an http or https URL; empty is allowed.
func (s *section) checkURL(name, value string) {
	if value == "" {
		return
	}
	u, err := url.Parse(value)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		s.addError(s.positionOf(name), name+" is no address of a server", "write it with its scheme, such as https://api.example.com/v1")
	}
}

// isAvatar reports whether s is an https URL, an emoji in colons, or empty.
func isAvatar(s string) bool {
	if name, ok := strings.CutPrefix(s, ":"); ok {
		name, ok = strings.CutSuffix(name, ":")
		return ok && name != "" && !strings.ContainsAny(name, ": /")
	}
	u, err := url.Parse(s)
	return s == "" || err == nil && u.Scheme == "https" && u.Host != "" && u.User == nil
}

// checkTokens finds mistakes that the form of a token shows, without a request to
// the platform.
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

// checkNoBlank refuses a credential with white space or control characters, which
// come from incomplete copying.
func (s *section) checkNoBlank(name string, value adapters.SecretString) {
	if strings.ContainsFunc(string(value), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		s.addError(s.positionOf(name), name+" holds a blank or a line break", "copy it again, whole and with nothing beside it")
	}
}

// checkSlack refuses a Slack account that could receive no events.
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

// hookName is the form of the names of hooks, which stand in addresses.
var hookName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// readHook reads the keys of a hook that other accounts do not have, and checks that
// somebody can post to it.
func (d *decoder) readHook(s *section, a *AdapterEntry) {
	a.Token, a.Text = s.secret("token"), s.stringAt("text")
	a.ReplyURL, a.ReplySecret = adapters.SecretString(s.stringAt("reply_url")), s.secret("reply_secret")
	s.checkURL("reply_url", string(a.ReplyURL))
	checkTokens(s, a)
	s.checkNoBlank("reply_secret", a.ReplySecret)
	const random = "take a long random one, such as the output of openssl rand -hex 32"
	if !hookName.MatchString(a.Name) {
		s.addError(s.node.origin, fmt.Sprintf("%q is no name of a hook: it is the end of an address", a.Name), "take small letters, digits, _ and -")
	}
	if d.config.WebhookListen == "" {
		s.addError(s.node.origin, "programs post to a hook, and nothing listens for the calls", "set webhook_listen to the address that they, or your proxy, call, such as 127.0.0.1:8443")
	}
	if a.Token == "" && a.SigningSecret == "" {
		s.addError(s.node.origin, "neither a token nor a signing_secret proves who posts", "write token: ${NAME} for a bearer token, or signing_secret: ${NAME} for signatures, and set NAME in the environment; "+random)
	}
	for _, c := range []struct {
		name  string
		value adapters.SecretString
	}{{"token", a.Token}, {"signing_secret", a.SigningSecret}, {"reply_secret", a.ReplySecret}} {
		if c.value != "" && len(c.value) < minSecretLength {
			s.addError(s.positionOf(c.name), fmt.Sprintf("%s has %d letters, and fewer than %d can be guessed", c.name, len(c.value), minSecretLength), random)
		}
	}
	switch {
	case a.ReplyURL != "" && a.ReplySecret == "":
		s.addError(s.positionOf("reply_url"), "reply_url is set, and no reply_secret signs what is posted there", "write reply_secret: ${NAME}; "+random)
	case a.ReplySecret != "" && (a.ReplySecret == a.SigningSecret || a.ReplySecret == a.Token):
		s.addError(s.positionOf("reply_secret"), "reply_secret is also what proves who posts, so a reply could be sent back as an event", random)
	}
	if _, err := template.New("text").Parse(a.Text); err != nil {
		s.addError(s.positionOf("text"), "text is no template: "+strings.TrimPrefix(err.Error(), "template: text:"), "look at docs/hooks.md for examples")
	}
}

// checkIncomingCalls checks the webhook address and the signing secret of an
// account.
func (d *decoder) checkIncomingCalls(s *section, a *AdapterEntry) {
	d.checkWebhook(s, a)
	secret := string(a.SigningSecret)
	if secret == "" || a.APIURL != "" { // compatible servers may use other secrets
		return
	}
	const remedy = "copy the Signing Secret from the app's Basic Information"
	switch {
	case strings.HasPrefix(secret, "xox"), strings.HasPrefix(secret, "xapp-"):
		s.addError(s.positionOf("signing_secret"), "signing_secret holds a token", remedy)
	case len(secret) < minSecretLength:
		s.addError(s.positionOf("signing_secret"), fmt.Sprintf("signing_secret has %d letters, and Slack's have %d", len(secret), slackSecretLength), remedy)
	case len(secret) != slackSecretLength, strings.Trim(strings.ToLower(secret), "abcdefghijklmnopqrstuvwxyz0123456789") != "":
		d.warn("adapters."+a.Name, s.positionOf("signing_secret"), fmt.Sprintf("signing_secret does not look like one of Slack's: they have %d letters and digits", slackSecretLength), remedy)
	}
}

const (
	slackSecretLength = 32
	minSecretLength   = 16 // a shorter one could be guessed
)

// checkWebhook refuses an address that requests could not reach, and warns of one
// that the platform would not call. Telegram is given the address itself, and
// self-hosted Bot API servers also call http. On Slack and Discord the operator
// enters it on the platform's page: only its path matters here, and a loopback
// address must be the target of a proxy.
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
		d.warn("adapters."+a.Name, at, "webhook_url "+what, remedy)
	}
	switch {
	case err != nil, u.Host == "", u.Scheme != "https" && u.Scheme != "http":
		s.addError(at, "webhook_url is no https:// address", remedy)
	case u.Path == "" && a.Type != "slack", u.Path == "/" && a.Type == "telegram": // Slack has a default path
		s.addError(at, "webhook_url has no path, by which the account is known", remedy)
	case u.Scheme == "http" && a.APIURL == "" && (a.Type == "telegram" || !IsLoopback(u.Hostname())):
		odd("begins with http://, and " + platformNames[a.Type] + " calls https:// addresses only")
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		odd("holds a user, a query or a fragment")
	}
}

var platformNames = map[string]string{"telegram": "Telegram", "discord": "Discord", "slack": "Slack"}

// checkSameAccount refuses a second entry for the same account, since the platform
// allows one connection.
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

// sharedWith returns which credential two entries share although each needs its own,
// and the fix; "" when there is none.
func (a *AdapterEntry) sharedWith(b AdapterEntry) (what, remedy string) {
	switch {
	case a.Type != b.Type || a.APIURL != b.APIURL:
		return "", ""
	case a.Token == b.Token && a.BotToken == b.BotToken && (a.Token != "" || a.BotToken != ""):
		return "token", "remove one of the two, or give it a bot of its own"
	case a.AppToken == b.AppToken && a.AppToken != "": // Slack delivers each event to one socket of an app
		return "app_token", "make an app of its own for each workspace: of one app, each would take events of the other away"
	}
	return "", ""
}

// chatForms match the chat ids of each platform. Other adapters allow any id.
var chatForms = map[string]struct {
	form *regexp.Regexp
	mend string
}{
	"telegram": {regexp.MustCompile(`^-?[0-9]{1,19}$`), "write the number that Telegram gives the chat, such as -1001234; trestle pair lists chats that wrote to the bot"},
	"slack":    {regexp.MustCompile(`^[CDG][A-Z0-9]+$`), "write the channel's id, such as C0123456: it stands at the end of its details in Slack"},
	"hook":     {regexp.MustCompile(`^\S{1,100}$`), "write a short name without blanks, such as events, which an event goes to that names no chat"},
	"discord":  {regexp.MustCompile(`^[0-9]{1,20}$`), "write the channel's id, such as 998877: Developer Mode, then Copy Channel ID"},
}

// CheckChatID returns an error when the platform has no chat ids of that form, else
// nil.
func CheckChatID(platform, id string) *Error {
	known, strict := chatForms[platform]
	if !strict || known.form.MatchString(id) {
		return nil
	}
	return &Error{What: fmt.Sprintf("%q is no id of a chat", id), Remedy: known.mend}
}

// warnChatID warns of a space with an impossible chat id.
func (d *decoder) warnChatID(entry string, at ValueOrigin, c ChatRef) {
	if f := CheckChatID(d.config.platformOf(c.Adapter), c.Chat); f != nil {
		f.At = at
		d.config.Warnings = append(d.config.Warnings, EntryWarning{Entry: entry, Err: *f})
	}
}
