// Package discord is a loopback server that behaves towards bots as Discord
// does, together with the world behind it: people, servers, channels, threads and
// what happens in them.
//
// [Discord] answers the API under /api and keeps connections of the gateway:
// sessions that can be resumed for a while, events with numbers, heartbeats, close
// codes, compression, refusals with Discord's own codes and words. Its verbs say
// what people do ([Channel.Says], [Channel.Reacts], [Guild.Joins]) and how the
// platform lets its clients down: [Bot.Reconnect] (op 7), [Bot.Invalidate] (op 9),
// [Bot.Close] with any code, [Discord.Mute] (zombies), [Discord.RefuseConnections].
// A fault makes calls of the API fail in a chosen way, and the [Record] tells what
// was received, which sessions began, whom a message notified and which addresses
// a preview would have fetched.
//
// honest/ holds a script that drives this server with discord.js. It is run by
// hand.
//
// The package imports nothing of ours but package fake.
package discord
