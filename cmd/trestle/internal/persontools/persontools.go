// Package persontools opens the rooms of a person to their own programs, over the
// record and the shell of this process.
package persontools

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/buildinfo"
	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/mcpserver"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// maxRooms is how many rooms of a person a program of theirs sees, the newest.
const maxRooms = 200

// Rooms implements [mcpserver.RoomAccess]. All fields are needed.
type Rooms struct {
	Store    sqlstore.AgentStore
	Shell    *shell.Shell
	Settings func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings
	NewID    func() string
	// Notify tells an account that its outbox has something to send.
	Notify func(account string)
	Logger *slog.Logger
}

var _ mcpserver.RoomAccess = Rooms{}

// Handler returns the handler that serves MCP clients the rooms of the person of a
// request, see [console.AccessOf].
func (r Rooms) Handler() http.Handler {
	return mcpserver.NewHandler(mcpserver.Options{
		Rooms: r, Version: buildinfo.Current().Version, Logger: r.Logger,
		Access: func(q *http.Request) mcpserver.Access {
			a := console.AccessOf(q.Context())
			return mcpserver.Access{Person: a.Person, Name: cmp.Or(a.Name, a.As), Agent: a.Agent, Send: a.Send}
		},
	})
}

// ShowRooms implements [mcpserver.RoomAccess].
func (r Rooms) ShowRooms(ctx context.Context, who spaces.EntityID, show func(*hud.MindView)) error {
	rooms, err := r.Store.RoomsOf(ctx, who, maxRooms)
	if err != nil {
		return err
	}
	return r.Shell.ShowToPerson(ctx, who, rooms, show)
}

// SendMessage implements [mcpserver.RoomAccess].
func (r Rooms) SendMessage(ctx context.Context, agent spaces.AgentID, m mcpserver.Message) (int64, error) {
	settings, now := r.Settings(agent, m.Space), time.Now()
	effect := spaces.RoomEffect{
		Kind: spaces.ActSend, Space: m.Space, Thread: m.Thread, ID: spaces.EventID(r.NewID()), Target: m.ReplyTo, Text: m.Text,
		Mention: shell.ParseMentions(m.Text, m.Members), Seen: m.Seen, MaxRun: spaces.MaxAgentRun, Policy: settings.OnUnknown,
	}
	effect.Chain = spaces.NextChain(nil, "", effect.ID)
	if settings.Expires > 0 {
		effect.Expires = now.Add(settings.Expires)
	}
	done, err := r.Store.SendAs(ctx, spaces.OutsideMessage{Agent: agent, Effect: effect, At: now})
	if err != nil {
		return 0, err
	}
	for _, account := range done.Waiting {
		r.Notify(account)
	}
	r.Shell.Ring(done.Wakes)
	return done.Events[0].Seq, nil
}
