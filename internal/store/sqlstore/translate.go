package sqlstore

import (
	"context"
	"slices"
	"strconv"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

// translate fills in the ids the store knows and appends one event, or one for
// each person the item is about.
func (i *ingestTx) translate(ctx context.Context, it spaces.IngestItem) (err error) {
	e := it.Event
	switch b := e.Body.(type) {
	case spaces.Said:
		return i.translateMessage(ctx, it, b)
	case spaces.Joined, spaces.Left:
		return i.translateMembership(ctx, it)
	case spaces.Edited:
		b.Target, b.Ref, err = i.findTarget(ctx, e.Space, b.Target, b.Ref, it.Ref)
		e.Body = b
	case spaces.Deleted:
		b.Target, b.Ref, err = i.findTarget(ctx, e.Space, b.Target, b.Ref, it.Ref)
		e.Body = b
	case spaces.Reacted:
		b.Target, b.Ref, err = i.findTarget(ctx, e.Space, b.Target, b.Ref, it.Ref)
		e.Body = b
	case spaces.Unreacted:
		b.Target, b.Ref, err = i.findTarget(ctx, e.Space, b.Target, b.Ref, it.Ref)
		e.Body = b
	case spaces.Pinned:
		b.Target, b.Ref, err = i.findTarget(ctx, e.Space, b.Target, b.Ref, it.Ref)
		e.Body = b
	case spaces.Unpinned:
		b.Target, b.Ref, err = i.findTarget(ctx, e.Space, b.Target, b.Ref, it.Ref)
		e.Body = b
	case spaces.Renamed, spaces.Migrated, spaces.Linked, spaces.Unlinked, spaces.Delivered, spaces.Failed,
		spaces.Gap, spaces.Unreadable, spaces.Transcribed, spaces.Noted, spaces.Bookmarked, spaces.CycleStarted, spaces.Thought, spaces.ToolCalled,
		spaces.ToolReturned, spaces.CycleSummarised, spaces.Goal, spaces.Remembered, spaces.Forgot, spaces.Denied,
		spaces.Transitioned, spaces.Compacted, spaces.Stopped, spaces.SpanChanged:
		// nothing to look up
	}
	if err != nil {
		return err
	}
	_, err = i.appendEvent(ctx, e)
	return err
}

func (i *ingestTx) translateMessage(ctx context.Context, it spaces.IngestItem, b spaces.Said) error {
	e := it.Event
	for _, m := range it.Mentions {
		id, err := i.entity.resolve(ctx, m)
		if err != nil {
			return err
		}
		if id != "" && !slices.Contains(b.Mentions, id) {
			b.Mentions = append(slices.Clip(b.Mentions), id)
		}
	}
	if b.Ref.IsZero() {
		b.Ref = it.Ref
	}
	if b.ReplyRef.IsZero() {
		b.ReplyRef = it.ReplyRef
	}
	var err error
	if e.ReplyTo == "" {
		if e.ReplyTo, err = i.findMessage(ctx, e.Space, b.ReplyRef); err != nil {
			return err
		}
	}
	if e.ReplyTo == "" && it.ReplyFrom.User != "" {
		if e.ReplyTo, err = i.findRepliedTo(ctx, it); err != nil {
			return err
		}
	}
	if it.ByReply && e.ReplyTo != "" {
		var asked spaces.EntityID
		if _, err := engine.ScanRow(ctx, i, eventActor, []any{string(e.ReplyTo)}, &asked); err != nil {
			return err
		}
		_, b.ToUs = asked.IsAgent()
	}
	e.Body = b
	id, err := i.appendEvent(ctx, e)
	if err != nil || b.Ref.IsZero() || id == "" {
		return err
	}
	e.ID = id
	if err := i.file.addWanted(ctx, e, b); err != nil {
		return err
	}
	return i.Run(ctx, insertMessage, b.Ref.Account, b.Ref.Chat, b.Ref.Message, string(e.Space), string(id), 0, 0)
}

// translateMembership appends one joined or left for each person the item names.
func (i *ingestTx) translateMembership(ctx context.Context, it spaces.IngestItem) error {
	if len(it.Who) == 0 {
		_, err := i.appendEvent(ctx, it.Event)
		return err
	}
	if it.Present {
		var err error
		if it.Who, err = i.space.filterPresent(ctx, it.Event.Space, it.Who); err != nil || len(it.Who) == 0 {
			return err
		}
	}
	for n, who := range it.Who {
		id, err := i.entity.resolve(ctx, who)
		if err != nil {
			return err
		}
		e := it.Event
		by := e.Actor
		if e.Actor == "" {
			e.Actor = id
		}
		if _, left := e.Body.(spaces.Left); left {
			if by == id {
				by = ""
			}
			e.Body = spaces.Left{Who: id, By: by}
		} else {
			e.Body = spaces.Joined{Who: id}
		}
		if n > 0 {
			e.ID = ""
			if e.Source != "" {
				e.Source += "/" + strconv.Itoa(n)
			}
		}
		if _, err := i.appendEvent(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// findTarget finds the message a body is about, by id or by its platform's name.
func (i *ingestTx) findTarget(ctx context.Context, space spaces.SpaceID, id spaces.EventID, own, item spaces.Ref) (spaces.EventID, spaces.Ref, error) {
	if own.IsZero() {
		own = item
	}
	if id != "" {
		return id, own, nil
	}
	id, err := i.findMessage(ctx, space, own)
	return id, own, err
}
