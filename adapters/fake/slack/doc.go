// Package slack is a loopback server that behaves towards apps as Slack does,
// together with the workspace behind it: people, channels and what they do.
//
// [Slack] answers the Web API under /api/ and keeps Socket Mode connections; an
// [App] may be called over HTTP instead, with signed requests. What happens is
// delivered until it is acknowledged: again at once, after a minute and after five,
// in a new envelope with the same event id, also when no socket was open. A socket
// is retired on request, and its address is good for one use. Text is read as
// strictly as there, and every refusal has Slack's own code. The methods of
// [Channel] say what people do: [Channel.Says], [Channel.Edits], [Channel.Joins].
// A slash command can be answered by the address that comes with it, also by an app
// that is not in the channel; [Channel.Whispers] shows that.
// A fault makes calls fail in a chosen way, and the [Record] tells what was
// received, what was acknowledged, whom a message called and which addresses a
// preview would have fetched.
//
// honest/ holds a script that drives this server with Slack's own clients for
// Node.js. It is run by hand.
//
// The package imports nothing of ours but package fake.
package slack
