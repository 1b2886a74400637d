// Package server joins the parts of a process: the database, a connection for each
// account, the agents and their models, the console and the control socket. It starts
// them in the order of the boot report, runs them in one group and stops them together.
package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/settingsdesk"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/jobs"
	"github.com/trestle-bridge/trestle/internal/store/engine"
)

// The times of a start and a stop.
const (
	stopGrace  = 10 * time.Second // for work in hand, after a signal
	goneGrace  = time.Second      // for it when others have the record
	firstJoin  = 10 * time.Second // for an adapter to connect before the start goes on without it
	closeGrace = 5 * time.Second  // for the record to be closed, and for what else comes last
)

// A Server serves a configuration: it boots, runs and stops everything.
type Server struct {
	*AccountManager
	*accessManager
	*processMonitor
	// platforms is false for a terminal that must not disturb them.
	platforms bool
	// Listener is where the configuration says to listen, opened by the caller that made the
	// process, who closes it if the process never serves. Nil: the process opens it.
	Listener net.Listener
	Console  *console.Console
	// Answers answers the reading commands that other machines request by name, as with -o
	// json; [console.ErrUnknown] for any other. Default: all are unknown.
	Answers func(ctx context.Context, s *Server, command string, q url.Values) (any, error)
	// Rehearse rehearses a run for the console. Default: none can be rehearsed there.
	Rehearse func(ctx context.Context, s *Server, q console.RehearsalRequest) (console.RehearsedRun, error)
	// Editor changes the configuration file for the console. Default: nothing can be changed there.
	Editor console.SettingsDesk
	lost   chan error // receives one error when the store is given to others
}

// NewServer prepares a process; nothing is opened.
func NewServer(c *config.Config, log *slog.Logger, lines io.Writer, platforms bool) *Server {
	accounts := NewAccountManager(c, log)
	return &Server{
		AccountManager: accounts, accessManager: &accessManager{accounts},
		processMonitor: &processMonitor{AccountManager: accounts, Boot: newStartupReporter(lines), Ready: make(chan struct{})},
		platforms:      platforms, lost: make(chan error, 1),
		Editor: settingsdesk.New(config.LoadOptions{}, func(config.LoadOptions) (*config.Config, error) { return new(config.Config), nil }, accounts.Config),
	}
}

// Run boots and serves until ctx is done or beside returns; beside runs next to
// the rest once the core is ready and may be nil.
func (s *Server) Run(ctx context.Context, beside func(context.Context) error) (err error) {
	s.Boot.Phase("Phase 1 (core)")
	if err := s.Boot.Stage("config_load", s.logFaults); err != nil {
		return err
	}
	if err := s.openStore(ctx); err != nil {
		return s.openError(ctx, err)
	}
	s.learned.ReadOnly = false
	defer func() { err = errors.Join(err, WithGrace(ctx, s.Store.Close), s.closeNotifier()) }()
	if err := s.startCore(ctx); err != nil {
		return s.openError(ctx, err)
	}
	return s.serve(ctx, beside)
}

// logFaults logs the entries that cannot run and the warnings. The file was read before: this
// stage represents it in the report.
func (s *Server) logFaults() error {
	for _, p := range s.Config().Problems {
		s.Log.Warn("entry misconfigured", "entry", p.Entry, "reason", p.Err.String())
	}
	for _, w := range s.Config().Warnings {
		s.Log.Warn("configuration", "entry", w.Entry, "reason", w.Err.String())
	}
	return nil
}

// openStore opens the store, in stages of its own.
func (s *Server) openStore(ctx context.Context) error {
	settings := s.Config().SettingsFor("", "")
	m := &storeopen.MigrationProgress{Out: s.Boot.out, Printer: jobs.NewShower(s.Boot.out, jobs.Lines)}
	store, err := storeopen.OpenStore(ctx, s.Config(), storeopen.OpenOptions{
		Logger: s.Log, IdleSpan: settings.Spans.Idle, Exclusive: !s.platforms, RunsAgents: true, OnLost: func(err error) { s.lost <- err },
		RunStage:    func(name string, do func() error) error { return s.runStage(ctx, name, do) },
		OnMigration: func(now engine.MigrationProgress) { m.Show(now); s.reportMigration(ctx, now) },
		OnRewound:   func(known, had int64) { s.rewound = fmt.Sprintf("it has %d commits of %d", had, known) },
	})
	if err != nil {
		return err
	}
	s.Store = store
	if err := m.AddJob(ctx, store, s.Log); err != nil {
		s.Log.Warn("migration not kept among the jobs", "error", err)
	}
	if err := s.openNotifier(ctx); err != nil {
		return errors.Join(err, store.Close(ctx))
	}
	s.border = s.newBorder()
	s.mapping = activity.NewSpaceMapping(s.border, s.border)
	s.openFiles()
	return nil
}

// watchStoreLoss ends the process when it has lost the store to others, which may send what it
// would send.
func (s *Server) watchStoreLoss(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-s.lost:
		return &apperr.Error{What: err.Error(), Where: "database", Remedy: "start again; what was decided is sent by whoever has the record", Code: apperr.TryAgain}
	}
}

// startCore runs the rest of phase 1: everything that needs no network.
func (s *Server) startCore(ctx context.Context) error {
	if err := s.Boot.Stage("seed_system_data", func() error { return errors.Join(s.loadServers(ctx), s.openSpaces(ctx)) }); err != nil {
		return err
	}
	s.Boot.Core()
	return nil
}

// openError returns why the store cannot be used; nil when the process was stopped meanwhile.
func (s *Server) openError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return storeopen.OpenError(err, storeopen.LocationName(s.Config()))
}

// serve checks the trust gate, starts what may fail alone, and runs everything.
func (s *Server) serve(ctx context.Context, beside func(context.Context) error) error {
	trusted := s.Boot.Stage("trust_gate", func() error { return s.checkTrust(ctx) }) == nil
	s.telemetry = s.newTelemetry(ctx)
	s.shell = s.newShell()
	s.openAccounts(trusted)
	s.Console = s.newConsole()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.watchStoreLoss(ctx) })
	g.Go(func() error { return s.narrator().Run(ctx) })
	g.Go(func() error { return s.telemetry.Run(ctx) })
	s.listenToPeers(ctx, g)
	if err := s.Listen(ctx, g); err != nil {
		return err
	}
	s.control(ctx, g)
	s.serveHooks(ctx, g)
	for _, watching := range s.backgroundTasks() {
		g.Go(func() error { return watching(ctx) })
	}
	if !trusted {
		s.Boot.Ready()
		s.Boot.Phase("Trust Gate failed: only the core runs")
		g.Go(func() error { <-ctx.Done(); return nil })
		return s.wait(ctx, g)
	}
	s.Boot.Phase("Trust Gate passed")
	s.Boot.Trust()
	s.Boot.Phase("Phase 2 (extensions)")
	s.startExtensions(ctx, g)
	if beside != nil {
		g.Go(func() error {
			if err := beside(ctx); err != nil {
				return err
			}
			return errOver
		})
	}
	return s.wait(ctx, g)
}

// errOver ends a process whose terminal has nothing more to say.
var errOver = errors.New("the terminal is done")

// openAccounts prepares a connection for the terminal and for each account.
func (s *Server) openAccounts(trusted bool) {
	if !s.Config().HasRole(config.RoleAdapters) {
		return
	}
	s.conns.set([]*accountConn{s.newConnection(LocalName, s.rooms, s.joinLocal)})
	if !s.platforms || !trusted {
		return
	}
	s.conns.added = make(chan *accountConn)
	for _, a := range s.Config().Adapters {
		s.openAccount(a)
	}
}

// startExtensions starts what may fail alone. It waits for adapters in parallel, and for a
// bounded time.
func (s *Server) startExtensions(ctx context.Context, g *errgroup.Group) {
	_ = s.Boot.Stage("model", s.checkModel)         // the report has the error
	_ = s.Boot.Stage("skill_sources", s.loadSkills) // the report has the error
	s.syncTools(ctx, g)
	_ = s.Boot.Stage("semantic_embeddings", func() error { return errSkipped }) // there is nothing of the kind to load
	_ = s.Boot.Stage("scheduler_init", func() error {
		s.scheduled.Store(true)
		for _, part := range s.workers() {
			g.Go(func() error { return part(ctx) })
		}
		if s.Reloader != nil {
			g.Go(func() error { return s.Reloader.Run(ctx) })
		}
		return nil
	})
	g.Go(func() error {
		_ = s.Boot.Stage("channel_connect", func() error { return s.connect(ctx, g) }) // the lines go on trying
		_ = s.Boot.Stage("ready", func() error { s.Boot.Ready(); return nil })
		close(s.Ready)
		return nil
	})
}

// loadSkills tells what came of reading the folders of skills.
func (s *Server) loadSkills() error {
	if len(s.Config().Tools.Skills) == 0 {
		return errSkipped
	}
	_, err := s.tools.Skills()
	return err
}

// syncTools has the stage of tool servers end once each has been asked for its tools. The
// start does not wait for it.
func (s *Server) syncTools(ctx context.Context, g *errgroup.Group) {
	if len(s.Config().Tools.Servers) == 0 || !s.Config().HasRole(config.RoleMinds) {
		_ = s.Boot.Stage("tool_sync", func() error { return errSkipped })
		return
	}
	g.Go(func() error {
		_ = s.Boot.Stage("tool_sync", func() error { // the report has the error
			err := s.tools.AwaitServers(ctx)
			if ctx.Err() != nil {
				return errSkipped
			}
			return err
		})
		return nil
	})
}

// workers returns what this process runs by its roles.
func (s *Server) workers() []func(context.Context) error {
	all := []func(context.Context) error{s.watchPeers, s.publishStatus, s.removeUnused}
	if s.Config().HasRole(config.RoleMinds) {
		all = append(all, s.runAgents, s.presence.Run, func(ctx context.Context) error { return s.prompts.Watch(ctx, promptInterval, s.Log) },
			func(ctx context.Context) error { return s.runExclusive(ctx, dutyVoices, nil, s.runTranscription) },
			func(ctx context.Context) error { return s.runExclusive(ctx, dutyFrames, nil, s.deleteFrames) },
			func(ctx context.Context) error { return s.runExclusive(ctx, dutyFigures, nil, s.countFigures) })
	}
	if s.Config().HasRole(config.RoleAdapters) {
		all = append(all, s.runJobs, s.serveAdded)
	}
	return all
}

// connect starts every connection and returns once each has connected or failed. Its error
// names those that failed.
func (s *Server) connect(ctx context.Context, g *errgroup.Group) error {
	lines := s.conns.all()
	failed := make([]error, len(lines))
	var joins sync.WaitGroup
	for i, l := range lines {
		g.Go(func() error { return s.serveAccount(ctx, l) })
		joins.Go(func() {
			if err := s.Boot.Stage("adapter_"+l.name, func() error { return l.firstOutcome(ctx) }); err != nil {
				failed[i] = fmt.Errorf("%s: %w", l.name, err)
			}
		})
	}
	joins.Wait()
	return errors.Join(failed...)
}

// wait returns when the group has ended, at the latest a grace after ctx. Its error is the
// first failure.
func (s *Server) wait(ctx context.Context, g *errgroup.Group) error {
	ended := make(chan error, 1)
	go func() { ended <- g.Wait() }()
	select {
	case err := <-ended:
		return endError(err)
	case <-ctx.Done():
	}
	var why error = &apperr.Error{What: "work in hand did not end in time", Where: "stop", Remedy: "nothing is lost: the next start goes on with it", Code: apperr.Failed}
	grace := stopGrace
	if gone, ok := errors.AsType[*apperr.Error](context.Cause(ctx)); ok {
		why = gone
		if gone.Code == apperr.TryAgain { // it may write no more: what is in hand cannot be recorded
			grace = goneGrace
		}
	}
	select {
	case err := <-ended:
		return endError(err)
	case <-time.After(grace):
		return why
	}
}

func endError(err error) error {
	if errors.Is(err, errOver) {
		return nil
	}
	return err
}

// WithGrace calls do with a context that lasts for a grace, also after ctx has ended.
func WithGrace(ctx context.Context, do func(context.Context) error) error {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeGrace)
	defer cancel()
	return do(last)
}

// Listen serves the console.
func (s *Server) Listen(ctx context.Context, g *errgroup.Group) error {
	if s.Config().Listen == "" || !s.platforms || !s.Config().HasRole(config.RoleConsole) {
		return nil
	}
	ln, err := s.Listener, error(nil)
	if ln == nil {
		ln, err = new(net.ListenConfig).Listen(ctx, "tcp", s.Config().Listen)
	}
	if err != nil {
		code := apperr.BadConfig
		if errors.Is(err, syscall.EADDRINUSE) { // by a process that is about to end, perhaps
			code = apperr.TryAgain
		}
		return &apperr.Error{What: "the address cannot be listened on: " + err.Error(), Where: "listen: " + s.Config().Listen, Remedy: "stop what uses it, or set listen to another port", Code: code}
	}
	s.ListenAt = ln.Addr().String()
	g.Go(func() error { return control.ServeHTTP(ctx, ln, s.Console.Handler()) })
	return nil
}

// Socket returns the path of the control socket.
func (s *Server) Socket() string { return control.SocketPath(s.Config()) }
