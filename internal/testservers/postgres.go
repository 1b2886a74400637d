package testservers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

// A PostgresServer is a private server with an empty data folder. Its user is trestle,
// without a password. It starts when the first database is made on it; the caller
// stops it.
type PostgresServer struct {
	Port int

	once sync.Once
	dir  string // of the database files
	who  *syscall.Credential
	bin  string
	runs *server
	made atomic.Int64 // databases so far
}

func (p *PostgresServer) start(ctx context.Context) (err error) {
	if p.bin, err = postgresPrograms(); err != nil {
		return err
	}
	if p.who, err = humble("postgres"); err != nil {
		return err
	}
	if p.dir, err = folder(p.who); err != nil {
		return err
	}
	data := filepath.Join(p.dir, "data")
	initdb := exec.CommandContext(ctx, filepath.Join(p.bin, "initdb"), "-D", data, "-U", "trestle", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
	initdb.SysProcAttr, initdb.Dir = &syscall.SysProcAttr{Credential: p.who}, p.dir
	if said, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, said)
	}
	return p.serve(ctx)
}

// serve starts the server on its data and returns once it answers.
func (p *PostgresServer) serve(ctx context.Context) (err error) {
	if p.Port, err = freePort(); err != nil {
		return err
	}
	p.runs, err = launch(p.dir, p.who, "QUIT", filepath.Join(p.bin, "postgres"), "-D", filepath.Join(p.dir, "data"), "-p", strconv.Itoa(p.Port),
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "max_connections=200")
	if err != nil {
		return err
	}
	return p.runs.answers(ctx, p.ping)
}

// postgresPrograms returns the folder of the newest server that is installed.
func postgresPrograms() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		one, err := exec.LookPath("initdb")
		if err != nil {
			return "", missing("a Postgres server", "postgresql")
		}
		return filepath.Dir(one), nil
	}
	newest := slices.MaxFunc(found, func(a, b string) int { return versionOf(a) - versionOf(b) })
	return filepath.Dir(newest), nil
}

func versionOf(program string) int {
	n, err := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(program))))
	if err != nil {
		return 0
	}
	return n
}

// Crash ends the server without letting it put anything in order.
func (p *PostgresServer) Crash(tb testing.TB) {
	tb.Helper()
	if err := p.runs.down(tb.Context()); err != nil {
		tb.Fatal(err)
	}
}

// Return starts the server again, on the same data and the same port.
func (p *PostgresServer) Return(tb testing.TB) {
	tb.Helper()
	if err := p.runs.up(); err != nil {
		tb.Fatal(err)
	}
	if err := p.runs.answers(tb.Context(), p.ping); err != nil {
		tb.Fatal(err)
	}
}

// Remember puts aside what the server, which is down, has on its disk; Rewind has it
// go on from there when it is started, as a replica does that had heard no more.
func (p *PostgresServer) Remember(tb testing.TB) {
	tb.Helper()
	p.copy(tb, "data", "earlier")
}

// Rewind puts back what [Postgres.Remember] put aside. The server is down.
func (p *PostgresServer) Rewind(tb testing.TB) {
	tb.Helper()
	p.copy(tb, "earlier", "data")
}

func (p *PostgresServer) copy(tb testing.TB, from, to string) {
	tb.Helper()
	from, to = filepath.Join(p.dir, from), filepath.Join(p.dir, to)
	if err := os.RemoveAll(to); err != nil {
		tb.Fatal(err)
	}
	if said, err := exec.CommandContext(tb.Context(), "cp", "-a", from, to).CombinedOutput(); err != nil {
		tb.Fatalf("cp: %v: %s", err, said)
	}
}

func (p *PostgresServer) ping(ctx context.Context) error { return p.do(ctx, "postgres", "select 1") }

// Stop ends the server and removes its data.
func (p *PostgresServer) Stop() error {
	if p.runs == nil {
		return nil
	}
	return p.runs.stop()
}

// URL names a database of the server.
func (p *PostgresServer) URL(name string) string {
	return fmt.Sprintf("postgres://trestle@127.0.0.1:%d/%s?sslmode=disable", p.Port, name)
}

// Database makes an empty database and returns its name. Calls may overlap.
func (p *PostgresServer) Database(tb testing.TB) string {
	tb.Helper()
	name, err := p.Create(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return name
}

// Create is [Postgres.Database] for programs.
func (p *PostgresServer) Create(ctx context.Context) (name string, err error) {
	p.once.Do(func() { err = p.start(ctx) })
	if err != nil {
		return "", err
	}
	name = "t" + strconv.FormatInt(p.made.Add(1), 10)
	return name, p.do(ctx, "postgres", "create database "+name)
}

// Do runs statements in a database, on a connection of its own.
func (p *PostgresServer) Do(tb testing.TB, database, statements string) {
	tb.Helper()
	if err := p.do(tb.Context(), database, statements); err != nil {
		tb.Fatal(err)
	}
}

func (p *PostgresServer) do(ctx context.Context, database, statements string) error {
	c, err := pgx.Connect(ctx, p.URL(database))
	if err != nil {
		return err
	}
	_, err = c.PgConn().Exec(ctx, statements).ReadAll()
	return errors.Join(err, c.Close(ctx))
}
