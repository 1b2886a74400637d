// Package mcpclient calls the tools of one tool server by the Model Context Protocol
// (https://modelcontextprotocol.io), revision 2026-07-28 or, where the server is older,
// 2025-11-25 and before.
//
// A [ToolServer] is a program of the operator, run through toolproc, or an address of
// streamable HTTP. It is connected when it is first used, and again with backoff after a
// failure, so that no start waits for it. Everything that it sends is bounded and is
// data, never trusted: names are checked, texts cleaned of hidden characters, schemas
// cleaned for model endpoints. Roots, sampling and logging are not offered to it.
package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/internal/retry"
	"github.com/trestle-bridge/trestle/internal/toolproc"
)

// ServerSettings say how a server is reached. Either Program or URL is set.
type ServerSettings struct {
	// Program is started and spoken to over its standard input and output.
	Program *toolproc.ToolProgram
	// URL is the address of a server of streamable HTTP, written by the operator: it may
	// be on any network, and redirects are not followed.
	URL string
	// Headers are added to each request to URL.
	Headers map[string]string
	// CallTimeout bounds one call, without the time in which a person is asked.
	// Default: 60 s.
	CallTimeout time.Duration
	// ConnectTimeout bounds one attempt to connect; a program may install itself in that
	// time. Default: 60 s.
	ConnectTimeout time.Duration
	// StopGrace is how long a server may take to end by itself. Default: 2 s.
	StopGrace time.Duration
	// MaxParallel bounds the calls at one time; more wait. Default: 4.
	MaxParallel int
	// Version is the program's own version, told to the server.
	Version string
}

// ServerDeps are what a server tells. Both may be nil.
type ServerDeps struct {
	// ListChanged is called when the server has said that its tools changed, at most once
	// until [ToolServer.Tools] is called next. It must return at once.
	ListChanged func()
	// Log takes what an operator may want to know.
	Log *slog.Logger
}

// A ToolServer is one server and the connection to it. Its methods may be called
// concurrently.
type ToolServer struct {
	name    string
	o       ServerSettings
	deps    ServerDeps
	slots   chan struct{} // one for each call at a time
	running sync.WaitGroup

	mu         sync.Mutex
	session    *liveSession
	connecting chan struct{} // closed when the attempt to connect ends; nil if there is none
	stop       context.CancelFunc
	legacy     bool // the next attempt begins with the older revision
	failures   int  // in a row
	problem    error
	since      time.Time // of the state
	next       time.Time // attempt
	closed     bool
	closedDone chan struct{}
	list       toolList
}

// New returns a server under its name in the configuration. It connects nothing.
func New(name string, o ServerSettings, deps ServerDeps) (*ToolServer, error) {
	if (o.Program == nil) == (o.URL == "") {
		return nil, fmt.Errorf("mcpclient: the server %s needs either a command or a url", name)
	}
	if o.URL != "" {
		if err := checkAddress(o.URL); err != nil {
			return nil, fmt.Errorf("mcpclient: the server %s: %w", name, err)
		}
	}
	defaults := func(d *time.Duration, value time.Duration) {
		if *d <= 0 {
			*d = value
		}
	}
	defaults(&o.CallTimeout, time.Minute)
	defaults(&o.ConnectTimeout, time.Minute)
	defaults(&o.StopGrace, 2*time.Second)
	if o.MaxParallel <= 0 {
		o.MaxParallel = 4
	}
	if deps.Log == nil {
		deps.Log = slog.New(slog.DiscardHandler)
	}
	return &ToolServer{
		name: name, o: o, deps: deps, slots: make(chan struct{}, o.MaxParallel), since: time.Now(), closedDone: make(chan struct{}),
	}, nil
}

// ErrClosed is returned after [ToolServer.Close].
var ErrClosed = errors.New("the tool server is closed")

// A ServerStatus is what a server is doing.
type ServerStatus string

// The statuses of a server.
const (
	StatusIdle       ServerStatus = "idle" // not used yet, or ended without a failure
	StatusConnecting ServerStatus = "connecting"
	StatusReady      ServerStatus = "ready"
	StatusFailing    ServerStatus = "failing" // the last attempt failed
	StatusClosed     ServerStatus = "closed"
)

// ServerState describes a server to the operator.
type ServerState struct {
	Status ServerStatus
	Since  time.Time
	// Problem is the last failure in words, unredacted; empty when ready.
	Problem string
	// Next is when it may be connected again; only when failing.
	Next time.Time
	// Failures counts the failed attempts in a row.
	Failures int
	// Revision is the agreed revision of the protocol, Product and ProductVersion what the
	// server calls itself, bounded and cleaned; only when ready.
	Revision, Product, ProductVersion string
	// Instructions are the server's words about its use, at most 2,000 bytes; data.
	Instructions string
	// Tools is the number of tools that can be called, Skipped the others with the reason.
	Tools   int
	Skipped []SkippedTool
	Fetched time.Time // when the list was read; zero if never
}

// State returns the state of the server without waiting for it.
func (s *ToolServer) State() ServerState {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := ServerState{
		Status: StatusIdle, Since: s.since, Failures: s.failures,
		Tools: len(s.list.tools), Skipped: s.list.skipped, Fetched: s.list.fetched,
	}
	if s.problem != nil {
		st.Problem = s.problem.Error()
	}
	switch {
	case s.closed:
		st.Status = StatusClosed
	case s.session != nil:
		st.Status = StatusReady
		st.Revision, st.Product, st.ProductVersion, st.Instructions = s.session.about()
	case s.connecting != nil:
		st.Status = StatusConnecting
	case s.problem != nil:
		st.Status, st.Next = StatusFailing, s.next
	}
	return st
}

// acquire returns the session, and makes one if there is none and the last failure is
// long enough ago. It waits for an attempt under way until ctx ends; the attempt goes on.
func (s *ToolServer) acquire(ctx context.Context) (*liveSession, error) {
	for {
		s.mu.Lock()
		switch {
		case s.closed:
			s.mu.Unlock()
			return nil, &CallError{Kind: Unavailable, Err: ErrClosed}
		case s.session != nil:
			live := s.session
			s.mu.Unlock()
			return live, nil
		case s.connecting == nil && time.Now().Before(s.next):
			err := &CallError{Kind: Unavailable, Err: s.problem, RetryAfter: time.Until(s.next)}
			s.mu.Unlock()
			return nil, err
		case s.connecting == nil:
			s.beginConnecting(ctx)
		}
		attempt := s.connecting
		s.mu.Unlock()
		select {
		case <-attempt:
		case <-ctx.Done():
			return nil, &CallError{Kind: kindOf(ctx), Err: context.Cause(ctx)}
		}
	}
}

// beginConnecting starts an attempt. The caller holds the lock.
func (s *ToolServer) beginConnecting(ctx context.Context) {
	attempt := make(chan struct{})
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.connecting, s.since = attempt, time.Now()
	legacy := s.legacy
	s.running.Go(func() {
		live, err := s.connect(ctx, legacy)
		s.mu.Lock()
		defer close(attempt)
		defer s.mu.Unlock()
		s.stop()
		s.connecting, s.since = nil, time.Now()
		switch {
		case err != nil:
			s.noteFailure(err)
		case s.closed:
			s.running.Go(func() { live.end(ErrClosed) })
		default:
			s.session, s.problem = live, nil
			s.list.stale = true
			s.running.Go(func() { s.watch(live) })
		}
	})
}

// noteFailure keeps a failure and sets the time of the next attempt. The caller holds
// the lock.
func (s *ToolServer) noteFailure(err error) {
	s.failures++
	s.problem = err
	s.since = time.Now()
	s.next = s.since.Add(retry.BackoffAfter(s.failures))
	s.deps.Log.Warn("tool server fails", "server", s.name, "error", err, "failures", s.failures)
}

// noteAnswer ends the row of failures: the server works.
func (s *ToolServer) noteAnswer() {
	s.mu.Lock()
	s.failures = 0
	s.mu.Unlock()
}

// watch waits for the end of a session and forgets it.
func (s *ToolServer) watch(live *liveSession) {
	err := live.wait()
	if live.forgotten() {
		s.forget(live)
		return
	}
	s.drop(live, err)
}

// drop ends a session that is no longer of use. With a failure the next attempt waits.
func (s *ToolServer) drop(live *liveSession, err error) {
	err = live.explain(err)
	s.mu.Lock()
	if s.session == live {
		s.session, s.since = nil, time.Now()
		if !s.closed {
			s.noteFailure(err)
		}
	}
	s.mu.Unlock()
	live.end(err)
}

// forget ends a session that the server no longer knows, without a failure.
func (s *ToolServer) forget(live *liveSession) {
	s.mu.Lock()
	if s.session == live {
		s.session, s.since = nil, time.Now()
	}
	s.mu.Unlock()
	live.end(errSessionGone)
}

// Close cancels all calls and ends the server. It returns within a few times StopGrace,
// whatever the server does. Further calls do nothing.
func (s *ToolServer) Close() {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		<-s.closedDone
		return
	}
	s.closed, s.since = true, time.Now()
	live := s.session
	s.session = nil
	if s.stop != nil {
		s.stop()
	}
	s.mu.Unlock()
	if live != nil {
		live.end(ErrClosed)
	}
	s.running.Wait()
	close(s.closedDone)
}
