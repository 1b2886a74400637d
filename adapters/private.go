package adapters

import "context"

// A PrivateSender can show a message in a group to one person alone.
type PrivateSender interface {
	// SendPrivate posts one part in a chat of several people so that only the person with
	// the platform id to sees it. Files, choices and the persona of p are ignored. The
	// receipt names no message, unless the platform showed it to everybody because it is
	// too old to do otherwise. Where the person cannot be reached so, the error is
	// [FailureKind.Permanent], and nothing was shown.
	SendPrivate(ctx context.Context, to string, p OutgoingMessage) (Receipt, error)
}
