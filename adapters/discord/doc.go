// Package discord is the adapter for one Discord bot.
//
// It reads the gateway over connections of its own and resumes their sessions
// after every loss, over restarts too: the cursor holds the session, and an event
// counts as seen only once the sink has it. When Discord has forgotten the
// session, what was said meanwhile is read from history, channel by channel and
// thread by thread. It turns CommonMark into Discord's Markdown and back, cuts it
// into messages, and tells every refusal apart.
//
// Messages use github.com/bwmarrin/discordgo for the requests, the codes and the
// form of what begins a session, and our own structs for what comes back: one
// field of a new kind would leave the library's empty. Its gateway is not used
// (docs/adr/0008): it can neither be stopped in every state nor resume. Its
// retries and its waiting for limits are switched off: a send is made once, and
// a limit that Discord has named is told as [adapters.Limited] without a request.
//
// Nothing is global: two accounts live in one process without knowing of each
// other. The token is added by the last step before the wire, for the API's own
// host, and is in no error, log line or update.
//
// What Discord cannot promise, this package cannot either: edits, deletions and
// reactions that happen while no session lives are lost, and so is the first
// message of a direct chat that never was written in before.
package discord
