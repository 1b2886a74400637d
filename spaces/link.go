package spaces

import "time"

// LinkTTL is how long a code that links two accounts of a person is good.
const LinkTTL = 10 * time.Minute

// A LinkCode is a person who asks, in a direct chat, to be known by another account of
// theirs as well. They write the code in the direct chat of that account.
type LinkCode struct {
	Code    string
	Of      PlatformIdentity // who asked
	Account string           // through which they asked
	Chat    string           // in which they asked
	Expires time.Time
}

// A LinkAction is what is done with a [LinkCode].
type LinkAction uint8

// The actions.
const (
	// ShowLink shows a person whose code it is.
	ShowLink LinkAction = iota
	// ConfirmLink links the account of a person to that of the code, which is used up. The
	// code must have been shown to that person.
	ConfirmLink
	// VoidLink uses up the code and does nothing else.
	VoidLink
)

// A LinkStep is what a person does with a code that they were given.
type LinkStep struct {
	Code string
	By   PlatformIdentity
	Do   LinkAction
	At   time.Time
}
