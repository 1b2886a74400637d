package console

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

type nowPage struct {
	pageLayout
	Open         []Problem
	Tally        Totals
	Cap, CapHigh int // tokens of a day; 0: no limit
	Minds        []mindRow
	More         bool // minds than these
	Adapters     []Adapter
	Latest       []recentEvent
}

// A recentEvent is one event in a list of what came last.
type recentEvent struct {
	At    time.Time
	Space spaces.SpaceID
	Seq   int64
	Kind  spaces.EventKind
	Who   string
	What  string
}

func (c *Console) pageNow(r *http.Request) (view, error) {
	p := &nowPage{pageLayout: pageLayout{Title: "Now", Terminal: "trestle status"}}
	var err error
	if p.Tally, err = c.Record.Tally(r.Context(), time.Now()); err != nil {
		return nil, err
	}
	minds, older, err := c.latestMinds(r, rowsAtGlance)
	if err != nil {
		return nil, err
	}
	if p.Open, err = c.Process.Problems(r.Context()); err != nil {
		return nil, err
	}
	if p.Latest, err = c.latest(r, 15); err != nil {
		return nil, err
	}
	p.Minds, p.More, p.Adapters = minds, older != "", c.Process.Adapters()
	p.Cap = c.dayCap()
	p.CapHigh = p.Cap * 4 / 5
	return p, nil
}

// dayCap returns the tokens that a day may take, as the configuration says.
func (c *Console) dayCap() int {
	for _, row := range c.Settings.Rows() {
		if row.Path == "budget.per_day" {
			n, _ := strconv.Atoi(row.Value) // one that is written with a unit is not shown
			return n
		}
	}
	return 0
}

// latest returns what was recorded last, newest first.
func (c *Console) latest(r *http.Request, limit int) ([]recentEvent, error) {
	events, err := c.Record.Recent(r.Context(), "", limit)
	if err != nil {
		return nil, err
	}
	names, err := c.Record.Names(r.Context(), Actors(events))
	if err != nil {
		return nil, err
	}
	all := make([]recentEvent, len(events))
	for i, e := range events {
		all[len(events)-1-i] = recentEvent{e.At, e.Space, e.Seq, e.Body.Kind(), nameOf(e.Actor, names), tellingOf(e.Body)}
	}
	return all, nil
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

func nameOf(id spaces.EntityID, names map[spaces.EntityID]spaces.Entity) string {
	return cmp.Or(names[id].Name, string(id))
}

// tellingOf says in words what an event is.
func tellingOf(b spaces.EventBody) string {
	switch b := b.(type) {
	case spaces.MessagePosted:
		text := b.Text
		for _, a := range b.Attachments {
			text = strings.TrimSpace(text + " [" + a.Kind + Because(a.Name) + "]")
		}
		return text
	case spaces.MessageEdited:
		return "edited to: " + b.Text
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
