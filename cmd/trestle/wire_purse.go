package main

import (
	"context"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/notify"
)

// A purse is an account's budget with whoever keeps it for all processes. The
// account is in braces, so that a cluster keeps what belongs together on one server.
type purse struct {
	notify.Treasurer
	account string
}

var _ activity.Purse = purse{}

// Take implements [activity.Purse].
func (p purse) Take(ctx context.Context, chat string, ofChat, whole adapters.Pace, patience time.Duration) (wait time.Duration, taken bool, err error) {
	var all []notify.Budget
	for _, b := range []notify.Budget{{Key: p.key(chat), Every: ofChat.Every, Burst: ofChat.Burst}, {Key: p.key(""), Every: whole.Every, Burst: whole.Burst}} {
		if b.Every > 0 {
			all = append(all, b)
		}
	}
	return p.Treasurer.Take(ctx, patience, all...)
}

// Hold implements [activity.Purse].
func (p purse) Hold(ctx context.Context, chat string, d time.Duration) error {
	return p.Treasurer.Hold(ctx, p.key(chat), d)
}

func (p purse) key(chat string) string { return "{" + p.account + "}:" + chat }
