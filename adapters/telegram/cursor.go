package telegram

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// position is how far receiving has come. Stored as decimal numbers with spaces
// between: the next offset, when the platform was last heard, when it last had
// something for us, both in Unix seconds, and 1 at the end if it calls us.
type position struct {
	offset int64 // 0: none yet, ask for the oldest the platform holds
	heard  int64
	moved  int64
	called int64 // 1: our own webhook is set; see called
}

// errCursor means that stored bytes are no cursor of ours.
var errCursor = errors.New("the stored cursor is not one of telegram's")

// parsePosition reads a cursor; nil is the zero position. A cursor that lacks
// its times is read with them zero.
func parsePosition(cursor []byte) (position, error) {
	var p position
	fields := bytes.Fields(cursor)
	if len(fields) > 4 || (len(fields) == 0 && len(cursor) > 0) {
		return p, errCursor
	}
	for i, into := range []*int64{&p.offset, &p.heard, &p.moved, &p.called}[:len(fields)] {
		n, err := strconv.ParseInt(string(fields[i]), 10, 64)
		if err != nil || n < 0 {
			return position{}, errCursor
		}
		*into = n
	}
	return p, nil
}

// cursor returns the stored form of p.
func (p position) cursor() []byte {
	if p.called != 0 {
		return fmt.Appendf(nil, "%d %d %d %d", p.offset, p.heard, p.moved, p.called)
	}
	return fmt.Appendf(nil, "%d %d %d", p.offset, p.heard, p.moved)
}

// Telegram keeps updates for a day, and gives random update ids after a week of
// silence (core.telegram.org/bots/api#update, #getupdates).
const (
	retention = 24 * time.Hour
	restart   = 6 * 24 * time.Hour
	renewal   = 10 * time.Minute // how stale a stored "heard" may grow in a quiet time
)

// ask returns the offset to poll with; 0 asks without one.
//
// After a long silence the ids may have started anew below our offset. Asking
// without one is safe then: all that we confirmed is long forgotten there.
func (p position) ask(now time.Time) int64 {
	if p.moved > 0 && now.Sub(time.Unix(p.moved, 0)) > restart {
		return 0
	}
	return p.offset
}

// lost returns the stretch of time whose updates the platform dropped before
// now, if there is one.
func (p position) lost(now time.Time) (from, to time.Time, ok bool) {
	from, to = time.Unix(p.heard, 0), now.Add(-retention)
	return from, to, p.heard > 0 && from.Before(to)
}

// calledAt is the position of an account whose platform calls us. It has no
// offset: calls for several chats are under way at once, so that the highest
// update taken says nothing of those below it. A poll after it asks for the
// oldest the platform still holds, and what comes twice changes nothing.
func calledAt(now time.Time) position {
	return position{heard: now.Unix(), moved: now.Unix(), called: 1}
}

// stale reports whether the stored time of the last poll should be renewed even
// though nothing came, so that a quiet week is not taken for an outage.
func (p position) stale(now time.Time) bool {
	return now.Sub(time.Unix(p.heard, 0)) >= renewal
}
