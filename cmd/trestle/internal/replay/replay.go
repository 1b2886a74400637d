// Package replay records the lines of a file in a database of its own, so that frames
// can be rendered over them.
package replay

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/activity/access"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/local"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/hud/recall"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// replayAgent is who listens to what is replayed.
const replayAgent = spaces.AgentID("trestle")

// replayBatch is the most lines that are recorded at once.
const replayBatch = 500

// A ReplayedRooms is a throw-away record with the rooms of a file in it, and one mind
// that is connected to all of them. It has its own time: that of the lines.
type ReplayedRooms struct {
	store   *sqlstore.Store
	mapping *activity.SpaceMapping
	rooms   *local.RoomAdapter
	account adapters.BotAccount
	shell   *shell.Shell
	mind    spaces.Mind
	spaces  map[string]spaces.SpaceID
	clock   atomic.Int64 // Unix milliseconds
	asked   int
	Weights *recall.RankWeights
	// AsRunning divides the tokens of frames as a running program does.
	AsRunning bool
}

// RunReplay makes the rooms that the lines name and hands the replay to do.
func RunReplay(ctx context.Context, lines []FileLine, do func(context.Context, *ReplayedRooms) error) (err error) {
	dir, err := os.MkdirTemp("", "trestle-replay-")
	if err != nil {
		return fmt.Errorf("make room for a replay: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	quiet := slog.New(slog.DiscardHandler)
	store, err := sqlite.Open(ctx, sqlite.Options{Dir: dir, NewID: storeopen.NewID, Logger: quiet})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close(context.WithoutCancel(ctx))) }()
	r := &ReplayedRooms{
		store: store, mapping: activity.NewSpaceMapping(store.Border(), store.Border()), rooms: local.New(local.Options{NewID: storeopen.NewID}),
		mind: spaces.Mind{Agent: replayAgent, Circle: "home"}, spaces: map[string]spaces.SpaceID{},
	}
	r.clock.Store(lines[0].At.UnixMilli())
	if err := r.open(ctx, lines); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	g, ctx := errgroup.WithContext(ctx)
	in := activity.NewIngress(r.account, r.mapping, store.Border(), store.Border(), store.Border(), r.reception(quiet))
	g.Go(func() error { return r.rooms.Receive(ctx, nil, in) })
	g.Go(func() error {
		defer stop()
		return do(ctx, r)
	})
	return g.Wait()
}

// open makes the agent and every room, and the shell that looks at them.
func (r *ReplayedRooms) open(ctx context.Context, lines []FileLine) (err error) {
	border := r.store.Border()
	if err := border.Agents(ctx, []spaces.Entity{{ID: replayAgent.Entity(), Kind: spaces.Agent, Name: "Trestle", Handle: string(replayAgent)}}); err != nil {
		return err
	}
	if r.account, err = r.rooms.Connect(ctx); err != nil {
		return err
	}
	for _, l := range lines {
		if _, ok := r.spaces[l.Space]; ok {
			continue
		}
		r.rooms.Open(adapters.Chat{ID: l.Space, Kind: adapters.Group, Title: l.Space})
		placed, err := r.mapping.Open(ctx, spaces.OpenRequest{
			Name: l.Space, Circle: r.mind.Circle, Wake: spaces.WakeMention, Closed: true, Agents: []spaces.AgentID{replayAgent}, At: r.now(),
			Chats: []spaces.ChatMapping{{Account: r.account.Key(), Chat: l.Space, Title: l.Space, Live: true}},
		})
		if err != nil {
			return fmt.Errorf("open %q: %w", l.Space, err)
		}
		r.spaces[l.Space] = placed.Space
	}
	view := r.store.Shell()
	r.shell = shell.New(shell.Options{
		Inbox: view, Journal: view, Record: view, Halter: view, Agents: []shell.Agent{{ID: replayAgent, Name: "Trestle"}},
		Settings: func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings { return shell.DefaultSettings() },
		Counter:  new(hud.TokenCounter), Holder: "replay", NewID: storeopen.NewID, Logger: slog.New(slog.DiscardHandler),
	})
	return nil
}

func (r *ReplayedRooms) reception(quiet *slog.Logger) activity.IngressOptions {
	named := map[spaces.SpaceID][]spaces.AgentID{}
	for _, id := range r.spaces {
		named[id] = []spaces.AgentID{replayAgent}
	}
	return activity.IngressOptions{Admit: access.AdmitDeny, Named: named, Now: r.now, Logger: quiet}
}

func (r *ReplayedRooms) now() time.Time { return time.UnixMilli(r.clock.Load()).UTC() }

// RecordLines records lines in order of time. Those of one room that belong to one
// stretch of talk go together; silence between them is silence in the record.
func (r *ReplayedRooms) RecordLines(ctx context.Context, lines []FileLine) error {
	waiting := map[string][]adapters.Update{}
	var order []string
	hand := func(space string) error {
		updates := waiting[space]
		if len(updates) == 0 {
			return nil
		}
		delete(waiting, space)
		r.clock.Store(updates[len(updates)-1].At.UnixMilli())
		return r.rooms.Recount(ctx, space, updates)
	}
	for _, l := range lines {
		before := waiting[l.Space]
		if n := len(before); n > 0 && (n >= replayBatch || l.At.Sub(before[n-1].At) >= time.Hour) {
			if err := hand(l.Space); err != nil {
				return err
			}
		}
		if len(waiting[l.Space]) == 0 {
			order = append(order, l.Space)
		}
		waiting[l.Space] = append(waiting[l.Space], l.update())
	}
	for _, space := range order {
		if err := hand(space); err != nil {
			return err
		}
	}
	return nil
}

// update is a line as a platform would have told of it.
func (l FileLine) update() adapters.Update {
	m := adapters.IncomingMessage{ID: l.ID, Text: l.Text}
	if l.ReplyTo != nil {
		m.ReplyTo = *l.ReplyTo
	}
	u := adapters.Update{
		ID: l.ID, Key: "said:" + l.Space + "\x00" + l.ID, Thread: adapters.Thread{ID: l.Thread}, At: l.At.Time, Body: m,
		From: adapters.Person{ID: l.From, Kind: adapters.Human, Name: l.From},
	}
	if l.Edits != "" {
		m.ID = l.Edits
		u.Body = adapters.MessageEdit{New: m}
	}
	return u
}

// PreviewFrame records the question as a message, renders the frame it would cause, and takes
// the question back, so that the next one is asked of the same record.
func (r *ReplayedRooms) PreviewFrame(ctx context.Context, q FileLine, tokens int) (done shell.PreviewFrame, err error) {
	r.asked++
	said := q
	said.ID = fmt.Sprintf("question %d: %s", r.asked, q.ID)
	r.clock.Store(max(r.clock.Load(), q.At.UnixMilli()))
	if err := r.rooms.Recount(ctx, q.Space, []adapters.Update{said.update()}); err != nil {
		return done, err
	}
	done, err = r.shell.Preview(ctx, shell.WakePreview{
		Mind: r.mind, Space: r.spaces[q.Space], Tokens: tokens, Weights: r.Weights, AsRunning: r.AsRunning,
		Message: spaces.MessageRef{Account: r.account.Key(), Chat: q.Space, Message: said.ID},
	})
	if err != nil {
		return done, err
	}
	back := said.update()
	back.Key, back.Body = "deleted:"+back.Key, adapters.MessageDeletion{Messages: []string{said.ID}}
	return done, r.rooms.Recount(ctx, q.Space, []adapters.Update{back})
}
