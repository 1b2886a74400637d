package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"

	"golang.org/x/sync/errgroup"

	"github.com/trestle-bridge/trestle/adapters/local"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/internal/console"
)

// The control socket stands in the data folder with mode 0600: whoever may open
// it owns the data. It speaks small JSON:
//
//	POST /pair      {"code"|"chat","circle","role"} → {"account","chat","user","name","role"}
//	POST /pair/revoke {"who"}                 → [{"account","chat","user",…}]
//	GET  /pair                                → {"waiting":[…],"admitted":[…],"refused":[…]}
//	POST /jobs      {"id","want"}             → the job as it is then
//	POST /forget    {"mind","id"}             → {"mind","id"}
//	POST /correct   {"mind","id","fact"}      → {"mind","id","fact"}
//	POST /import    {"file","account","chat",…} → the job that was added
//	POST /backfill  {"space","since"} → the job that was added
//	POST /backup    {"file"} → the job that was added, with "partial"
//	POST /chat/say  {"space","text","as"}     → {}
//	POST /chat/quiet {"space","mark"}         → {}, once nothing is under way; the stream then shows {"kind":"quiet","text":mark}
//	GET  /chat?space=NAME                     → stream of {"kind","who","text",…}
//	POST /problems/ack {"id","seconds"}       → {"quiet","until"}
//	GET  /problems/unkept                     → the problems that the record cannot take
//	GET  /doctor?part=NAME                    → what is found of an account, and the clocks read meanwhile
//	POST /doctor    {"parts","only"}          → the report of trestle doctor on the configuration in force
//	everything else                           → as on listen: the API of internal/console/openapi.json
//
// A refusal is {"error","where","do","exit"} with a status of 400 or more.
type refusal struct {
	Error string          `json:"error"`
	Where string          `json:"where,omitempty"`
	Do    string          `json:"do,omitempty"`
	Exit  apperr.ExitCode `json:"exit"`
}

type sayRequest struct {
	Space string `json:"space"`
	Text  string `json:"text"`
	As    string `json:"as,omitempty"`
}

type quietRequest struct {
	Space string `json:"space"`
	Mark  string `json:"mark"`
}

// heardLine is one thing seen in a room, as it travels over the socket.
type heardLine struct {
	Kind string `json:"kind"` // posted, said, edited, deleted, reacted, typing, skipped, quiet
	Who  string `json:"who,omitempty"`
	Text string `json:"text,omitempty"`
}

// control opens the socket and has g serve it. Without it the process runs all
// the same; commands that need it then say so.
func (s *Server) control(ctx context.Context, g *errgroup.Group) {
	if _, taken := dial(ctx, s.socket()); taken { // both write one database
		s.log.Warn("another process of this data folder answers commands", "socket", s.socket())
		return
	}
	ln, err := openSocket(ctx, s.socket())
	if err != nil {
		s.log.Warn("control socket not available", "error", err)
		return
	}
	g.Go(func() error { return serveHTTP(ctx, ln, s.controlHandler()) })
}

// openSocket listens at path, in place of a socket that a dead process left. The
// caller holds the lock of the data folder, so that no living one is there.
func openSocket(ctx context.Context, path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	ln, err := new(net.ListenConfig).Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	return ln, nil
}

func (s *Server) controlHandler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", s.console.Socket())
	mux.HandleFunc("POST /pair", answering(s.pair))
	mux.HandleFunc("POST /pair/revoke", answering(s.revoke))
	mux.HandleFunc("GET /pair", s.servePairings)
	mux.HandleFunc("POST /jobs", answering(s.askJob))
	mux.HandleFunc("POST /forget", answering(s.forget))
	mux.HandleFunc("POST /correct", answering(s.correct))
	mux.HandleFunc("POST /import", answering(s.addImport))
	mux.HandleFunc("POST /backfill", answering(s.addBackfill))
	mux.HandleFunc("POST /backup", answering(s.addBackup))
	mux.HandleFunc("POST /chat/say", answering(s.say))
	mux.HandleFunc("POST /chat/quiet", answering(s.sayQuiet))
	mux.HandleFunc("GET /chat", s.serveChat)
	mux.HandleFunc("GET /doctor", s.serveDoctor)
	mux.HandleFunc("POST /doctor", answering(s.examine))
	mux.HandleFunc("POST /problems/ack", answering(s.ack))
	mux.HandleFunc("GET "+unkeptPath, s.serveUnkept)
	return mux
}

// answering serves what is made of a request in JSON.
func answering[Q, A any](do func(context.Context, Q) (A, error)) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		var q Q
		if err := json.NewDecoder(http.MaxBytesReader(rw, r.Body, 1<<20)).Decode(&q); err != nil {
			refuse(rw, &apperr.Error{What: "the request is no JSON", Where: r.URL.Path, Code: apperr.Usage})
			return
		}
		a, err := do(r.Context(), q)
		if err != nil {
			refuse(rw, err)
			return
		}
		writeJSON(rw, http.StatusOK, a)
	}
}

// done is the answer to what was done and leaves nothing to say.
type done struct{}

// say has somebody at a terminal say a line.
func (s *Server) say(ctx context.Context, q sayRequest) (done, error) {
	room, err := s.findRoom(q.Space)
	if err == nil {
		_, err = s.rooms.Say(ctx, personNamed(q.As), local.Line{Chat: room.Key, Text: q.Text})
	}
	return done{}, err
}

// quietThread marks a sign of typing that means: nothing is under way. It takes
// this way because it must come behind everything that was said in the room.
const quietThread = "quiet:"

// sayQuiet marks in a room the moment in which nothing is under way any more.
func (s *Server) sayQuiet(ctx context.Context, q quietRequest) (done, error) {
	room, err := s.findRoom(q.Space)
	if err == nil {
		err = s.quiet(ctx)
	}
	if err == nil {
		err = s.rooms.Typing(ctx, room.Key, quietThread+q.Mark)
	}
	return done{}, err
}

// serveChat seats the caller in a room for as long as it listens.
func (s *Server) serveChat(rw http.ResponseWriter, r *http.Request) {
	place, err := s.enter(r.Context(), r.URL.Query().Get("space"))
	if err != nil {
		refuse(rw, err)
		return
	}
	defer s.leave(r.Context(), place)
	out := console.StartStream(rw)
	for n := int64(1); ; n++ {
		heard, err := place.Hear(r.Context())
		if err != nil || out.Send(n, heard) != nil {
			return
		}
	}
}

// leave gives a seat up although the caller has gone.
func (s *Server) leave(ctx context.Context, place *localRoom) {
	if err := lastly(ctx, place.Leave); err != nil {
		s.log.Warn("room not left", "space", place.room.Key, "error", err)
	}
}

func refuse(rw http.ResponseWriter, err error) {
	answer := refusal{Error: err.Error(), Exit: apperr.Failed}
	if f, ok := errors.AsType[*apperr.Error](err); ok {
		answer = refusal{Error: f.What, Where: f.Where, Do: f.Remedy, Exit: f.Code}
	}
	writeJSON(rw, http.StatusBadRequest, answer)
}

// controlClient calls the socket of a running process.
type controlClient struct {
	client *http.Client
	socket string
}

// dial returns a controller of the process that serves the data folder, or
// false when none does.
func dial(ctx context.Context, socket string) (*controlClient, bool) {
	var d net.Dialer
	probe, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, false
	}
	_ = probe.Close() // it only had to be opened
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return d.DialContext(ctx, "unix", socket)
	}}
	return &controlClient{&http.Client{Transport: transport}, socket}, true
}

// post sends q and reads the answer into a.
func (c *controlClient) post(ctx context.Context, path string, q, a any) error {
	body, err := json.Marshal(q)
	if err != nil {
		return err
	}
	return c.call(ctx, http.MethodPost, path, bytes.NewReader(body), a)
}

// get reads what stands at a path into a.
func (c *controlClient) get(ctx context.Context, path string, a any) error {
	return c.call(ctx, http.MethodGet, path, nil, a)
}

// stream has read take in what stands at a path, as it comes.
func (c *controlClient) stream(ctx context.Context, path string, read func(io.Reader) error) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, onSocket+path, nil)
	if err != nil {
		return err
	}
	return c.do(r, read)
}

func (c *controlClient) call(ctx context.Context, method, path string, q io.Reader, a any) error {
	r, err := http.NewRequestWithContext(ctx, method, onSocket+path, q)
	if err != nil {
		return err
	}
	return c.do(r, func(body io.Reader) error { return json.NewDecoder(body).Decode(a) })
}

// onSocket stands before the paths of the control socket, which has no address.
const onSocket = "http://trestle"

func (c *controlClient) do(r *http.Request, read func(io.Reader) error) error {
	resp, err := c.client.Do(r)
	if err != nil {
		return &apperr.Error{What: "the running process does not answer: " + err.Error(), Where: c.socket, Remedy: "see its log", Code: apperr.TryAgain}
	}
	defer resp.Body.Close()
	if resp.StatusCode < 400 || r.URL.Path == "/health" {
		return read(resp.Body)
	}
	switch {
	case resp.StatusCode == http.StatusUnauthorized: // of another machine
		return readAnswer(r.URL.Path, resp.StatusCode, nil, nil)
	case resp.StatusCode == http.StatusNotFound && r.URL.Path == unkeptPath:
		return nil // it is older than this command, and holds nothing
	case resp.StatusCode == http.StatusNotFound && r.Method == http.MethodDelete:
		return errNothing
	}
	var no refusal
	if err := json.NewDecoder(resp.Body).Decode(&no); err != nil {
		return &apperr.Error{What: "the running process answered " + resp.Status, Where: c.socket, Code: apperr.Failed}
	}
	return &apperr.Error{What: no.Error, Where: cmp.Or(no.Where, r.URL.Path), Remedy: no.Do, Code: max(no.Exit, apperr.Failed)}
}
