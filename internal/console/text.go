package console

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

// Plain returns text with everything that could steer a terminal or turn what
// is read around shown as an escape: control characters but line breaks and
// tabs, marks of direction, and line separators.
func Plain(text string) string {
	if !strings.ContainsFunc(text, steers) {
		return strings.ToValidUTF8(text, "\ufffd")
	}
	var out strings.Builder
	for _, r := range text {
		switch {
		case !steers(r):
			out.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&out, "\\x%02x", r)
		default:
			fmt.Fprintf(&out, "\\u%04x", r)
		}
	}
	return out.String()
}

func steers(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case unicode.IsControl(r):
		return true
	case r >= 0x200e && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0xfeff, r >= 0xe0000 && r <= 0xe007f:
		return true
	}
	return false
}

// Because writes a reason behind what it is the reason of; empty for none.
func Because(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

// Span writes a length of time for people.
func Span(d time.Duration) string {
	switch {
	case d < time.Second:
		return strconv.FormatInt(max(d.Milliseconds(), 0), 10) + " ms"
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + " m"
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d m", int(d.Hours()), int(d.Minutes())%60)
	}
	return strconv.Itoa(int(d.Hours()/24)) + " d"
}

// Percent writes a part as a percentage of the whole.
func Percent[N int | int64](part, whole N) string {
	if whole <= 0 {
		return "0 %"
	}
	return fmt.Sprintf("%d %%", part*100/whole)
}

// Size writes a number of bytes for people.
func Size(n int64) string {
	f, unit := float64(n), 0
	for f >= 1000 && unit < 4 {
		f, unit = f/1000, unit+1
	}
	if unit == 0 {
		return strconv.FormatInt(n, 10) + " B"
	}
	return fmt.Sprintf("%.1f %cB", f, "kMGT"[unit-1])
}

// FormatInt writes a number in decimal.
func FormatInt(n int64) string { return strconv.FormatInt(n, 10) }

// NarrowThousands writes a number with narrow spaces between its thousands.
func NarrowThousands(n int) string {
	text := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, text = "-", text[1:]
	}
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "\u202f" + text[i:]
	}
	return sign + text
}

// ClipLine returns text on one line, of at most n letters.
func ClipLine(text string, n int) string {
	text = strings.Join(strings.Fields(text), " ")
	letters := []rune(text)
	if len(letters) <= n {
		return text
	}
	return string(letters[:n-1]) + "…"
}

// Actors returns who did the events, each once.
func Actors(events []spaces.Event) []spaces.EntityID {
	var ids []spaces.EntityID
	for _, e := range events {
		ids = append(ids, e.Actor)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// NameOf returns the name of an actor, or the id if no name is known.
func NameOf(id spaces.EntityID, names map[spaces.EntityID]spaces.Entity) string {
	return cmp.Or(names[id].Name, string(id))
}

// withAttachments returns the words of a message followed by what it carries.
func withAttachments(text string, carried []spaces.FileAttachment) string {
	for _, a := range carried {
		text = strings.TrimSpace(text + " [" + a.Kind + Because(a.Name) + "]")
	}
	return text
}

// DescribeEvent describes an event in words.
func DescribeEvent(b spaces.EventBody) string {
	switch b := b.(type) {
	case spaces.MessagePosted:
		return withAttachments(b.Text, b.Attachments)
	case spaces.MessageEdited:
		return "edited to: " + withAttachments(b.Text, b.Attachments)
	case spaces.VoiceTranscribed:
		return "heard: " + b.Text
	case spaces.MessageDeleted:
		return "deleted a message"
	case spaces.ReactionAdded:
		return "reacted " + b.Emoji
	case spaces.ReactionRemoved:
		if b.Everybody {
			return strings.TrimSpace("took off everybody's " + b.Emoji)
		}
		return "took back " + b.Emoji
	case spaces.MemberJoined:
		return string(b.Who) + " joined"
	case spaces.MemberLeft:
		return string(b.Who) + " left"
	case spaces.SpaceRenamed:
		return "renamed to " + b.Title
	case spaces.MessagePinned:
		return "pinned a message"
	case spaces.MessageUnpinned:
		return "unpinned a message"
	case spaces.ChatMigrated:
		return "the chat goes on as " + b.To
	case spaces.ChatLinked:
		return "linked to " + b.Account + " " + b.Chat
	case spaces.ChatUnlinked:
		return "unlinked from " + b.Account + " " + b.Chat + Because(b.Reason)
	case spaces.ActionDelivered:
		return "delivered in " + textformat.CountNoun(len(b.Refs), "part")
	case spaces.SendFailed:
		return string(b.State) + Because(b.Reason)
	case spaces.HistoryGap:
		return "nobody can tell what was said here" + Because(b.Reason)
	case spaces.UnreadableUpdate:
		return "something that could not be read" + Because(b.Reason)
	case spaces.NoteAdded, spaces.BookmarkSet, spaces.CycleStarted, spaces.ThoughtRecorded, spaces.ToolCalled, spaces.ToolReturned, spaces.CycleSummarised,
		spaces.GoalSet, spaces.MemoryAdded, spaces.MemoryRemoved, spaces.CallDenied, spaces.StatesChanged, spaces.ContextCompacted, spaces.CycleStopped,
		spaces.SpanChanged:
		return string(b.Kind()) // of an inner log, which these pages do not list
	}
	panic("console: an unknown body")
}
