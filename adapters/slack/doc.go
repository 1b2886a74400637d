// Package slack is the adapter for one Slack app in one workspace.
//
// It hears by Socket Mode, over two sockets of which one always listens, or by
// requests of the Events API, whose signature it proves first. What came is
// acknowledged after the sink has it; what Slack may not have brought is read from
// history, when the connection is made and every ten minutes. It turns what
// people write into CommonMark, and CommonMark into whichever of Slack's three
// forms keeps most of it. The tokens are put into requests by the last step before
// the wire and are in no error, log line or update.
//
// Requests are made by github.com/slack-go/slack; answers and events are read
// with our own structs, because the library refuses a whole page for one block it
// does not know. The library's socket manager is not used: it closes a connection
// before it opens the next, and loses what it cannot parse.
//
// Slack has no key that makes a send idempotent, but it has history: a post
// carries an opaque id by which [Client.Find] sees whether it arrived.
package slack
