package config

import (
	"time"

	"github.com/trestle-bridge/trestle/internal/money"
	"github.com/trestle-bridge/trestle/spaces"
)

// settingKeys lists all settings with their defaults, in the order of
// `config show --all`. Each is allowed at the top of the file, in an agent, a server
// and a space; those of [topOnly] count at the top alone.
var settingKeys = []settingKey{
	{"phases", "auto", "whether an agent thinks in a model call of its own before it acts: `auto` does so where it is not addressed and may have to stay silent, `two` always, `one` never", wordSetting(func(s *ResolvedSettings) *string { return &s.Phases }, "auto", "two", "one")},
	{"plain_text", "auto", "what becomes of an answer that is no tool call, when somebody waits for one: `auto` asks the model once to call the tool and delivers what it says then, and learns which models answer so; `deliver` sends it at once; `private` never", wordSetting(func(s *ResolvedSettings) *string { return &s.PlainText }, "auto", "deliver", "private")},
	{"dialect", "tools", "how the model calls tools: by the API's tool calls, or by tags in its text", wordSetting(func(s *ResolvedSettings) *string { return &s.Dialect }, "tools", "tags")},
	{"wake", "auto", "what wakes an agent besides direct chats, mentions and replies: with `auto` every message of a chat that it shares with one person, with `all` every message", wordSetting(func(s *ResolvedSettings) *spaces.WakePolicy { return &s.Wake }, "auto", "mention", "all", "none")},
	{"on_stale", "reconsider", "what to do with a message when newer ones arrived while it was written", wordSetting(func(s *ResolvedSettings) *string { return &s.OnStale }, "reconsider", "send")},
	{"streaming", "auto", "whether a long answer is shown while it is written: `auto` as a draft where people can stop that (private chats on Telegram), else by editing one message, and short answers not at all; `drafts` only as a draft, `edits` only by editing, or `off`", wordSetting(func(s *ResolvedSettings) *spaces.StreamingPolicy { return &s.Streaming }, "auto", "drafts", "edits", "off")},
	{"feedback", "off", "how people rate what an agent says: with `reactions` by 👍 and 👎 on its messages, with `buttons` also by two buttons below them, or `off`; see [feedback](how-an-agent-decides.md#feedback)", wordSetting(func(s *ResolvedSettings) *spaces.FeedbackMode { return &s.Feedback }, "off", "reactions", "buttons")},
	{"links", "", "which addresses stay links in what an agent writes: `open` all, `known` those that people said in the room, that stand in a tool's result of the run or that `link_hosts` has, `none` not one. The others are shown as code. Empty: `open` where the agent was shown nothing but what all readers of the room may read, else `known`; see [links](operate.md#links)", optional(wordSetting(func(s *ResolvedSettings) *spaces.LinkPolicy { return &s.Links }, "open", "known", "none"))},
	{"link_hosts", "", "host names whose pages, and those of hosts below them, always stay links, such as `example.com, docs.example.org`", hostsSetting(func(s *ResolvedSettings) *[]string { return &s.LinkHosts })},
	{"timezone", "", "time zone of the rooms' clocks, such as `Europe/Zurich`, by which times are shown and reminders are due; empty: that of the machine. A person's own goes before it: that of their Slack profile, of `people`, or what they said with `/timezone`", optional(zoneSetting(func(s *ResolvedSettings) *string { return &s.Timezone }))},
	{"focus", "normal", "how much of an inactive space is shown", wordSetting(func(s *ResolvedSettings) *string { return &s.Focus }, "low", "normal", "high")},
	{"render_priority", "5", "weight of a space among the inactive ones, 1 to 10", integerSetting(func(s *ResolvedSettings) *int { return &s.Priority }, 1)},

	{"max_steps", "12", "model calls in one engagement", integerSetting(func(s *ResolvedSettings) *int { return &s.MaxSteps }, 1)},
	{"max_space_acts", "8", "what one run may do in rooms: messages, reactions, edits and deletions", integerSetting(func(s *ResolvedSettings) *int { return &s.MaxSpaceActs }, 1)},
	{"max_output_tokens", "2000", "output tokens of one model call", tokenSetting(func(s *ResolvedSettings) *int { return &s.MaxOutputTokens }, 16)},
	{"context_tokens", "32000", "tokens of the context window that are used. Where it is not given, the window that the endpoint tells or that is published of the model counts, at most 64000", tokenSetting(func(s *ResolvedSettings) *int { return &s.ContextTokens }, 1024)},
	{"recall_tokens", "1500", "tokens of recalled messages in one frame", tokenSetting(func(s *ResolvedSettings) *int { return &s.RecallTokens }, 0)},
	{"across", "true", "whether a direct chat may be shown what its person has read in the agent's other rooms", boolSetting(func(s *ResolvedSettings) *bool { return &s.Across })},
	{"parallel", "8", "concurrent cycles of one mind", integerSetting(func(s *ResolvedSettings) *int { return &s.Parallel }, 1)},

	{"acts.send_message", "true", "whether an agent sends messages: the tools `send_message`, `send_reply`, `ask` and `send_file`", boolSetting(func(s *ResolvedSettings) *bool { return &s.Acts.SendMessage })},
	{"acts.send_file", "true", "whether it sends files, where `attachments.send` is on", boolSetting(func(s *ResolvedSettings) *bool { return &s.Acts.SendFile })},
	{"acts.react", "true", "whether it reacts to messages", boolSetting(func(s *ResolvedSettings) *bool { return &s.Acts.React })},
	{"acts.edit_message", "true", "whether it changes its own messages: the tools `edit_message`, `checklist` and `check`", boolSetting(func(s *ResolvedSettings) *bool { return &s.Acts.EditMessage })},
	{"acts.delete_message", "true", "whether it deletes its own messages", boolSetting(func(s *ResolvedSettings) *bool { return &s.Acts.DeleteMessage })},
	{"acts.read_messages", "true", "whether it reads messages beyond the ones shown", boolSetting(func(s *ResolvedSettings) *bool { return &s.Acts.ReadMessages })},
	{"acts.search", "true", "whether it searches its rooms", boolSetting(func(s *ResolvedSettings) *bool { return &s.Acts.Search })},
	{"acts.missions", "true", "whether it proposes missions and works on them; needs `acts.send_message`", boolSetting(func(s *ResolvedSettings) *bool { return &s.Acts.Missions })},
	{"acts.set_up", "true", "whether it sets up rooms; needs `acts.send_message`", boolSetting(func(s *ResolvedSettings) *bool { return &s.Acts.SetUp })},
	{"greeting.look_up", "false", "whether an agent may call reading tools when only greetings woke it", boolSetting(func(s *ResolvedSettings) *bool { return &s.Greeting.LookUp })},

	{"budget.per_cycle", "400000", "what one cycle may use: tokens, or money such as `0.50 USD`; 0 is no limit", budgetSetting(func(s *ResolvedSettings) *money.SpendLimit { return &s.Budget.PerCycle })},
	{"budget.per_root", "0", "what one message may cause to be used; 0 is no limit", budgetSetting(func(s *ResolvedSettings) *money.SpendLimit { return &s.Budget.PerRoot })},
	{"budget.sender_per_day", "10000000", "what the messages of one person, and the timers and plans set for them, may use in a day; 0 is no limit", budgetSetting(func(s *ResolvedSettings) *money.SpendLimit { return &s.Budget.SenderPerDay })},
	{"budget.agent_per_day", "50000000", "what one agent may use in a day; 0 is no limit", budgetSetting(func(s *ResolvedSettings) *money.SpendLimit { return &s.Budget.AgentPerDay })},
	{"budget.space_per_day", "50000000", "what one space may use in a day, with the timers and plans that were set there; 0 is no limit", budgetSetting(func(s *ResolvedSettings) *money.SpendLimit { return &s.Budget.SpacePerDay })},
	{"budget.tools_per_day", "1000", "how often one agent may call tools that are not built in, in a day of UTC; 0 is no limit", integerSetting(func(s *ResolvedSettings) *int { return &s.Budget.ToolsPerDay }, 0)},
	{"budget.tools_per_minute", "60", "the same in a minute; half of it for tools of the tier marketplace, which those of servers are unless their `tier` says otherwise. 0 is no limit", integerSetting(func(s *ResolvedSettings) *int { return &s.Budget.ToolsPerMinute }, 0)},
	{"budget.per_day", "50000000", "what all agents together may use in a day; 0 is no limit", budgetSetting(func(s *ResolvedSettings) *money.SpendLimit { return &s.Budget.PerDay })},

	{"price.input", "0", "cost of a million prompt tokens, in `price.currency`. Where neither it nor `price.output` is given, the price that the endpoint tells counts, else the one that is published of the model, if the endpoint is not on this machine or network", moneySetting(func(s *ResolvedSettings) *float64 { return &s.Price.Input })},
	{"price.cached", "0", "cost of a million cached prompt tokens; 0 is the same as `price.input`", moneySetting(func(s *ResolvedSettings) *float64 { return &s.Price.Cached })},
	{"price.cache_write", "0", "cost of a million prompt tokens that the endpoint writes to its cache, as Anthropic's models charge it; 0 is the same as `price.input`", moneySetting(func(s *ResolvedSettings) *float64 { return &s.Price.CacheWrite })},
	{"price.output", "0", "cost of a million output tokens", moneySetting(func(s *ResolvedSettings) *float64 { return &s.Price.Output })},
	{"price.currency", "USD", "currency of all prices, costs and budgets, such as `EUR`", topOnly(currencySetting(func(s *ResolvedSettings) *string { return &s.Price.Currency }))},
	{"price.rate", "0", "what one US dollar costs in `price.currency`, such as `0.92`: published prices are in dollars, and without it unknown in another currency", topOnly(moneySetting(func(s *ResolvedSettings) *float64 { return &s.CurrencyRate }))},

	{"consciousness.max_tokens", "100000", "tokens of the inner log before it is compacted", tokenSetting(func(s *ResolvedSettings) *int { return &s.Consciousness.MaxTokens }, 1000)},
	{"consciousness.min_recent_cycles", "10", "newest cycles kept verbatim as long as the budget allows", integerSetting(func(s *ResolvedSettings) *int { return &s.Consciousness.MinRecentCycles }, 1)},
	{"consciousness.full_cycles", "10", "newest cycles shown in full", integerSetting(func(s *ResolvedSettings) *int { return &s.Consciousness.FullCycles }, 1)},
	{"consciousness.single_cycles", "50", "newest cycles shown with a summary each", integerSetting(func(s *ResolvedSettings) *int { return &s.Consciousness.SingleCycles }, 1)},
	{"consciousness.group_size", "30", "older cycles that share a summary", integerSetting(func(s *ResolvedSettings) *int { return &s.Consciousness.GroupSize }, 2)},
	{"chat.keep_recent", "15", "newest messages of the active space that are always shown", integerSetting(func(s *ResolvedSettings) *int { return &s.Chat.KeepRecent }, 1)},
	{"chat.summarise_above", "20", "number of messages of the active space up to which all are shown", integerSetting(func(s *ResolvedSettings) *int { return &s.Chat.SummariseAbove }, 1)},
	{"spans.limit", "5", "newest connection spans shown of a space", integerSetting(func(s *ResolvedSettings) *int { return &s.Spans.Limit }, 1)},
	{"spans.include_active", "true", "whether the open span is one of them", boolSetting(func(s *ResolvedSettings) *bool { return &s.Spans.IncludeActive })},
	{"spans.idle", "12h", "quiet time after which a span closes", topOnly(atStart(durationSetting(func(s *ResolvedSettings) *time.Duration { return &s.Spans.Idle })))},
	{"threads.keep", "1", "weight of a message in a conversation about the question, besides its own relevance", shareSetting(func(s *ResolvedSettings) *float64 { return &s.Threads.Keep })},
	{"threads.partial", "0.4", "the same in a related conversation, except its first and last message", shareSetting(func(s *ResolvedSettings) *float64 { return &s.Threads.Partial })},
	{"threads.summary", "0.1", "the same in any other conversation", shareSetting(func(s *ResolvedSettings) *float64 { return &s.Threads.Summary })},
	{"compression.start", "1", "first level of compression, 1 (whole) to 5 (left out)", integerSetting(func(s *ResolvedSettings) *int { return &s.Levels.Start }, 1)},
	{"compression.max", "5", "highest level of compression; what still does not fit is left out", integerSetting(func(s *ResolvedSettings) *int { return &s.Levels.Max }, 1)},
	{"cross_space.origin_limit", "10", "messages of the origin shown when composing for another space", integerSetting(func(s *ResolvedSettings) *int { return &s.CrossSpace.OriginLimit }, 0)},
	{"cross_space.target_limit", "15", "messages of the target shown then", integerSetting(func(s *ResolvedSettings) *int { return &s.CrossSpace.TargetLimit }, 0)},
	{"cross_space.long_origin_limit", "5", "the same in spaces with long messages: origin", integerSetting(func(s *ResolvedSettings) *int { return &s.CrossSpace.LongOriginLimit }, 0)},
	{"cross_space.long_target_limit", "10", "the same in spaces with long messages: target", integerSetting(func(s *ResolvedSettings) *int { return &s.CrossSpace.LongTargetLimit }, 0)},

	{"compact.after_turns", "8", "turns after which an idle mind is compacted", integerSetting(func(s *ResolvedSettings) *int { return &s.Compact.AfterTurns }, 1)},
	{"compact.keep", "4", "newest turns that stay verbatim", integerSetting(func(s *ResolvedSettings) *int { return &s.Compact.Keep }, 1)},
	{"compact.summary_tokens", "300", "tokens of one summary", tokenSetting(func(s *ResolvedSettings) *int { return &s.Compact.SummaryTokens }, 1)},
	{"high_water", "0.8", "share of the budget at which the context is compacted", shareSetting(func(s *ResolvedSettings) *float64 { return &s.HighWater })},
	{"low_water", "0.5", "share of the budget to which it is compacted", shareSetting(func(s *ResolvedSettings) *float64 { return &s.LowWater })},
	{"guard", "0.8", "share of the context window that is never exceeded", shareSetting(func(s *ResolvedSettings) *float64 { return &s.Guard })},
	{"cache_ttl", "5m", "how long the endpoint caches a prefix", durationSetting(func(s *ResolvedSettings) *time.Duration { return &s.CacheTTL })},
	{"relevance.snippet", "500", "characters of a cycle's summary that are compared with new messages", integerSetting(func(s *ResolvedSettings) *int { return &s.Relevance.Snippet }, 1)},
	{"relevance.embeddings", "", "the endpoint's embedding model for recall of old messages by meaning, such as `text-embedding-3-small`; without one they are found by their words", nameSetting(func(s *ResolvedSettings) *string { return &s.Relevance.Embeddings })},
	{"read.limit", "50", "messages that one reading tool call returns", integerSetting(func(s *ResolvedSettings) *int { return &s.Read.Limit }, 1)},
	{"wait.timeout", "5m", "how long an agent waits for a reply", durationSetting(func(s *ResolvedSettings) *time.Duration { return &s.Wait.Timeout })},
	{"memory.max_chars", "200", "characters of one memory", integerSetting(func(s *ResolvedSettings) *int { return &s.Memory.MaxChars }, 1)},
	{"prompts.onboarding", "800", "tokens of a request for setting up a room; 0 disables it", tokenSetting(func(s *ResolvedSettings) *int { return &s.Prompts.Onboarding }, 0)},

	{"expires", "1h", "age at which an unsent message is dropped; 0 is never", durationSetting(func(s *ResolvedSettings) *time.Duration { return &s.Expires })},
	{"on_unknown", "resend_once", "what to do with a send that may have arrived", wordSetting(func(s *ResolvedSettings) *spaces.UnknownOutcomePolicy { return &s.OnUnknown }, string(spaces.ResendOnce), string(spaces.Hold))},
	{"attachments.fetch", "true", "fetch the files that messages carry", topOnly(atStart(boolSetting(func(s *ResolvedSettings) *bool { return &s.Attachments.Fetch })))},
	{"attachments.max_mb", "20", "megabytes of one file at most", topOnly(atStart(integerSetting(func(s *ResolvedSettings) *int { return &s.Attachments.MaxMB }, 1)))},
	{"attachments.keep_mb", "2000", "megabytes of all files at most", topOnly(atStart(integerSetting(func(s *ResolvedSettings) *int { return &s.Attachments.KeepMB }, 1)))},
	{"attachments.send", "false", "agents may send files: short texts they write, and files that were posted to them", topOnly(atStart(boolSetting(func(s *ResolvedSettings) *bool { return &s.Attachments.Send })))},
	{"images.most", "0", "images in one model call, those of the messages it answers and the newest before; 0 for a model without vision", integerSetting(func(s *ResolvedSettings) *int { return &s.Images.Most }, 0)},
	{"images.side", "1024", "pixels of an image's longer side; larger images are scaled down", integerSetting(func(s *ResolvedSettings) *int { return &s.Images.Side }, 64)},
	{"voice.model", "", "the endpoint's transcription model for voice messages, such as `whisper-1`; without one they are not transcribed", topOnly(atStart(nameSetting(func(s *ResolvedSettings) *string { return &s.Voice.Model })))},
	{"summary.model", "", "the endpoint's model that summarises old runs while an agent is idle, such as `gpt-5-nano`; without one they are not summarised", nameSetting(func(s *ResolvedSettings) *string { return &s.Summary.Model })},
	{"retention.frames", "14d", "how long full model requests are stored; 0 is no limit. Their sizes stay", topOnly(durationSetting(func(s *ResolvedSettings) *time.Duration { return &s.Retention.Frames }))},
}
