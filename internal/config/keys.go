package config

import "slices"

// A keyRow describes one key of a mapping, besides settings. The decoder, the
// schema, `config show` and docs/configuration.md use these tables.
type keyRow struct {
	name     string
	fallback string // as the documentation shows it
	meaning  string
	form     keyForm
}

// A keyForm describes the value of a key.
type keyForm struct {
	kind     formKind
	words    []string // of a word
	of       []keyRow // of a section, or of each entry
	settings bool     // settings are allowed as well
	shorter  bool     // a section may be written as one text
	start    bool     // read only at start
}

type formKind int

const (
	aText    formKind = iota
	aNumber           // a whole number
	aSecret           // a text that is never printed
	aWord             // one of words
	aFlag             // true or false
	aList             // a list of texts, or one text
	aSection          // keys of its own
	aMap              // texts, or words, by names that the operator chooses
	aTree             // values of any form by names that the operator chooses
	entries           // sections by names that the operator chooses
)

var topKeys = []keyRow{
	{"version", "1", "shape of the file; this program reads 1", keyForm{kind: aNumber, start: true}},
	{"data", "./data", "folder of the SQLite file, and of the files that people send", keyForm{start: true}},
	{"database", "", "`postgres://user:password@host/name` stores everything there instead of in a SQLite file; see [Postgres](operate.md#postgres)", keyForm{kind: aSecret, start: true}},
	{"redis", "", "`redis://user:password@host:6379/0`, or `rediss://` with TLS: carries notifications and live events between processes; see [Redis](operate.md#redis)", keyForm{kind: aSecret, start: true}},
	{"roles", "adapters, minds, console", "the roles of this process, of several that share a database: accounts on platforms, wakes and cycles, the servers at `listen`; see [several processes](operate.md#several-processes)", keyForm{kind: aList, start: true}},
	{"listen", "127.0.0.1:7420", "the console, the API, health and live events; empty serves none. See [the console](console.md)", keyForm{start: true}},
	{"webhook_listen", "", "address for calls of platforms with a `webhook_url` and of hooks, such as `127.0.0.1:8443`. It serves plain HTTP: a proxy in front terminates TLS", keyForm{start: true}},
	{"token", "", "authenticates at the console, besides those of `trestle token add`; this or `trusted_proxies` is needed, with 32 bytes or more, where `listen` is no loopback address", keyForm{kind: aSecret}},
	{"hosts", "", "host names accepted at `listen` besides those of this machine, such as `trestle.example.org`", keyForm{kind: aList}},
	{"trusted_proxies", "", "addresses or networks, such as `10.0.0.7` or `10.0.0.0/24`, of proxies whose forwarding headers are trusted", keyForm{kind: aList}},
	{"model", "", "the model of every agent without one of its own", keyForm{kind: aSection, of: modelKeys, shorter: true}},
	{"models", "", "one entry for each model that `model.fallbacks` names; its key is for you. See [fallbacks](models.md#fallbacks)", keyForm{kind: entries, of: fallbackKeys}},
	{"adapters", "", "one entry for each account on a platform; chats refer to it by its name", keyForm{kind: entries, of: adapterKeys}},
	{"admit", "pairing", "who may talk to the agents in chats that the file does not name. `pairing`: an unknown person receives a code, and `trestle pair CODE` admits them. `allowlist`: the people under `allow`, in their direct chats and where they ask a guest. `open`: everyone, with a warning. `deny`: no one. In every mode a program is heard only if `allow` lists it", keyForm{kind: aWord, words: admitWords}},
	{"pairing", "", "people who wait to be let in", keyForm{kind: aSection, of: pairingKeys}},
	{"owners", "", "who runs this installation: `adapter:user` with the id that the platform assigned, on Slack `adapter:TEAM/USER`; never a name", keyForm{kind: aList}},
	{"admins", "", "who may decide for rooms of several people; written like `owners`", keyForm{kind: aList}},
	{"allow", "no one", "people for `allowlist`, programs for every mode; written like `owners`", keyForm{kind: aList}},
	{"people", "", "one entry for each person who is known on several platforms; its key is for you", keyForm{kind: entries, of: personKeys}},
	{"limits", "", "limits for sending and receiving", keyForm{kind: aSection, of: allLimitKeys}},
	{"alarms", "", "where alerts are sent", keyForm{kind: aSection, of: alarmKeys, start: true}},
	{"telemetry", "", "where traces are sent", keyForm{kind: aSection, of: telemetryKeys, start: true}},
	{"tools", "", "what agents can do outside of the rooms; see [tools](tools.md)", keyForm{kind: aSection, of: toolKeys}},
	{"default_agents", "the first agent", "agents of a chat that was admitted without an entry, or whose agents no longer exist", keyForm{kind: aList}},
	{"agents", "", "one entry for each agent; its key is its id in everything that is stored", keyForm{kind: entries, of: agentKeys, settings: true}},
	{"servers", "", "settings of every channel of a server or workspace; the key is `adapter:server`", keyForm{kind: entries, of: serverKeys, settings: true}},
	{"spaces", "", "one entry for each room", keyForm{kind: entries, of: spaceKeys, settings: true}},
}

var admitWords = []string{"pairing", "allowlist", "open", "deny"}

var pairingKeys = []keyRow{
	{"remember", "1h", "for how long what a person writes in a direct chat before `trestle pair` lets them in is kept, to be answered then. Nobody is shown it before. 0 keeps nothing", keyForm{}},
}

var allLimitKeys = append([]keyRow{
	{"sender_per_minute", "60", "messages of one sender that may wake agents in a minute; further ones are stored and shown but wake no agent. 0 is no limit", keyForm{kind: aNumber}},
}, limitKeys...)

var limitKeys = []keyRow{
	{"outgoing", "platform", "throttle to the rate that the platform allows. `off` is for tests, and at the top it also sets the budgets of tokens that the file does not name to 0, which is no limit", keyForm{kind: aWord, words: []string{"platform", "off"}, start: true}},
}

var providerWords = []string{"openai", "anthropic", "gemini"}

var modelKeys = []keyRow{
	{"provider", "openai", "the API of the endpoint: `openai` for everything that is compatible with OpenAI's chat completions, or Anthropic's or Google's own; see [providers](models.md#providers). Another provider than at the top takes over neither address nor key from there", keyForm{kind: aWord, words: providerWords}},
	{"base_url", "", "the endpoint, such as `https://api.example.com/v1`; with a key alone, the provider's own", keyForm{}},
	{"api_key", "", "its API key", keyForm{kind: aSecret}},
	{"name", "gpt-5-mini", "the endpoint's name for the model; with `anthropic` the default is `claude-haiku-5-5`, with `gemini` `gemini-3.5-flash-lite`", keyForm{}},
	{"context_tokens", "", "the setting of that name", keyForm{kind: aNumber}},
	{"max_output_tokens", "", "the setting of that name", keyForm{kind: aNumber}},
	{"timeout", "", "`{first_token: 5m, idle: 1m, total: 10m}`: how long an answer may take to begin, pause between two pieces, and take in all", keyForm{kind: aSection, of: modelTimeoutKeys}},
	{"compat", "", "what the endpoint demands of requests, besides what Trestle learns from its refusals: names from [model endpoints](models.md#what-an-endpoint-demands). `-name` is never done, `-all` turns off all that are not named", keyForm{kind: aList}},
	{"fallbacks", "", "names of entries under `models` that answer when this model cannot, in order; see [fallbacks](models.md#fallbacks)", keyForm{kind: aList}},
	{"limits", "", "`{per_day, per_cycle}`: the settings `budget.per_day` (in an agent: `budget.agent_per_day`) and `budget.per_cycle`", keyForm{kind: aSection, of: modelLimitKeys}},
}

var fallbackKeys = []keyRow{
	{"provider", "openai", "as in `model`", keyForm{kind: aWord, words: providerWords}},
	{"base_url", "", "the endpoint, such as `https://api.example.com/v1`", keyForm{}},
	{"api_key", "", "its API key", keyForm{kind: aSecret}},
	{"name", "the key", "the endpoint's name for the model", keyForm{}},
	{"context_tokens", "", "its window, where it is smaller than the setting of that name", keyForm{kind: aNumber}},
	{"timeout", "", "as in `model`", keyForm{kind: aSection, of: modelTimeoutKeys}},
	{"compat", "", "as in `model`", keyForm{kind: aList}},
	{"price", "", "its price, where the published one does not count", keyForm{kind: aSection, of: priceKeys}},
}

var priceKeys = []keyRow{
	{"input", "", "cost of a million prompt tokens, in `price.currency`", keyForm{}},
	{"cached", "", "cost of a million cached prompt tokens; the same as `input` without it", keyForm{}},
	{"cache_write", "", "cost of a million prompt tokens that are written to the cache; the same as `input` without it", keyForm{}},
	{"output", "", "cost of a million output tokens", keyForm{}},
}

var modelTimeoutKeys = []keyRow{
	{"first_token", "5m", "until its answer begins, thinking included; a call that hangs so long is made once more, and earlier when later calls are answered", keyForm{}},
	{"idle", "1m", "between two pieces of an answer; three times as long for an answer that hardly grows", keyForm{}},
	{"total", "10m", "for one whole answer", keyForm{}},
}

// compatWords are the names of what an endpoint may demand.
var compatWords = []string{
	"no_stream_options", "no_streaming", "no_cache_key", "other_output_limit", "no_output_limit", "no_tool_choice", "no_pictures",
	"signed_calls", "reasoning", "reasoning_everywhere", "short_call_ids", "plain_names", "plain_schemas", "named_results",
	"filled_content", "no_system_role", "single_calls", "answered_results", "alternating_roles", "no_tool_messages", "no_tools",
}

var modelLimitKeys = []keyRow{
	{"per_day", "", "tokens that may be used in a day", keyForm{}},
	{"per_cycle", "", "tokens that one cycle may use", keyForm{}},
}

var adapterKeys = []keyRow{
	{"type", "", "the platform", keyForm{kind: aWord, words: adapterTypes}},
	{"token", "", "Telegram and Discord: the bot's token. Hooks: the bearer token of callers", keyForm{kind: aSecret}},
	{"bot_token", "", "Slack: the token that begins with xoxb-", keyForm{kind: aSecret}},
	{"app_token", "", "Slack: the token that begins with xapp-. Not needed when Slack sends events over HTTP", keyForm{kind: aSecret}},
	{"signing_secret", "", "Slack: verifies its HTTP requests. Hooks: verifies callers' signatures", keyForm{kind: aSecret}},
	{"api_url", "", "a self-hosted or test server in place of the platform's", keyForm{}},
	{"webhook_url", "", "address that the platform calls, an `https://` address (`http://` too from a Bot API server of your own) that your proxy passes on to `webhook_listen` with its path unchanged; Discord calls with commands and buttons only. Each account needs a path of its own. Empty: Telegram is polled, Discord uses its gateway, and Slack's path is `/slack/events`", keyForm{}},
	{"text", "", "hooks: a template of the text of an event, in the language of Go's `text/template`, over the JSON that is posted; see [Hooks](hooks.md)", keyForm{}},
	{"reply_url", "", "hooks: an address that takes what agents say in the chat; it may be on your own network. Empty: nobody is told", keyForm{}},
	{"reply_secret", "", "hooks: signs what is posted to `reply_url`", keyForm{kind: aSecret}},
	{"admit", "", "as at the top, for this account", keyForm{kind: aWord, words: admitWords}},
	{"limits", "", "as at the top, for this account", keyForm{kind: aSection, of: limitKeys}},
}

var adapterTypes = []string{"telegram", "slack", "discord", "hook"}

var agentKeys = []keyRow{
	{"name", "the key", "how people call it", keyForm{}},
	{"persona", "", "description of the agent, addressed to it: a text, `{file: ./ada.md}`, or `friendly`, `professional` or `technical`, which are built in", keyForm{kind: aSection, of: personaKeys, shorter: true}},
	{"avatar", "the account's", "its picture where several agents speak through one account, on Discord and Slack: an `https://` address that the platform can open, or for Slack an emoji such as `:robot_face:`", keyForm{}},
	{"model", "as at the top", "its own model; missing keys are as at the top", keyForm{kind: aSection, of: modelKeys, shorter: true}},
	{"suggest", "two questions", "up to four messages that people may begin with, shown above the direct chat with a Slack app that is an agent; `[]` shows none", keyForm{kind: aList}},
	{"tools", "none", "what it is granted of `tools`: names of servers and commands, `web`, `skills`, or patterns such as `github.search_*`; and the built-in tools `bookmark`, `fork` and `sleep`, which no agent has otherwise", keyForm{kind: aList}},
}

var personaKeys = []keyRow{
	{"file", "", "a text file, relative to this one", keyForm{}},
}

var serverKeys = []keyRow{
	{"agents", "`default_agents`", "agents in the rooms", keyForm{kind: aList}},
	{"circle", "one for each room", "the circle of the rooms", keyForm{}},
	{"relay", "false", "as in a space", keyForm{kind: aFlag}},
	{"tools", "", "as in a space", keyForm{kind: aSection, of: roomToolKeys}},
}

var personKeys = []keyRow{
	{"accounts", "", "accounts of the person, written like `owners`: they are one reader, and a mention of one of them in a relayed room becomes a mention of the account on the other platform", keyForm{kind: aList}},
	{"timezone", "", "their time zone, such as `Europe/Zurich`: by its clocks their reminders are due", keyForm{}},
}

var spaceKeys = []keyRow{
	{"name", "the key", "name of the room", keyForm{}},
	{"circle", "home", "spaces of one circle share one memory: what an agent hears in one, it may use in the others", keyForm{}},
	{"agents", "`default_agents`", "agents in the room", keyForm{kind: aList}},
	{"chats", "", "`adapter:chat`, one or several", keyForm{kind: aList}},
	{"relay", "false", "`true`: messages in one of the chats are copied to the others", keyForm{kind: aFlag}},
	{"tools", "", "what is taken from the agents there", keyForm{kind: aSection, of: roomToolKeys}},
}

var alarmKeys = []keyRow{
	{"chat", "", "`adapter:chat` of the operators, one or several; its members may answer `ack 2h`. An alert about an adapter is not sent through that adapter", keyForm{kind: aList, start: true}},
	{"webhook", "", "receives alerts in the JSON of Prometheus' Alertmanager", keyForm{kind: aSecret, start: true}},
	{"dead_man", "", "an address that is requested every minute while there is no alert, for a dead man's switch", keyForm{kind: aSecret, start: true}},
	{"least", "warn", "lowest severity of alerts", keyForm{kind: aWord, words: []string{"warn", "fail"}, start: true}},
	{"backup_age", "7d", "age of the last backup that raises an alert; 0 is none", keyForm{start: true}},
}

var telemetryKeys = []keyRow{
	{"traces", "", "the address of an OpenTelemetry collector that takes OTLP over HTTP, such as `http://127.0.0.1:4318/v1/traces`. The variables `OTEL_EXPORTER_OTLP_*` add headers and certificates", keyForm{kind: aSecret, start: true}},
	{"content", "false", "whether traces contain message text", keyForm{kind: aFlag, start: true}},
}

// CompatWords returns the names of what an endpoint may demand, as `model.compat` takes
// them.
func CompatWords() []string { return slices.Clone(compatWords) }
