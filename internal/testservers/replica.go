package testservers

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// Follow starts a server that follows this one, which it reaches by a port; the port of
// a link delays its replication. The replication is asynchronous. The caller stops it.
func (p *PostgresServer) Follow(tb testing.TB, port int) *PostgresServer {
	tb.Helper()
	r := &PostgresServer{bin: p.bin, who: p.who}
	if err := r.follow(tb.Context(), port); err != nil {
		tb.Fatal(err)
	}
	return r
}

func (p *PostgresServer) follow(ctx context.Context, port int) (err error) {
	if p.dir, err = folder(p.who); err != nil {
		return err
	}
	copied := exec.CommandContext(ctx, filepath.Join(p.bin, "pg_basebackup"), "-D", filepath.Join(p.dir, "data"),
		"-h", "127.0.0.1", "-p", strconv.Itoa(port), "-U", "trestle", "--write-recovery-conf", "--checkpoint=fast", "--no-sync")
	copied.SysProcAttr, copied.Dir = &syscall.SysProcAttr{Credential: p.who}, p.dir
	if said, err := copied.CombinedOutput(); err != nil {
		return fmt.Errorf("pg_basebackup: %w: %s", err, said)
	}
	return p.serve(ctx)
}

// Promote has a server that followed another one take over from it, with what it has
// heard.
func (p *PostgresServer) Promote(tb testing.TB) {
	tb.Helper()
	p.Do(tb, "postgres", `select pg_promote()`)
}
