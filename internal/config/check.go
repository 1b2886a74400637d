package config

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"unicode"

	"github.com/trestle-bridge/trestle/adapters"
)

// checkAll looks at what is only wrong together.
func (d *decoder) checkAll(top *section) {
	d.checkVersion(top)
	d.checkData(top)
	d.checkListen(top)
	d.checkDatabase(top)
	d.checkRedis(top)
	d.checkWebhooks(top)
	d.checkSameAccount()
	d.checkLayers()
	d.warnOpenAdmission(top)
	d.warnUnthrottled(top)
	d.warnTilde()
	d.warnSameName()
}

// checkVersion refuses nothing: a file for a later program is read as far as
// this one understands it.
func (d *decoder) checkVersion(top *section) {
	if v := top.stringAt("version"); v != "" && v != "1" {
		top.addError(top.positionOf("version"), fmt.Sprintf("this program reads version 1 of the file, not %q", v), "write version: 1, or use the program that the file is for")
	}
	d.reportKey(top, "version")
}

// checkData refuses a data folder that cannot be one.
func (d *decoder) checkData(top *section) {
	if info, err := os.Stat(d.config.Data); err == nil && !info.IsDir() {
		d.fatal = append(d.fatal, Error{At: top.positionOf("data"), What: fmt.Sprintf("data: %s is a file", d.config.Data), Remedy: "name a folder; it is made when it is not there"})
	}
}

// resolvePath returns a path that is relative to where it was written.
func (d *decoder) resolvePath(path string, at Origin) string {
	if at.Env != "" || at.Flag != "" {
		return absoluteFrom(d.workFolder, path)
	}
	return absoluteFrom(d.folder, path)
}

// checkDatabase refuses an address that names no database; what it holds is not
// shown.
func (d *decoder) checkDatabase(top *section) {
	if d.config.Database == "" {
		return
	}
	u, err := url.Parse(string(d.config.Database))
	if err != nil || (u.Scheme != "postgres" && u.Scheme != "postgresql") {
		d.fatal = append(d.fatal, Error{At: top.positionOf("database"), What: "database is no address of a Postgres database", Remedy: "write postgres://user:password@host/name, or leave it empty for SQLite in the data folder"})
	}
}

// checkRedis sets an address aside that is none: the program runs without it.
func (d *decoder) checkRedis(top *section) {
	if d.config.Redis == "" {
		return
	}
	u, err := url.Parse(string(d.config.Redis))
	if err != nil || (u.Scheme != "redis" && u.Scheme != "rediss") || u.Host == "" {
		d.reportEntry("redis", []Error{{At: top.positionOf("redis"), What: "redis is no address of a Redis server", Remedy: "write redis://user:password@host:6379/0, rediss:// for TLS, or leave it empty"}})
		d.config.Redis = ""
	}
}

// checkListen refuses an address that others can reach without a token
// (SECURITY S7).
func (d *decoder) checkListen(top *section) {
	listen := d.config.Listen
	if listen == "" {
		return
	}
	at := top.positionOf("listen")
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		d.fatal = append(d.fatal, Error{At: at, What: fmt.Sprintf("listen: %q is no address", listen), Remedy: "write host:port, such as 127.0.0.1:7420"})
		return
	}
	if !IsLoopback(host) && len(d.config.Token) < 32 && len(d.config.Proxies) == 0 {
		d.fatal = append(d.fatal, Error{At: at, What: "listen is reachable from other machines and token has fewer than 32 bytes", Remedy: "listen on 127.0.0.1, set token to a secret of 32 bytes or more, or list the proxy in front in trusted_proxies"})
	}
}

func (d *decoder) checkWebhooks(top *section) {
	at := d.config.WebhookListen
	if at == "" {
		return
	}
	if _, _, err := net.SplitHostPort(at); err != nil {
		d.reportEntry("webhook_listen", []Error{{At: top.positionOf("webhook_listen"), What: fmt.Sprintf("webhook_listen: %q is no address", at), Remedy: "write host:port, such as 127.0.0.1:8443"}})
	}
}

// IsLoopback reports whether a host, without its port, is this machine alone.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

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

// checkLayers warns of settings that contradict each other, or change nothing, in
// each layer that writes one of them.
func (d *decoder) checkLayers() {
	c := d.config
	d.checkLayer("", c.settings, c.settings)
	for _, a := range c.Agents {
		d.checkLayer("agents."+a.ID, a.settings, c.settings, a.settings)
	}
	for _, s := range c.Servers {
		d.checkLayer("servers."+s.Key, s.settings, c.settings, s.settings)
	}
	for _, s := range c.Spaces {
		d.checkLayer("spaces."+s.Key, s.settings, c.settings, s.settings)
	}
}

func (d *decoder) checkLayer(path string, written settingsLayer, all ...settingsLayer) {
	d.checkPairs(path, written, all...)
	for _, k := range settingKeys {
		at, wrote := written[k.name]
		if wrote && k.value.top && path != "" {
			d.config.Warnings = append(d.config.Warnings, EntryWarning{Entry: path, Err: Error{
				At: at.at, What: k.name + " changes nothing here: it is the same for every agent and space", Remedy: "write it at the top of the file",
			}})
		}
	}
}

// A settingPair is two settings of which the first has to be the smaller.
type settingPair struct {
	less, more string
	values     func(s Settings) (less, more float64)
}

var pairs = []settingPair{
	{"low_water", "high_water", func(s Settings) (float64, float64) { return s.LowWater, s.HighWater }},
	{"max_output_tokens", "context_tokens", func(s Settings) (float64, float64) {
		return float64(s.MaxOutputTokens), float64(s.ContextTokens)
	}},
	{"compact.keep", "compact.after_turns", func(s Settings) (float64, float64) {
		return float64(s.Compact.Keep), float64(s.Compact.AfterTurns)
	}},
	{"chat.keep_recent", "chat.summarise_above", func(s Settings) (float64, float64) {
		return float64(s.Chat.KeepRecent), float64(s.Chat.SummariseAbove)
	}},
	{"compression.start", "compression.max", func(s Settings) (float64, float64) {
		return float64(s.Levels.Start) - 1, float64(s.Levels.Max)
	}},
}

// checkPairs finds the pairs that written, over what it overrides, has the
// wrong way round.
func (d *decoder) checkPairs(path string, written settingsLayer, all ...settingsLayer) {
	settings := resolveSettings(all...)
	for _, p := range pairs {
		less, more := p.values(settings)
		at, wrote := written[p.less]
		if !wrote {
			at, wrote = written[p.more]
		}
		if less < more || !wrote {
			continue
		}
		small, _ := findSetting(p.less)
		large, _ := findSetting(p.more)
		d.config.Warnings = append(d.config.Warnings, EntryWarning{Entry: path, Serious: true, Err: Error{
			At:     at.at,
			What:   fmt.Sprintf("%s (%s) is not less than %s (%s)", p.less, winningValue(small, all...).text, p.more, winningValue(large, all...).text),
			Remedy: "change one of the two",
		}})
	}
}
