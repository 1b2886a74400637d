package discord

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

var _ adapters.ThreadOpener = (*Client)(nil)

// hasThread is the code for a message on which a thread hangs already.
const hasThread = 160004

// Thread returns the thread on message m, which has the message's id, and opens it
// where there is none. In a forum all messages begin threads.
func (c *messageSender) Thread(ctx context.Context, m adapters.MessageRef, name string) (string, error) {
	to, err := target(m.Chat, "")
	if err != nil {
		return "", err
	}
	ch, err := c.lookUp(ctx, to)
	if err != nil {
		return "", err
	}
	if th, known := c.known.channel(m.Message); isForum(ch.Type) || known && isThread(th.Type) {
		return m.Message, nil
	}
	body := struct {
		Name string `json:"name"`
	}{title(name)}
	var made channel
	r := channelRoute("open thread", http.MethodPost, to, "/messages/"+url.PathEscape(m.Message)+"/threads")
	switch err := c.call(ctx, r, body, leniently(&made)); {
	case refusedWith(err, hasThread):
		return m.Message, nil
	case err != nil:
		return "", err
	case made.ID == "":
		return "", &adapters.Error{Kind: adapters.Unknown, Op: r.op, Err: errUnread}
	}
	made.GuildID, made.ParentID = ch.GuildID, to
	c.known.learnChannel(made)
	return made.ID, nil
}

// inChannelOf applies do to message m in the channel that holds it. A message of a
// thread may be in the parent channel, as the one that the thread began on is; the
// first message of a forum's thread is in that thread.
func (c *messageSender) inChannelOf(ctx context.Context, m adapters.MessageRef, do func(to string) error) error {
	to, err := target(m.Chat, m.Thread)
	if err != nil {
		return err
	}
	if m.Thread == "" || m.Thread == m.Message {
		ch, err := c.lookUp(ctx, m.Chat)
		if err != nil {
			return err
		}
		if to = m.Chat; isForum(ch.Type) {
			to = m.Message
		}
	}
	err = c.reopenAndRetry(ctx, to, do)
	if to == m.Thread && m.Thread != m.Message && refusedWith(err, unknownMessage) {
		return do(m.Chat)
	}
	return err
}

// reopenAndRetry does something to a message of the channel to. In a thread that was put
// away nothing can be changed until it is opened again, which only a new message does
// by itself (docs.discord.com/developers/topics/threads#active--archived-threads).
func (c *messageSender) reopenAndRetry(ctx context.Context, to string, do func(to string) error) error {
	err := do(to)
	if !refusedWith(err, threadArchived) {
		return err
	}
	body := struct {
		Archived bool `json:"archived"`
	}{false}
	switch shut := c.call(ctx, channelRoute("edit channel", http.MethodPatch, to, ""), body, nil); {
	case shut == nil:
		return do(to)
	case adapters.KindOf(shut).Permanent(): // it is locked
		return err
	default:
		return notSent(shut)
	}
}

// threads returns the threads of a channel that everybody in it sees, the oldest
// first: those in use, and the archived ones.
func (c *guildDirectory) threads(ctx context.Context, of channel) ([]string, error) {
	var active threadList
	if err := c.readWithRetry(ctx, guildRoute("get threads", of.GuildID, "/threads/active"), &active); err != nil {
		return nil, err
	}
	archived, err := c.archived(ctx, of, time.Time{})
	if err != nil {
		return nil, err
	}
	var all []string
	for _, th := range append(active.Threads, archived...) {
		if th.ParentID == of.ID && !th.isPrivate() {
			c.known.learnChannel(th.in(of))
			all = append(all, th.ID)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Compare(flake(a), flake(b)) })
	return slices.Compact(all), nil
}

type threadList struct {
	Threads elements[channel] `json:"threads"`
	More    bool              `json:"has_more"`
}

// in returns a thread as one of a channel, which lists leave out.
func (ch channel) in(of channel) channel {
	ch.GuildID, ch.ParentID = of.GuildID, of.ID
	return ch
}

// archived returns the threads of a channel that were put away since, and perhaps
// others: those that everybody may read, and of the private ones those that we are in.
func (c *guildDirectory) archived(ctx context.Context, of channel, since time.Time) ([]channel, error) {
	everybodys, err := c.putAway(ctx, of, "get archived threads", "/threads/archived/public", func(last channel) (string, bool) {
		return last.Archive.At.UTC().Format(time.RFC3339Nano), last.Archive.At.Before(since) // the newest first
	})
	if err != nil {
		return nil, err
	}
	ours, err := c.archivedPrivate(ctx, of)
	return append(everybodys, ours...), err
}

// archivedPrivate returns the private threads of a channel that were put away and that
// we are in.
func (c *guildDirectory) archivedPrivate(ctx context.Context, of channel) ([]channel, error) {
	return c.putAway(ctx, of, "get our archived threads", "/users/@me/threads/archived/private", func(last channel) (string, bool) {
		return last.ID, false // in the order in which they began
	})
}

// putAway reads a list of archived threads page by page, and learns them. next says where the page
// behind a thread begins, and whether there is no use in it.
func (c *guildDirectory) putAway(ctx context.Context, of channel, op, path string, next func(channel) (string, bool)) (all []channel, err error) {
	for before := ""; ; {
		var page threadList
		err := c.readWithRetry(ctx, channelRoute(op, http.MethodGet, of.ID, fmt.Sprintf("%s?limit=%d%s", path, pageSize, before)), &page)
		if err != nil && !adapters.KindOf(err).Permanent() {
			return nil, err
		}
		page.Threads = slices.DeleteFunc(page.Threads, func(th channel) bool { return th.Archive == nil })
		for _, th := range page.Threads {
			all = append(all, th.in(of))
			c.known.learnChannel(th.in(of))
		}
		if !page.More || len(page.Threads) == 0 {
			return all, nil
		}
		at, last := next(page.Threads[len(page.Threads)-1])
		if last {
			return all, nil
		}
		before = "&before=" + url.QueryEscape(at)
	}
}
