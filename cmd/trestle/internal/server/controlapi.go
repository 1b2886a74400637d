package server

import (
	"context"
	"net/http"

	"golang.org/x/sync/errgroup"

	"github.com/trestle-bridge/trestle/adapters/local"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
	"github.com/trestle-bridge/trestle/internal/console"
)

// control opens the socket and has g serve it. Without it the process runs all
// the same; commands that need it then say so.
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
	g.Go(func() error { return control.ServeHTTP(ctx, ln, s.controlHandler()) })
}

func (s *Server) controlHandler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", s.Console.Socket())
	mux.HandleFunc("POST /pair", control.HandleJSON(s.pair))
	mux.HandleFunc("POST /pair/revoke", control.HandleJSON(s.revoke))
	mux.HandleFunc("GET /pair", s.servePairings)
	mux.HandleFunc("POST /jobs", control.HandleJSON(s.askJob))
	mux.HandleFunc("POST /forget", control.HandleJSON(s.forget))
	mux.HandleFunc("POST /correct", control.HandleJSON(s.correct))
	mux.HandleFunc("POST /import", control.HandleJSON(s.addImport))
	mux.HandleFunc("POST /backfill", control.HandleJSON(s.addBackfill))
	mux.HandleFunc("POST /backup", control.HandleJSON(s.addBackup))
	mux.HandleFunc("POST /chat/say", control.HandleJSON(s.say))
	mux.HandleFunc("POST /chat/quiet", control.HandleJSON(s.sayQuiet))
	mux.HandleFunc("GET /chat", s.serveChat)
	mux.HandleFunc("GET /doctor", s.serveDoctor)
	mux.HandleFunc("POST /doctor", control.HandleJSON(s.examine))
	mux.HandleFunc("POST /problems/ack", control.HandleJSON(s.ack))
	mux.HandleFunc("GET "+control.UnstoredProblemsPath, s.serveUnkept)
	return mux
}

// say records a line that a person wrote in a terminal.
func (s *Server) say(ctx context.Context, q control.SayRequest) (control.EmptyAnswer, error) {
	room, err := s.FindRoom(q.Space)
	if err == nil {
		_, err = s.rooms.Say(ctx, TerminalPerson(q.As), local.HumanLine{Chat: room.Key, Text: q.Text})
	}
	return control.EmptyAnswer{}, err
}

// sayQuiet marks in a room the moment in which nothing is under way any more.
func (s *Server) sayQuiet(ctx context.Context, q control.QuietRequest) (control.EmptyAnswer, error) {
	room, err := s.FindRoom(q.Space)
	if err == nil {
		err = s.WaitQuiet(ctx)
	}
	if err == nil {
		err = s.rooms.Typing(ctx, room.Key, control.QuietMark+q.Mark)
	}
	return control.EmptyAnswer{}, err
}

// serveChat seats the caller in a room for as long as it listens.
func (s *Server) serveChat(rw http.ResponseWriter, r *http.Request) {
	place, err := s.EnterRoom(r.Context(), r.URL.Query().Get("space"))
	if err != nil {
		control.WriteError(rw, err)
		return
	}
	defer s.Leave(r.Context(), place)
	out := console.StartStream(rw)
	for n := int64(1); ; n++ {
		heard, err := place.Hear(r.Context())
		if err != nil || out.Send(n, heard) != nil {
			return
		}
	}
}

// Leave gives a seat up although the caller has gone.
func (s *Server) Leave(ctx context.Context, place *LocalRoom) {
	if err := WithGrace(ctx, place.Leave); err != nil {
		s.Log.Warn("room not left", "space", place.Room.Key, "error", err)
	}
}
