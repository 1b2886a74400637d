package config

import (
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
	"unicode"
)

// checkAll checks keys in combination and adds warnings.
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
	d.warnUnusedTokens()
	d.warnSameName()
	d.warnSharedMemory()
}

// warn adds a warning that is not serious.
func (d *decoder) warn(entry string, at ValueOrigin, what, remedy string) {
	d.config.Warnings = append(d.config.Warnings, EntryWarning{Entry: entry, Err: Error{At: at, What: what, Remedy: remedy}})
}

// checkVersion reports another version of the file as a problem; the file is read
// all the same.
func (d *decoder) checkVersion(top *section) {
	if v := top.stringAt("version"); v != "" && v != "1" {
		top.addError(top.positionOf("version"), fmt.Sprintf("this program reads version 1 of the file, not %q", v), "write version: 1, or use the program that the file is for")
	}
	d.reportKey(top, "version")
}

// checkData refuses a data folder that is a file.
func (d *decoder) checkData(top *section) {
	if info, err := os.Stat(d.config.Data); err == nil && !info.IsDir() {
		d.fatal = append(d.fatal, Error{At: top.positionOf("data"), What: fmt.Sprintf("data: %s is a file", d.config.Data), Remedy: "name a folder; it is made when it is not there"})
	}
}

// checkDatabase refuses an address that is not one of Postgres. The error does not
// quote it.
func (d *decoder) checkDatabase(top *section) {
	if d.config.Database == "" {
		return
	}
	u, err := url.Parse(string(d.config.Database))
	if err != nil || (u.Scheme != "postgres" && u.Scheme != "postgresql") {
		d.fatal = append(d.fatal, Error{At: top.positionOf("database"), What: "database is no address of a Postgres database", Remedy: "write postgres://user:password@host/name, or leave it empty for SQLite in the data folder"})
	}
}

// checkRedis reports and drops an invalid address: the program runs without Redis.
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

// weakSecret reports whether a secret is blank, or one letter over and over.
func weakSecret(secret string) bool {
	seen := map[rune]bool{}
	letters := 0
	for _, r := range secret {
		if !unicode.IsSpace(r) {
			seen[r] = true
			letters++
		}
	}
	return secret != "" && (letters == 0 || letters > 1 && len(seen) == 1)
}

// checkListen refuses an address that other machines can reach unless a token of 32
// bytes or a trusted proxy protects it.
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
	if weakSecret(string(d.config.Token)) {
		d.fatal = append(d.fatal, Error{At: top.positionOf("token"), What: "token is blank or one letter over and over, which anybody guesses", Remedy: "set it to a random secret, such as the output of openssl rand -hex 32"})
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

// IsLoopback reports whether a host, without its port, is a loopback address.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

// checkLayers warns of settings that contradict each other or have no effect, in
// each layer that sets one of them.
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
			d.warn(path, at.at, k.name+" changes nothing here: it is the same for every agent and space", "write it at the top of the file")
		}
	}
}

// A settingPair is two settings of which the first must be smaller.
type settingPair struct {
	less, more string
	values     func(s ResolvedSettings) (less, more float64)
}

var pairs = []settingPair{
	{"low_water", "high_water", func(s ResolvedSettings) (float64, float64) { return s.LowWater, s.HighWater }},
	{"max_output_tokens", "context_tokens", func(s ResolvedSettings) (float64, float64) {
		return float64(s.MaxOutputTokens), float64(s.ContextTokens)
	}},
	{"compact.keep", "compact.after_turns", func(s ResolvedSettings) (float64, float64) {
		return float64(s.Compact.Keep), float64(s.Compact.AfterTurns)
	}},
	{"chat.keep_recent", "chat.summarise_above", func(s ResolvedSettings) (float64, float64) {
		return float64(s.Chat.KeepRecent), float64(s.Chat.SummariseAbove)
	}},
	{"compression.start", "compression.max", func(s ResolvedSettings) (float64, float64) {
		return float64(s.Levels.Start) - 1, float64(s.Levels.Max)
	}},
}

// checkPairs reports the pairs in the wrong order, for a layer over those that it
// overrides.
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
			At: at.at, What: fmt.Sprintf("%s (%s) is not less than %s (%s)", p.less, winningValue(small, all...).text, p.more, winningValue(large, all...).text), Remedy: "change one of the two",
		}})
	}
}

// secretSource records where the credentials of one entry are stored.
type secretSource struct {
	entry    string
	literals []ValueOrigin
	files    []string
}

// warnSecrets warns of credentials that the file contains literally and of files
// with credentials that other users can read.
func (d *decoder) warnSecrets(mode fs.FileMode) {
	open := readableByOthers(mode)
	credentials, _ := d.expand.lookup("CREDENTIALS_DIRECTORY")
	seen := map[string]bool{}
	for _, k := range d.secrets {
		for _, at := range k.literals {
			f := Error{At: at, What: "a credential stands in the file as it is", Remedy: "write ${NAME} or ${file:PATH} instead"}
			if open {
				f.What = fmt.Sprintf("a credential stands in the file as it is, and others can read the file: its mode is %#o", mode.Perm())
				f.Remedy = "chmod 600 " + at.File + ", or write ${NAME} or ${file:PATH} instead"
			}
			w := EntryWarning{Entry: k.entry, Err: f, Serious: open}
			if open {
				w.ReadableFile = at.File
			}
			d.config.Warnings = append(d.config.Warnings, w)
		}
		for _, path := range k.files {
			if seen[path] || IsMountedSecret(path, credentials) {
				continue
			}
			seen[path] = true
			info, err := os.Stat(path)
			if err != nil || !readableByOthers(info.Mode()) {
				continue
			}
			d.config.Warnings = append(d.config.Warnings, EntryWarning{Entry: k.entry, Serious: true, ReadableFile: path, Err: Error{
				At: ValueOrigin{File: path}, What: fmt.Sprintf("others can read this file with a credential: its mode is %#o", info.Mode().Perm()), Remedy: "chmod 600 " + path,
			}})
		}
	}
}

// IsMountedSecret reports whether a file is a secret mounted by a container runtime
// or by systemd, which sets its mode and restricts access. credentials is the folder
// that systemd names, or "".
func IsMountedSecret(path, credentials string) bool {
	folders := []string{"/run/secrets/", "/var/run/secrets/"}
	if credentials != "" {
		folders = append(folders, credentials+"/")
	}
	return slices.ContainsFunc(folders, func(f string) bool { return strings.HasPrefix(path, f) })
}

// readableByOthers reports whether users other than the owner may read a file; false
// on Windows, where the mode does not tell.
func readableByOthers(mode fs.FileMode) bool {
	return runtime.GOOS != "windows" && mode.Perm()&0o077 != 0
}

// warnOpenAdmission warns of admission mode open.
func (d *decoder) warnOpenAdmission(top *section) {
	const what, remedy = "everybody who finds the bot may talk to the agents, and what they say costs tokens", "write pairing, unless that is meant"
	if d.config.Admit == "open" {
		d.warn("admit", top.positionOf("admit"), what, remedy)
	}
	for _, a := range d.config.Adapters {
		if a.Admit == "open" && d.config.Admit != "open" {
			at := d.config.doc.root.get("adapters").get(a.Name).get("admit")
			d.warn("adapters."+a.Name, at.origin, what, remedy)
		}
	}
}

// warnUnthrottled warns of limits.outgoing: off.
func (d *decoder) warnUnthrottled(top *section) {
	if d.config.Outgoing == "off" {
		d.warn("limits", top.get("limits").get("outgoing").origin, "messages are sent faster than platforms allow, which then refuse them or stop the bot, and no budget of tokens holds that the file does not name", "remove it; off is for tests against a server of one's own")
	}
	for _, a := range d.config.Adapters {
		if a.Outgoing == "off" {
			at := d.config.doc.root.get("adapters").get(a.Name).get("limits").get("outgoing")
			d.warn("adapters."+a.Name, at.origin, "messages are sent faster than the platform allows, which then refuses them or stops the bot", "remove it; off is for tests against a server of one's own")
		}
	}
}

// warnTilde warns of a data folder that begins with ~, which only a shell expands.
func (d *decoder) warnTilde() {
	if n := d.config.doc.root.get("data"); n != nil && strings.HasPrefix(n.text, "~") {
		d.warn("data", n.origin, "this is a folder called ~, not the home folder", "write ${HOME} in place of ~")
	}
}

// warnUnusedTokens warns of tokens in the environment of platforms that the file names no
// account of: with a file only its adapters count.
func (d *decoder) warnUnusedTokens() {
	for _, p := range []struct{ platform, key, variable string }{
		{"telegram", "token", "TELEGRAM_BOT_TOKEN"}, {"slack", "bot_token", "SLACK_BOT_TOKEN"}, {"discord", "token", "DISCORD_BOT_TOKEN"},
	} {
		value, _ := d.expand.lookup(p.variable)
		if value == "" || slices.ContainsFunc(d.config.Adapters, func(a AdapterEntry) bool { return a.Type == p.platform }) {
			continue
		}
		more := ""
		if p.platform == "slack" {
			more = ", app_token: \"${SLACK_APP_TOKEN}\""
		}
		d.config.Warnings = append(d.config.Warnings, EntryWarning{Entry: "adapters", UnusedPlatform: p.platform, Err: Error{
			At: ValueOrigin{Env: p.variable}, What: p.variable + " is set, and the file names no " + p.platform + " account: the token is not used",
			Remedy: fmt.Sprintf("write adapters: {%s: {type: %[1]s, %s: \"${%s}\"%s}}, or unset it", p.platform, p.key, p.variable, more),
		}})
	}
}

// warnSameName warns of agents with the same name.
func (d *decoder) warnSameName() {
	for i, a := range d.config.Agents {
		for _, b := range d.config.Agents[:i] {
			if strings.EqualFold(a.Name, b.Name) {
				d.warn("agents."+a.ID, d.config.doc.root.get("agents").get(a.ID).origin, "it has the name of agents."+b.ID+", and who calls one by name calls only the first that is there", "give it a name of its own")
			}
		}
	}
}
