package slack

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

// The keys below are the identity of what happened, never of its
// delivery: event ids name a delivery, and the same message comes as message and
// as app_mention, and again from history. Every key begins with its kind. A ts is
// Slack's name for a message, unique within its channel, and its time.

// messageKey names what was said.
func messageKey(channel, ts string) string { return messagePrefix + channel + ":" + ts }

const messagePrefix = "message:"

// editKey names one version of a message: by the time of the edit, or by the
// words where Slack does not say it.
func editKey(channel, ts, edited, content string) string {
	return "edit:" + channel + ":" + ts + ":" + cmp.Or(edited, adapters.HashContent(content))
}

// deleteKey names the end of a message.
func deleteKey(channel, ts string) string { return "delete:" + channel + ":" + ts }

// eventKey names a fact that has a time of its own and happens in a channel.
func eventKey(kind, channel string, about ...string) string {
	return kind + ":" + channel + ":" + strings.Join(about, ":")
}

// timeOf returns the time in a ts; the zero time when it holds none.
func timeOf(ts string) time.Time {
	whole, part, _ := strings.Cut(ts, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || seconds <= 0 {
		return time.Time{}
	}
	micros, _ := strconv.ParseInt((part + "000000")[:6], 10, 64) // none is zero
	return time.Unix(seconds, micros*1000).UTC()
}

func tsAt(t time.Time) string {
	return fmt.Sprintf("%d.%06d", t.Unix(), t.Nanosecond()/1000)
}

// compareTS orders by time. Both have the form of Slack's: digits, a point, six
// digits.
func compareTS(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// later reports whether a is after b.
func later(a, b string) bool { return compareTS(a, b) > 0 }
