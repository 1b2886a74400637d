package config

// A key is one key that a mapping of the file may hold, besides settings. What
// can be said about it is said here: the decoder, the schema, `config show` and
// docs/configuration.md are made from these tables.
type key struct {
	name     string
	fallback string // as docs show it
	meaning  string
	form     form
}

// A form is what may stand under a key.
type form struct {
	kind     formKind
	words    []string // of a word
	of       []key    // of a section, or of each entry
	settings bool     // settings may stand there as well
	shorter  bool     // a section may be written as one text
	start    bool     // counts from the next start on; else at once
}

type formKind int

const (
	aText    formKind = iota
	aNumber           // a whole number
	aSecret           // a text that is never shown
	aWord             // one of words
	aFlag             // true or false
	aList             // texts, or one
	aSection          // keys of its own
	entries           // sections by names that the operator chooses
)

var topKeys = []key{
	{"version", "1", "shape of the file; this program reads 1", form{kind: aNumber, start: true}},
	{"data", "./data", "folder of the SQLite file, and of the files that people send", form{start: true}},
	{"database", "", "`postgres://user:password@host/name` keeps the record there instead of in a SQLite file; see [Postgres](operate.md#postgres)", form{kind: aSecret, start: true}},
	{"redis", "", "`redis://user:password@host:6379/0`, or `rediss://` with TLS: carries doorbells and live events between processes; see [Redis](operate.md#redis)", form{kind: aSecret, start: true}},
	{"roles", "adapters, minds, console", "what this process does, of several that share a database: accounts on platforms, wakes and cycles, what `listen` serves; see [several processes](operate.md#several-processes)", form{kind: aList, start: true}},
	{"listen", "127.0.0.1:7420", "the console, the API, health and live events; empty serves none. See [the console](console.md)", form{start: true}},
	{"webhook_listen", "", "where platforms call that have a `webhook_url`, such as `127.0.0.1:8443`; nothing else is served there. It speaks plain HTTP: a proxy in front ends TLS", form{start: true}},
	{"token", "", "opens the console, beside those of `trestle token add`; this or `trusted_proxies` is needed, with 32 bytes or more, where `listen` is no loopback address", form{kind: aSecret}},
	{"hosts", "", "names by which browsers may call `listen` beside those of this machine, such as `trestle.example.org`", form{kind: aList}},
	{"trusted_proxies", "", "addresses or networks, such as `10.0.0.7` or `10.0.0.0/24`, of proxies whose forwarding headers are believed", form{kind: aList}},
	{"model", "", "the model of every agent that names no other", form{kind: aSection, of: modelKeys, shorter: true}},
	{"adapters", "", "one entry for each account on a platform; chats refer to it by its name", form{kind: entries, of: adapterKeys}},
	{"admit", "pairing", "who may talk to the agents in chats that the file does not name. `pairing`: a stranger is shown a code, and `trestle pair CODE` lets them in. `allowlist`: the people under `allow`, in their direct chats. `open`: everybody, with a warning. `deny`: nobody. The modes never mix, and in every mode a program is heard only if `allow` lists it", form{kind: aWord, words: admitWords}},
	{"owners", "", "who runs this installation: `adapter:user` with the id that the platform minted, on Slack `adapter:TEAM/USER`; never a name", form{kind: aList}},
	{"admins", "", "who may decide for rooms of several people; written like `owners`", form{kind: aList}},
	{"allow", "nobody", "people for `allowlist`, programs for every mode; written like `owners`", form{kind: aList}},
	{"people", "", "one entry for each person who is known on several platforms; its key is for you", form{kind: entries, of: personKeys}},
	{"limits", "", "limits of what is sent and heard", form{kind: aSection, of: allLimitKeys}},
	{"alarms", "", "who is told of problems", form{kind: aSection, of: alarmKeys, start: true}},
	{"telemetry", "", "where traces go", form{kind: aSection, of: telemetryKeys, start: true}},
	{"default_agents", "the first agent", "who joins a chat that was admitted without being named, or whose agents are all gone", form{kind: aList}},
	{"agents", "", "one entry for each agent; its key is its id in everything that is stored", form{kind: entries, of: agentKeys, settings: true}},
	{"servers", "", "what each channel of a server or workspace becomes; the key is `adapter:server`", form{kind: entries, of: serverKeys, settings: true}},
	{"spaces", "", "one entry for each room", form{kind: entries, of: spaceKeys, settings: true}},
}

var admitWords = []string{"pairing", "allowlist", "open", "deny"}

var allLimitKeys = append([]key{
	{"sender_per_minute", "60", "messages of one sender that may wake agents in a minute; further ones are kept and seen and wake nobody. 0 is no bound", form{kind: aNumber}},
}, limitKeys...)

var limitKeys = []key{
	{"outgoing", "platform", "keep to the pace that the platform allows. `off` is for tests, and at the top it also sets the budgets of tokens that the file does not name to 0, which is no limit", form{kind: aWord, words: []string{"platform", "off"}, start: true}},
}

var modelKeys = []key{
	{"base_url", "", "the endpoint, such as `https://api.example.com/v1`", form{}},
	{"api_key", "", "its key", form{kind: aSecret}},
	{"name", "gpt-5-mini", "the endpoint's name for the model", form{}},
	{"context_tokens", "", "the setting of that name", form{kind: aNumber}},
	{"max_output_tokens", "", "the setting of that name", form{kind: aNumber}},
	{"limits", "", "`{per_day, per_cycle}`: the settings `budget.per_day` (in an agent: `budget.agent_per_day`) and `budget.per_cycle`", form{kind: aSection, of: modelLimitKeys}},
}

var modelLimitKeys = []key{
	{"per_day", "", "tokens that may be used in a day", form{}},
	{"per_cycle", "", "tokens that one cycle may use", form{}},
}

var adapterKeys = []key{
	{"type", "", "the platform", form{kind: aWord, words: adapterTypes}},
	{"token", "", "Telegram and Discord: the bot's token", form{kind: aSecret}},
	{"bot_token", "", "Slack: the token that begins with xoxb-", form{kind: aSecret}},
	{"app_token", "", "Slack: the token that begins with xapp-. Not needed where Slack calls us", form{kind: aSecret}},
	{"signing_secret", "", "Slack: proves its calls, where it calls us", form{kind: aSecret}},
	{"api_url", "", "a self-hosted or test server in place of the platform's", form{}},
	{"webhook_url", "", "where the platform should call us, an `https://` address (`http://` too from a Bot API server of your own) that your proxy passes on to `webhook_listen` with its path unchanged; Discord calls with commands and buttons only. Each account needs a path of its own. Empty: Telegram is polled, Discord tells all over its gateway, and Slack's path is `/slack/events`", form{}},
	{"admit", "", "as at the top, for this account", form{kind: aWord, words: admitWords}},
	{"limits", "", "as at the top, for this account", form{kind: aSection, of: limitKeys}},
}

var adapterTypes = []string{"telegram", "slack", "discord"}

var agentKeys = []key{
	{"name", "the key", "how people call it", form{}},
	{"persona", "", "who it is, in words to it: a text, `{file: ./ada.md}`, or `friendly`, `professional` or `technical`, which are built in", form{kind: aSection, of: personaKeys, shorter: true}},
	{"avatar", "the account's", "its picture where several agents speak through one account, on Discord and Slack: an `https://` address that the platform can open, or for Slack an emoji such as `:robot_face:`", form{}},
	{"model", "as at the top", "a model of its own; what it leaves out is as at the top", form{kind: aSection, of: modelKeys, shorter: true}},
}

var personaKeys = []key{
	{"file", "", "a text file, relative to this one", form{}},
}

var serverKeys = []key{
	{"agents", "`default_agents`", "who is in the rooms", form{kind: aList}},
	{"circle", "one for each room", "the circle of the rooms", form{}},
	{"relay", "false", "as in a space", form{kind: aFlag}},
}

var personKeys = []key{
	{"accounts", "", "what each platform calls them, written like `owners`; a mention of one of these in a relayed room calls the one that the other platform knows", form{kind: aList}},
}

var spaceKeys = []key{
	{"name", "the key", "how the room is called", form{}},
	{"circle", "home", "spaces of one circle share one memory: what an agent hears in one, it may use in the others", form{}},
	{"agents", "`default_agents`", "who is in the room", form{kind: aList}},
	{"chats", "", "`adapter:chat`, one or several", form{kind: aList}},
	{"relay", "false", "`true`: what people say in one of the chats also goes to the others", form{kind: aFlag}},
}
