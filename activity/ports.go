package activity

import (
	"context"
	"errors"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// ErrUnmapped is returned when a chat belongs to no space.
var ErrUnmapped = errors.New("chat is mapped to no space")

// Directory knows which chat belongs to which space.
type Directory interface {
	// Place returns where the updates of a chat go; several when it is mapped to
	// several spaces. No placement is [ErrUnmapped].
	Place(ctx context.Context, account, chat string) ([]spaces.Placement, error)
	// Open makes sure of a space, its chats and its agents' uplinks, in one
	// transaction, and returns it. Opening what is already so changes nothing.
	Open(ctx context.Context, o spaces.Opening) (spaces.Placement, error)
	// Migrate moves every mapping of a chat to its new id and records it.
	Migrate(ctx context.Context, account, from, to string, at time.Time) error
	// Live notes that a chat can or cannot be reached. It opens or closes the
	// connection spans of its space and records linked or unlinked.
	Live(ctx context.Context, account, chat string, live bool, reason string, at time.Time) error
}

// Log takes what adapters received.
type Log interface {
	// Record appends a batch, its cursor and the inbox rows of every uplinked
	// mind, in one transaction. An item already recorded (same source) changes
	// nothing. An item that does not cohere is recorded as such and does not
	// stop the others.
	Record(ctx context.Context, in spaces.Intake) (spaces.Recorded, error)
	// Cursor returns what the last recorded batch of the account carried, or nil.
	Cursor(ctx context.Context, account string) ([]byte, error)
	// Hearing closes the open spans of every space of the account when it went
	// deaf, and opens new ones when it hears again.
	Hearing(ctx context.Context, account string, hears bool, at time.Time) error
}

// Outbox holds decided actions until a platform has them.
type Outbox interface {
	// Claim moves due actions of the account to sending, durably, and returns
	// them: at most one for each chat and thread, the oldest, and none behind one
	// that is still under way. Expired ones are settled as such on the way.
	Claim(ctx context.Context, account string, at time.Time, limit int) ([]spaces.Action, error)
	// Settle records what became of sends, all in one transaction: receipts,
	// retry times, failures, each with its event.
	Settle(ctx context.Context, at time.Time, s []Settlement) error
	// Next returns when the account's earliest waiting action becomes due, and
	// false when none waits.
	Next(ctx context.Context, account string) (time.Time, bool, error)
	// Recover puts back what an earlier process left in sending (K16 … K18): ready
	// again if its policy allows a second copy, otherwise unknown with its event.
	Recover(ctx context.Context, account string, at time.Time) error
	// Where returns the platform's names of a message in one chat, one a part;
	// none when it never arrived there.
	Where(ctx context.Context, account, chat string, message spaces.EventID) ([]spaces.Ref, error)
}

// A Settlement is what became of one attempt at one part of an action.
type Settlement struct {
	Action spaces.ActionID
	// State is Sent when this part was accepted and More is false, Sending when it
	// was accepted and another part follows at once, Ready to try again at
	// NotBefore, or a terminal state.
	State     spaces.ActionState
	Ref       spaces.Ref // the accepted part; zero otherwise
	NotBefore time.Time
	Resent    bool // the next attempt repeats an unknown one
	MovedTo   string
	Code      string // adapters.Kind as text, for failures
	Reason    string // a plain sentence for the agent
	// Cut is true when the text was sent in another form than asked (for explain).
	Cut bool
}
