// Package adapters is the contract between Trestle and a chat platform.
//
// One adapter is one account on one platform. It turns what happens there into
// [Update] values and hands them to a [Sink]; it turns a [OutgoingMessage] into a message
// there and answers with a [Receipt]. It promises three things:
//
//   - an update is acknowledged to the platform only after the sink took it;
//   - a call that may have reached the platform is never repeated by the
//     adapter itself: the caller owns every retry;
//   - no error, log line or update carries a credential.
//
// The package knows nothing of spaces, events, agents or models, and imports
// nothing of ours. Whatever an adapter can do beyond receiving and sending is
// an optional one-method interface ([Editor], [Deleter], [Reactor], [TypingNotifier]).
package adapters
