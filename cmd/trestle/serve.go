package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/jobs"
	"github.com/trestle-bridge/trestle/internal/latch"
	"github.com/trestle-bridge/trestle/internal/pubsub/inproc"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/systemd"
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
	*components
	boot *startupReporter
	// platforms is false for a terminal that must not disturb them.
	platforms bool
	listenAt  string // where the console is served; empty when it is not
	// listener is where the configuration says to listen, opened by whoever made the
	// process, who closes it if the process never serves. Nil: the process opens it.
	listener  net.Listener
	manager   systemd.ServiceNotifier
	scheduled atomic.Bool // the scheduler was started
	console   *console.Console
	lost      chan error // told once when the record is given to others
	rewound   string     // what the database had lost at the start; empty when nothing
	// ready is closed when everything that can run does.
	ready chan struct{}
	// reloader takes over a changed configuration; nil where none is.
	reloader *reloader
	idle     idleTracker // work that nobody takes up
}

// newProcess prepares a process; nothing is opened.
func newProcess(c *config.Config, log *slog.Logger, lines io.Writer, platforms bool) *Server {
	s := &Server{
		components: &components{log: log, opening: latch.New(), bus: newBus(), bells: new(inproc.Notifier), rooms: newRooms(c), testSeams: testSeams{mint: storeopen.NewID, nonce: newNonce}},
		boot:       newBootstrap(lines), platforms: platforms, ready: make(chan struct{}), lost: make(chan error, 1),
	}
	s.current.Store(c)
	return s
}

// run boots and serves until ctx is done or beside returns; beside runs next to
// the rest once the core is ready and may be nil.
func (s *Server) run(ctx context.Context, beside func(context.Context) error) (err error) {
	s.boot.Phase("Phase 1 (core)")
	if err := s.boot.Stage("config_load", s.loaded); err != nil {
		return err
	}
	if err := s.openStore(ctx); err != nil {
		return s.unopened(ctx, err)
	}
	defer func() { err = errors.Join(err, lastly(ctx, s.store.Close), s.closeBells()) }()
	if err := s.core(ctx); err != nil {
		return s.unopened(ctx, err)
	}
	return s.serve(ctx, beside)
}

// loaded says what the configuration names that cannot run. The file was read
// before: this stage stands for it in the report.
func (s *Server) loaded() error {
	for _, p := range s.config().Problems {
		s.log.Warn("entry misconfigured", "entry", p.Entry, "reason", p.Err.String())
	}
	for _, w := range s.config().Warnings {
		s.log.Warn("configuration", "entry", w.Entry, "reason", w.Err.String())
	}
	return nil
}

// openStore opens the record, in stages of their own.
func (s *Server) openStore(ctx context.Context) error {
	settings := s.config().SettingsFor("", "")
	m := &storeopen.MigrationProgress{Out: s.boot.out, Printer: jobs.NewShower(s.boot.out, jobs.Lines)}
	store, err := storeopen.OpenStore(ctx, s.config(), storeopen.OpenOptions{
		Logger: s.log, IdleSpan: settings.Spans.Idle, Exclusive: !s.platforms, RunsAgents: true, OnLost: func(err error) { s.lost <- err },
		RunStage:    func(name string, do func() error) error { return s.patient(ctx, name, do) },
		OnMigration: func(now engine.Migration) { m.Show(now); s.tellMigrating(ctx, now) },
		OnRewound:   func(known, had int64) { s.rewound = fmt.Sprintf("it has %d commits of %d", had, known) },
	})
	if err != nil {
		return err
	}
	s.store = store
	if err := m.AddJob(ctx, store, s.log); err != nil {
		s.log.Warn("migration not kept among the jobs", "error", err)
	}
	if err := s.openBells(ctx); err != nil {
		return errors.Join(err, store.Close(ctx))
	}
	s.border = s.newBorder()
	s.mapping = activity.NewSpaceMapping(s.border, s.border)
	s.openFiles()
	return nil
}

// entitled ends everything when other processes may write the record: what this
// one sends from then on they may send, too.
func (s *Server) entitled(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-s.lost:
		return &apperr.Error{What: err.Error(), Where: "database", Remedy: "start again; what was decided is sent by whoever has the record", Code: apperr.TryAgain}
	}
}

// core is the rest of phase 1: everything that needs no network.
func (s *Server) core(ctx context.Context) error {
	if err := s.boot.Stage("seed_system_data", func() error { return errors.Join(s.recallServers(ctx), s.settle(ctx)) }); err != nil {
		return err
	}
	s.boot.Core()
	return nil
}

// unopened is why the record cannot be used; to be stopped meanwhile is no failure.
func (s *Server) unopened(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return storeopen.OpenError(err, storeopen.LocationName(s.config()))
}

// serve passes the gate, starts what may fail alone, and runs it all.
func (s *Server) serve(ctx context.Context, beside func(context.Context) error) error {
	trusted := s.boot.Stage("trust_gate", func() error { return s.gate(ctx) }) == nil
	s.telemetry = s.newTelemetry(ctx)
	s.shell = s.newShell()
	s.makeLines(trusted)
	s.console = s.newConsole()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.entitled(ctx) })
	g.Go(func() error { return s.narrator().Run(ctx) })
	g.Go(func() error { return s.telemetry.Run(ctx) })
	s.hearOthers(ctx, g)
	if err := s.listen(ctx, g); err != nil {
		return err
	}
	s.control(ctx, g)
	s.serveHooks(ctx, g)
	for _, watching := range s.watching() {
		g.Go(func() error { return watching(ctx) })
	}
	if !trusted {
		s.boot.Ready()
		s.boot.Phase("Trust Gate failed: only the core runs")
		g.Go(func() error { <-ctx.Done(); return nil })
		return s.wait(ctx, g)
	}
	s.boot.Phase("Trust Gate passed")
	s.boot.Trust()
	s.boot.Phase("Phase 2 (extensions)")
	s.extend(ctx, g)
	g.Go(func() error { return shrink(ctx, allocated, giveBack, func() { dropText() }) })
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

// makeLines prepares a line for the terminal and for each account.
func (s *Server) makeLines(trusted bool) {
	if !s.config().HasRole(config.RoleAdapters) {
		return
	}
	s.lineup.set([]*accountConn{s.newLine(localName, s.rooms, s.joinLocal)})
	if !s.platforms || !trusted {
		return
	}
	s.lineup.hired = make(chan *accountConn)
	for _, a := range s.config().Adapters {
		s.open(a)
	}
}

// extend starts what may fail one by one. Adapters are waited for side by side,
// and for a bounded time.
func (s *Server) extend(ctx context.Context, g *errgroup.Group) {
	_ = s.boot.Stage("model", s.tryModel) // the report has the error
	for _, later := range []string{"skill_sources", "tool_sync", "semantic_embeddings"} {
		_ = s.boot.Stage(later, func() error { return errSkipped }) // there is nothing of the kind to load
	}
	_ = s.boot.Stage("scheduler_init", func() error {
		s.scheduled.Store(true)
		for _, part := range s.working() {
			g.Go(func() error { return part(ctx) })
		}
		if s.reloader != nil {
			g.Go(func() error { return s.reloader.Run(ctx) })
		}
		return nil
	})
	g.Go(func() error {
		_ = s.boot.Stage("channel_connect", func() error { return s.connect(ctx, g) }) // the lines go on trying
		_ = s.boot.Stage("ready", func() error { s.boot.Ready(); return nil })
		close(s.ready)
		return nil
	})
}

// working are the parts that this process has by its roles.
func (s *Server) working() []func(context.Context) error {
	all := []func(context.Context) error{s.inherit, s.tell, s.sweep}
	if s.config().HasRole(config.RoleMinds) {
		all = append(all, s.shell.Run, s.presence.Run,
			func(ctx context.Context) error { return s.alone(ctx, dutyVoices, nil, s.write) },
			func(ctx context.Context) error { return s.alone(ctx, dutyFrames, nil, s.shedFrames) })
	}
	if s.config().HasRole(config.RoleAdapters) {
		all = append(all, s.runJobs, s.crew)
	}
	return all
}

// connect starts every line and returns once each has connected or said why it
// has not. Its error names those that have not.
func (s *Server) connect(ctx context.Context, g *errgroup.Group) error {
	lines := s.lineup.all()
	failed := make([]error, len(lines))
	var joins sync.WaitGroup
	for i, l := range lines {
		g.Go(func() error { return s.man(ctx, l) })
		joins.Go(func() {
			if err := s.boot.Stage("adapter_"+l.name, func() error { return l.firstOutcome(ctx) }); err != nil {
				failed[i] = fmt.Errorf("%s: %w", l.name, err)
			}
		})
	}
	joins.Wait()
	return errors.Join(failed...)
}

// wait ends with the group, and at the latest a grace after ctx. What failed first
// is why.
func (s *Server) wait(ctx context.Context, g *errgroup.Group) error {
	ended := make(chan error, 1)
	go func() { ended <- g.Wait() }()
	select {
	case err := <-ended:
		return over(err)
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
		return over(err)
	case <-time.After(grace):
		return why
	}
}

func over(err error) error {
	if errors.Is(err, errOver) {
		return nil
	}
	return err
}

// lastly does what is owed even when ctx has ended, within a grace.
func lastly(ctx context.Context, do func(context.Context) error) error {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeGrace)
	defer cancel()
	return do(last)
}

// listen serves the console.
func (s *Server) listen(ctx context.Context, g *errgroup.Group) error {
	if s.config().Listen == "" || !s.platforms || !s.config().HasRole(config.RoleConsole) {
		return nil
	}
	ln, err := s.listener, error(nil)
	if ln == nil {
		ln, err = new(net.ListenConfig).Listen(ctx, "tcp", s.config().Listen)
	}
	if err != nil {
		code := apperr.BadConfig
		if errors.Is(err, syscall.EADDRINUSE) { // by a process that is about to end, perhaps
			code = apperr.TryAgain
		}
		return &apperr.Error{What: "the address cannot be listened on: " + err.Error(), Where: "listen: " + s.config().Listen, Remedy: "stop what uses it, or set listen to another port", Code: code}
	}
	s.listenAt = ln.Addr().String()
	g.Go(func() error { return control.ServeHTTP(ctx, ln, s.console.Handler()) })
	return nil
}

func (s *Server) socket() string { return control.SocketPath(s.config()) }
