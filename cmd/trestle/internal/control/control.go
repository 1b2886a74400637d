// Package control is the protocol of the control socket: what a process serves in
// its data folder, and the client that commands use.
package control

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
)

// The control socket is in the data folder with mode 0600: a user who may open
// it owns the data. It speaks small JSON:
//
//	POST /pair      {"code"|"chat","circle","role"} → {"account","chat","user","name","role"}
//	POST /pair/revoke {"who"}                 → [{"account","chat","user",…}]
//	GET  /pair                                → {"waiting":[…],"admitted":[…],"refused":[…]}
//	POST /jobs      {"id","want"}             → the job as it is then
//	POST /prompts   {"version","agent","rollback"} → the same, with "was"
//	POST /forget    {"mind","id"}             → {"mind","id"}
//	POST /correct   {"mind","id","fact"}      → {"mind","id","fact"}
//	POST /import    {"file","account","chat",…} → the job that was added
//	POST /backfill  {"space","since"} → the job that was added
//	POST /backup    {"file"} → the job that was added, with "partial"
//	POST /chat/say  {"space","text","as"}     → {"message"}
//	POST /chat/reason {"space","message"}     → {"reason"}, once the agents have judged the message
//	POST /chat/quiet {"space","mark"}         → {}, once nothing is under way; the stream then shows {"kind":"quiet","text":mark}
//	GET  /chat?space=NAME                     → stream of {"kind","who","text",…}
//	POST /problems/ack {"id","seconds"}       → {"quiet","until"}
//	GET  /problems/unkept                     → the problems that the record cannot take
//	POST /mcp?as=ADAPTER:USER&agent=NAME&send=true → Model Context Protocol, the rooms of a person
//	GET  /mcp/access?as=…                     → what such a client opens
//	GET  /doctor?part=NAME                    → what is found of an account, and the clocks read meanwhile
//	POST /doctor    {"parts","only"}          → the report of trestle doctor on the configuration in force
//	everything else                           → as on listen: the API of internal/console/openapi.json
//
// A refusal is {"error","where","do","exit"} with a status of 400 or more.
type refusalAnswer struct {
	Error string          `json:"error"`
	Where string          `json:"where,omitempty"`
	Do    string          `json:"do,omitempty"`
	Exit  apperr.ExitCode `json:"exit"`
}

// SayRequest has a person at a terminal say a line in a room.
type SayRequest struct {
	Space string `json:"space"`
	Text  string `json:"text"`
	As    string `json:"as,omitempty"`
}

// SayAnswer has the id of the line.
type SayAnswer struct {
	Message string `json:"message"`
}

// ReasonRequest asks why a line woke no agent.
type ReasonRequest struct {
	Space   string `json:"space"`
	Message string `json:"message"`
}

// ReasonAnswer has the reason in words; empty when an agent was woken.
type ReasonAnswer struct {
	Reason string `json:"reason"`
}

// QuietRequest asks for a mark in a room once no work is under way.
type QuietRequest struct {
	Space string `json:"space"`
	Mark  string `json:"mark"`
}

// HeardLine is one thing seen in a room, as it travels over the socket.
type HeardLine struct {
	Kind string `json:"kind"` // posted, said, edited, deleted, reacted, typing, skipped, quiet
	Who  string `json:"who,omitempty"`
	Text string `json:"text,omitempty"`
}

// OpenSocket listens at path, in place of a socket that a dead process left. The
// caller holds the lock of the data folder, so that no living one is there.
func OpenSocket(ctx context.Context, path string) (net.Listener, error) {
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

// HandleJSON serves what is made of a request in JSON.
func HandleJSON[Q, A any](do func(context.Context, Q) (A, error)) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		var q Q
		if err := json.NewDecoder(http.MaxBytesReader(rw, r.Body, 1<<20)).Decode(&q); err != nil {
			WriteError(rw, &apperr.Error{What: "the request is no JSON", Where: r.URL.Path, Code: apperr.Usage})
			return
		}
		a, err := do(r.Context(), q)
		if err != nil {
			WriteError(rw, err)
			return
		}
		WriteJSON(rw, http.StatusOK, a)
	}
}

// EmptyAnswer is the answer to what was done and leaves nothing to say.
type EmptyAnswer struct{}

// QuietMark marks a sign of typing that means: nothing is under way. It takes
// this way because it must come behind everything that was said in the room.
const QuietMark = "quiet:"

// WriteError answers a request with an error that people can act on.
func WriteError(rw http.ResponseWriter, err error) {
	answer := refusalAnswer{Error: err.Error(), Exit: apperr.Failed}
	if f, ok := errors.AsType[*apperr.Error](err); ok {
		answer = refusalAnswer{Error: f.What, Where: f.Where, Do: f.Remedy, Exit: f.Code}
	}
	WriteJSON(rw, http.StatusBadRequest, answer)
}

// Client calls the socket of a running process.
type Client struct {
	Client *http.Client
	Socket string
}

// DialSocket returns a controller of the process that serves the data folder, or
// false when none does.
func DialSocket(ctx context.Context, socket string) (*Client, bool) {
	var d net.Dialer
	probe, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, false
	}
	_ = probe.Close() // it only had to be opened
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return d.DialContext(ctx, "unix", socket)
	}}
	return &Client{&http.Client{Transport: transport}, socket}, true
}

// Post sends q and reads the answer into a.
func (c *Client) Post(ctx context.Context, path string, q, a any) error {
	body, err := json.Marshal(q)
	if err != nil {
		return err
	}
	return c.Call(ctx, http.MethodPost, path, bytes.NewReader(body), a)
}

// Get decodes the answer of a path into a.
func (c *Client) Get(ctx context.Context, path string, a any) error {
	return c.Call(ctx, http.MethodGet, path, nil, a)
}

// Stream has read take in the answer of a path, as it comes.
func (c *Client) Stream(ctx context.Context, path string, read func(io.Reader) error) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, BaseURL+path, nil)
	if err != nil {
		return err
	}
	return c.Do(r, read)
}

// Call sends a request with a body in JSON, and decodes the answer into a.
func (c *Client) Call(ctx context.Context, method, path string, q io.Reader, a any) error {
	r, err := http.NewRequestWithContext(ctx, method, BaseURL+path, q)
	if err != nil {
		return err
	}
	return c.Do(r, func(body io.Reader) error { return json.NewDecoder(body).Decode(a) })
}

// BaseURL precedes the paths of the control socket, which has no address.
const BaseURL = "http://trestle"

// Do sends a request and has read decode the body of its answer. A refusal of
// the process is an [apperr.Error].
func (c *Client) Do(r *http.Request, read func(io.Reader) error) error {
	resp, err := c.Client.Do(r)
	if err != nil {
		return &apperr.Error{What: "the running process does not answer: " + err.Error(), Where: c.Socket, Remedy: "see its log", Code: apperr.TryAgain}
	}
	defer resp.Body.Close()
	if resp.StatusCode < 400 || r.URL.Path == "/health" {
		return read(resp.Body)
	}
	switch {
	case resp.StatusCode == http.StatusUnauthorized: // of another machine
		return DecodeAnswer(r.URL.Path, resp.StatusCode, nil, nil)
	case resp.StatusCode == http.StatusNotFound && r.URL.Path == UnstoredProblemsPath:
		return nil // it is older than this command, and holds nothing
	case resp.StatusCode == http.StatusNotFound && r.Method == http.MethodDelete:
		return ErrNotFound
	}
	var no refusalAnswer
	if err := json.NewDecoder(resp.Body).Decode(&no); err != nil {
		return &apperr.Error{What: "the running process answered " + resp.Status, Where: c.Socket, Code: apperr.Failed}
	}
	return &apperr.Error{What: no.Error, Where: cmp.Or(no.Where, r.URL.Path), Remedy: no.Do, Code: max(no.Exit, apperr.Failed)}
}

// SocketName is the control socket within the data folder.
const SocketName = "trestle.sock"

// SocketPath is where the process that serves a configuration's data folder listens.
func SocketPath(c *config.Config) string { return filepath.Join(c.Data, SocketName) }

// ErrNotFound is returned when the API knows nothing of a name.
var ErrNotFound = errors.New("there is nothing of that name")

// DecodeAnswer decodes an answer, or says why there is none.
func DecodeAnswer(path string, code int, body []byte, a any) error {
	switch {
	case code == http.StatusNotFound:
		return ErrNotFound
	case code == http.StatusUnauthorized:
		return &apperr.Error{What: "the token is missing or wrong", Where: path, Remedy: "put a token into TRESTLE_TOKEN; trestle token add makes one on that machine", Code: apperr.Failed}
	case code >= 400:
		var no console.ErrorAnswer
		if json.Unmarshal(body, &no) != nil || no.Error == "" {
			no.Error = fmt.Sprintf("the answer was %d", code)
		}
		return &apperr.Error{What: no.Error, Where: path, Remedy: no.Do, Code: apperr.Failed}
	}
	if err := json.Unmarshal(body, a); err != nil {
		return &apperr.Error{What: "the answer is no JSON of ours: " + err.Error(), Where: path, Remedy: "see that a trestle answers there", Code: apperr.Failed}
	}
	return nil
}

// UnstoredProblemsPath is where a process lists the problems that its record cannot take.
const UnstoredProblemsPath = "/problems/unkept"
