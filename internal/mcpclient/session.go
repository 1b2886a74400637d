package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trestle-bridge/trestle/internal/toolproc"
)

// Revisions of the protocol with which a session begins.
const (
	newestRevision = "2026-07-28"
	olderRevision  = "2025-11-25"
)

// maxMessage bounds one message of a server: five megabytes of bytes in base64, and
// what is around them.
const maxMessage = 8 << 20

// Texts that a server says about itself.
const (
	maxInstructions = 2000
	maxProductName  = 100
)

// errSessionGone ends a session that the server no longer knows, and refuses calls in one that has ended.
var errSessionGone = errors.New("the server has forgotten the session")

// A liveSession is one connection to a server.
type liveSession struct {
	server  *ToolServer
	client  *mcp.ClientSession
	process *toolproc.ToolProcess // nil over HTTP
	remote  *remoteTransport      // nil over standard input and output
	flood   notificationMeter
	dead    chan struct{} // closed when the connection has ended
	reason  error         // of the end; read after dead
	ending  sync.Once
	ended   chan struct{}

	mu     sync.Mutex
	calls  map[string]*openCall // by progress token
	tokens int
	over   bool
}

// connect makes a session. A server that fails the newest revision is tried with the
// older one at once: some programs end when they meet a request that they do not know.
func (s *ToolServer) connect(ctx context.Context, legacy bool) (*liveSession, error) {
	first, second := newestRevision, olderRevision
	if legacy {
		first, second = second, first
	}
	live, err := s.connectWith(ctx, first)
	if err == nil || ctx.Err() != nil || errors.Is(err, errNotStarted) {
		return live, err
	}
	live, secondErr := s.connectWith(ctx, second)
	if secondErr != nil {
		return nil, err
	}
	s.mu.Lock()
	s.legacy = second == olderRevision
	s.mu.Unlock()
	return live, nil
}

// errNotStarted marks failures before the first byte: another revision changes nothing.
var errNotStarted = errors.New("the server is not there")

// connectWith makes a session that begins with a revision.
func (s *ToolServer) connectWith(ctx context.Context, revision string) (*liveSession, error) {
	live := &liveSession{server: s, dead: make(chan struct{}), ended: make(chan struct{}), calls: make(map[string]*openCall)}
	transport, err := live.open(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotStarted, err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "trestle", Title: "Trestle", Version: s.o.Version}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{
			Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}},
		},
		MultiRoundTrip:              &mcp.MultiRoundTripOptions{Disabled: true},
		ElicitationHandler:          live.answerQuestion,
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { s.noteChange() },
		ProgressNotificationHandler: live.hearProgress,
	})
	client.AddReceivingMiddleware(live.countMessages)
	ctx, cancel := context.WithTimeout(ctx, s.o.ConnectTimeout)
	defer cancel()
	type connected struct {
		session *mcp.ClientSession
		err     error
	}
	done := make(chan connected, 1)
	s.running.Go(func() { // a server that does not read holds a write for ever
		session, err := client.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: revision})
		done <- connected{session, err}
	})
	var got connected
	select {
	case got = <-done:
	case <-ctx.Done():
		live.cut()
		got = <-done
		got.err = ctx.Err()
	}
	live.client = got.session
	if got.err != nil {
		live.awaitEnd(ctx)
		err := live.explain(got.err)
		close(live.dead)
		live.end(err)
		return nil, err
	}
	s.running.Go(func() {
		live.reason = got.session.Wait()
		close(live.dead)
	})
	return live, nil
}

// open starts the program, or prepares requests to the address.
func (l *liveSession) open(ctx context.Context) (mcp.Transport, error) {
	o := l.server.o
	if o.Program == nil {
		l.remote = newRemoteTransport(ctx, o.Headers)
		return &mcp.StreamableClientTransport{
			Endpoint: o.URL, HTTPClient: l.remote.client(), MaxEventSize: maxMessage, MaxRetries: 2,
		}, nil
	}
	process, err := toolproc.Start(*o.Program)
	if err != nil {
		return nil, err
	}
	l.process = process
	return &mcp.IOTransport{Reader: process.Output(), Writer: process.Input(), MaxLineLength: maxMessage}, nil
}

// wait returns when the connection has ended.
func (l *liveSession) wait() error {
	<-l.dead
	if l.reason == nil {
		return io.EOF
	}
	return l.reason
}

// about returns what the server says about itself.
func (l *liveSession) about() (revision, product, version, instructions string) {
	r := l.client.InitializeResult()
	if r == nil {
		return "", "", "", ""
	}
	if r.ServerInfo != nil {
		product = cleanText(r.ServerInfo.Name, maxProductName)
		version = cleanText(r.ServerInfo.Version, maxProductName)
	}
	instructions = cleanText(r.Instructions, maxInstructions)
	return cleanLine(r.ProtocolVersion, 20), product, version, instructions
}

// cut ends the connection at once, so that reads and writes of it return.
func (l *liveSession) cut() {
	if l.remote != nil {
		l.remote.cut()
	}
	if l.process != nil {
		_ = l.process.Kill() // a program that cannot be killed holds nothing of ours
	}
}

// end cancels all calls and ends the connection and the program, within a few times the
// grace. It returns when that is done; only the first call does anything.
func (l *liveSession) end(reason error) {
	l.ending.Do(func() {
		defer close(l.ended)
		l.mu.Lock()
		l.over = true
		for _, call := range l.calls {
			call.cancel(fmt.Errorf("%w: %w", errConnectionLost, reason))
		}
		l.mu.Unlock()
		grace := l.server.o.StopGrace
		if l.client != nil {
			closed := make(chan struct{})
			var closing sync.WaitGroup
			closing.Go(func() { // not waited for: it waits for handlers
				_ = l.client.Close() // the program is ended below, whatever this says
				close(closed)
			})
			timer := time.NewTimer(grace)
			select {
			case <-closed:
			case <-timer.C:
			}
			timer.Stop()
		}
		if l.process != nil {
			if err := l.process.Stop(grace); err != nil {
				l.server.deps.Log.Error("tool server does not end", "server", l.server.name, "error", err)
			}
		}
		l.cut()
	})
	<-l.ended
}

// awaitEnd gives a program whose connection has ended a moment to end, so that its reason
// is known.
func (l *liveSession) awaitEnd(ctx context.Context) {
	if l.process == nil {
		return
	}
	select {
	case <-l.process.Done():
	case <-ctx.Done():
	case <-time.After(endGrace):
	}
}

// explain returns an error of the connection in words for the operator, with the end of
// what a program has written to its standard error.
func (l *liveSession) explain(err error) error {
	late := errors.Is(err, context.DeadlineExceeded)
	err = plainError(err)
	if l.flood.over.Load() {
		err = errFlood
	}
	if l.remote != nil {
		return l.remote.explain(err)
	}
	if l.process == nil {
		return err
	}
	switch failed := l.process.Failure(); {
	case errors.Is(err, errLargeBody) || l.endedByLargeBody(): // the program failed by that
		err = errLargeBody
	case failed != nil && !late: // one that is late was killed
		err = failed
	}
	if said := l.process.LastLines(5); said != "" {
		return fmt.Errorf("%w: %s", err, said)
	}
	return err
}

// endedByLargeBody reports whether the connection has ended because of a message that was too
// large. A program that still wrote it is ended by that.
func (l *liveSession) endedByLargeBody() bool {
	select {
	case <-l.dead:
		return l.reason != nil && errors.Is(plainError(l.reason), errLargeBody)
	default:
		return false
	}
}

// A notificationMeter counts the messages that a server begins.
type notificationMeter struct {
	window atomic.Int64 // seconds of the window's begin
	count  atomic.Int64
	over   atomic.Bool
}

// Bounds of the messages that a server may begin: a hundred a second.
const (
	floodWindow = 10
	floodCount  = 1000
)

// errFlood ends the session of a server that begins too many messages.
var errFlood = errors.New("the server floods the connection with messages of its own")

// add counts a message, and reports whether they are too many.
func (m *notificationMeter) add(now time.Time) bool {
	begin := now.Unix() - now.Unix()%floodWindow
	if m.window.Swap(begin) != begin {
		m.count.Store(0)
	}
	return m.count.Add(1) > floodCount
}

// countMessages counts what the server begins, and ends a session that is flooded.
func (l *liveSession) countMessages(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if !l.flood.add(time.Now()) {
			return next(ctx, method, r)
		}
		if l.flood.over.CompareAndSwap(false, true) {
			l.server.running.Go(func() { l.server.drop(l, errFlood) })
		}
		return nil, errFlood
	}
}
