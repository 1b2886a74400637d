package server

import (
	"context"
	"net/http"

	"golang.org/x/sync/errgroup"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/local"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/backup"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/history"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/jobs"
	"github.com/trestle-bridge/trestle/spaces"
)

// controlServer answers on the control socket.
type controlServer struct{ *Server }

// control opens the socket and serves it in g. A process without a socket still runs; commands
// that need it fail.
func (s *Server) control(ctx context.Context, g *errgroup.Group) {
	if _, taken := control.DialSocket(ctx, s.Socket()); taken { // both write one database
		s.Log.Warn("another process of this data folder answers commands", "socket", s.Socket())
		return
	}
	ln, err := control.OpenSocket(ctx, s.Socket())
	if err != nil {
		s.Log.Warn("control socket not available", "error", err)
		return
	}
	g.Go(func() error { return control.ServeHTTP(ctx, ln, controlServer{s}.controlHandler()) })
}

func (ctl controlServer) controlHandler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", ctl.Console.Socket())
	mux.HandleFunc("POST /mcp", ctl.servePersonTools)
	mux.HandleFunc("GET /mcp", ctl.servePersonTools)
	mux.HandleFunc("GET /mcp/access", ctl.serveAccess)
	mux.HandleFunc("POST /pair", control.HandleJSON(ctl.pair))
	mux.HandleFunc("POST /pair/revoke", control.HandleJSON(ctl.revoke))
	mux.HandleFunc("GET /pair", ctl.servePairings)
	mux.HandleFunc("GET /tools", ctl.serveOutsideTools)
	mux.HandleFunc("POST /tools/accept", control.HandleJSON(toolDesk(ctl).AcceptTools))
	mux.HandleFunc("POST /tools/call", control.HandleJSON(ctl.tryTool))
	mux.HandleFunc("GET /approvals", ctl.serveApprovals)
	mux.HandleFunc("POST /approvals", control.HandleJSON(toolDesk(ctl).DecideApproval))
	mux.HandleFunc("POST /prompts", control.HandleJSON(ctl.promptAccess().Change))
	mux.HandleFunc("POST /missions", control.HandleJSON(ctl.stepMission))
	mux.HandleFunc("POST /jobs", control.HandleJSON(ctl.askJob))
	mux.HandleFunc("POST /forget", control.HandleJSON(ctl.forget))
	mux.HandleFunc("POST /correct", control.HandleJSON(ctl.correct))
	mux.HandleFunc("POST /import", control.HandleJSON(ctl.addImport))
	mux.HandleFunc("POST /backfill", control.HandleJSON(ctl.addBackfill))
	mux.HandleFunc("POST /backup", control.HandleJSON(ctl.addBackup))
	mux.HandleFunc("POST /chat/say", control.HandleJSON(ctl.say))
	mux.HandleFunc("POST /chat/reason", control.HandleJSON(ctl.sayReason))
	mux.HandleFunc("POST /chat/quiet", control.HandleJSON(ctl.sayQuiet))
	mux.HandleFunc("GET /chat", ctl.serveChat)
	mux.HandleFunc("GET /doctor", ctl.serveDoctor)
	mux.HandleFunc("POST /doctor", control.HandleJSON(ctl.examine))
	mux.HandleFunc("POST /problems/ack", control.HandleJSON(ctl.ack))
	mux.HandleFunc("GET "+control.UnstoredProblemsPath, ctl.serveUnkept)
	return mux
}

// say records a line that a person wrote in a terminal.
func (ctl controlServer) say(ctx context.Context, q control.SayRequest) (a control.SayAnswer, err error) {
	room, err := ctl.FindRoom(q.Space)
	if err == nil {
		a.Message, err = ctl.rooms.Say(ctx, TerminalPerson(q.As), local.HumanLine{Chat: room.Key, Text: q.Text})
	}
	return a, err
}

// sayReason waits until a line was judged and returns why it woke no agent.
func (ctl controlServer) sayReason(ctx context.Context, q control.ReasonRequest) (a control.ReasonAnswer, err error) {
	room, err := ctl.FindRoom(q.Space)
	if err == nil {
		a.Reason, err = waitReason(ctx, ctl.SpaceManager, room.Key, q.Message)
	}
	return a, err
}

// sayQuiet waits until no work is in progress and shows that in a room.
func (ctl controlServer) sayQuiet(ctx context.Context, q control.QuietRequest) (control.EmptyAnswer, error) {
	room, err := ctl.FindRoom(q.Space)
	if err == nil {
		err = ctl.WaitQuiet(ctx)
	}
	if err == nil {
		err = ctl.rooms.Typing(ctx, adapters.MessageRef{Chat: room.Key, Thread: control.QuietMark + q.Mark})
	}
	return control.EmptyAnswer{}, err
}

// serveChat streams a room to the caller until it disconnects.
func (ctl controlServer) serveChat(rw http.ResponseWriter, r *http.Request) {
	place, err := ctl.EnterRoom(r.Context(), r.URL.Query().Get("space"))
	if err != nil {
		control.WriteError(rw, err)
		return
	}
	defer ctl.Leave(r.Context(), place)
	out := console.StartStream(rw)
	for n := int64(1); ; n++ {
		heard, err := place.Hear(r.Context())
		if err != nil || out.Send(n, heard) != nil {
			return
		}
	}
}

// Leave ends a terminal's stay in a room, also after ctx has ended.
func (sm *SpaceManager) Leave(ctx context.Context, place *LocalRoom) {
	if err := WithGrace(ctx, place.Leave); err != nil {
		sm.Log.Warn("room not left", "space", place.Room.Key, "error", err)
	}
}

// addBackup adds a backup job and notifies the runner of this process.
func (ctl controlServer) addBackup(ctx context.Context, q backup.CopyRequest) (backup.CopyResult, error) {
	a, err := ctl.backupJob().Add(ctx, q.File)
	ctl.notifier.Ring(backupsKey)
	return a, err
}

// addBackfill adds a backfill job and notifies the runner of this process.
func (ctl controlServer) addBackfill(ctx context.Context, q history.BackfillRequest) (jobs.JobSnapshot, error) {
	chats, err := history.SpaceChats(ctx, ctl.Store, q.Space)
	if err != nil {
		return jobs.JobSnapshot{}, err
	}
	j, err := ctl.backfillJob().Add(ctx, q, chats)
	ctl.notifier.Ring(jobsKey)
	return jobs.Shown(j), err
}

// addImport adds an import job and notifies the runner of this process.
func (ctl controlServer) addImport(ctx context.Context, q history.ImportRequest) (jobs.JobSnapshot, error) {
	j, err := ctl.importJob().Add(ctx, q)
	ctl.notifier.Ring(jobsKey)
	return jobs.Shown(j), err
}

// requestedAccess returns what the query of a request over the control socket asks to
// open: who may open the socket may open the rooms of everyone.
func (ctl controlServer) requestedAccess(r *http.Request) (console.PersonAccess, error) {
	q := r.URL.Query()
	return ctl.grantAccess(r.Context(), console.TokenRequest{As: q.Get("as"), Agent: spaces.AgentID(q.Get("agent")), Send: q.Get("send") == "true"})
}

// servePersonTools serves an MCP client over the control socket.
func (ctl controlServer) servePersonTools(rw http.ResponseWriter, r *http.Request) {
	a, err := ctl.requestedAccess(r)
	if err != nil {
		control.WriteError(rw, err)
		return
	}
	ctl.Console.PersonTools.ServeHTTP(rw, r.WithContext(console.WithAccess(r.Context(), a)))
}

// serveAccess tells what such a client would open.
func (ctl controlServer) serveAccess(rw http.ResponseWriter, r *http.Request) {
	a, err := ctl.requestedAccess(r)
	if err != nil {
		control.WriteError(rw, err)
		return
	}
	control.WriteJSON(rw, http.StatusOK, a)
}
