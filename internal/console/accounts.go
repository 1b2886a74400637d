package console

import (
	"context"
	"time"
)

// Accounts is what the record knows of accounts on platforms.
type Accounts interface {
	// Accounts returns every account that the record has to do with, by its key.
	Accounts(ctx context.Context) ([]Account, error)
}

// An Account is one account as the record knows it.
type Account struct {
	Account string    `json:"account"`
	Heard   time.Time `json:"heard"`   // when something was last recorded; zero if never
	Said    time.Time `json:"said"`    // when something was last sent; zero if never
	Waiting int       `json:"waiting"` // to be sent
	Unknown int       `json:"unknown"` // that may have arrived
}
