package sqlite

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

// A cache is what a system keeps of a file until it is synced. As Linux does, it forgets
// what the disk would not take, and says so once to each who has the file open.
type cache struct {
	mu      sync.Mutex // guards all below
	refuses bool       // the disk will not take what is synced next
	refused int        // how often it did not
	waiting []written
	disk    bytes.Buffer
}

type written struct {
	what []byte
	at   int64
}

// sync has what waits reach the disk, unless that refuses it.
func (c *cache) sync() {
	if c.refuses {
		c.refuses, c.waiting = false, nil
		c.refused++
	}
	for _, w := range c.waiting {
		if more := int(w.at) + len(w.what) - c.disk.Len(); more > 0 {
			c.disk.Write(make([]byte, more))
		}
		copy(c.disk.Bytes()[w.at:], w.what)
	}
	c.waiting = nil
}

// A cached file is one of those who have the file open.
type cached struct {
	systemFile
	by   *cache
	told int
}

func (f *cached) WriteAt(b []byte, at int64) (int, error) {
	f.by.mu.Lock()
	defer f.by.mu.Unlock()
	f.by.waiting = append(f.by.waiting, written{bytes.Clone(b), at})
	return f.systemFile.WriteAt(b, at)
}

func (f *cached) Sync(vfs.SyncFlag) error {
	f.by.mu.Lock()
	defer f.by.mu.Unlock()
	f.by.sync()
	if f.told < f.by.refused {
		f.told = f.by.refused
		return syscall.EIO
	}
	return nil
}

// DELIVERY 2.2.1, 2.7: what the disk would not take when the log was folded in stays in
// the log, although the system forgets it and says so only once.
func TestLogIsKeptWhenTheDiskRefusesWhatWasFoldedIn(t *testing.T) {
	for name, part := range map[string]bool{"all of it": false, "a part of it": true} {
		t.Run(name, func(t *testing.T) {
			p := mount(t)
			p.cache = &cache{}
			s := aSession(t)
			rows := 0
			write := func() { s.fill(t); rows++ }
			write()
			end := func() {}
			if part {
				end = s.look(t)
				write()
			}
			p.cache.refuses = true
			s.folder.part(t.Context(), s.folder.connection)
			testutil.Same(t, "times that the disk refused", 1, p.cache.refused)
			end()
			for range 3 { // the last one would find its room in a log that began anew
				s.folder.rest.Store(true)
				write()
			}
			testutil.OK(t, s.folder.stop())
			testutil.Same(t, "rows after a power cut", rows, p.rowsLeft(t))
		})
	}
}

// look begins to read and returns what ends it: no more of the log is folded in than
// what was there.
func (s *session) look(t *testing.T) (end func()) {
	t.Helper()
	c, err := connect(source(s.Filename("main").Database(), "ro", reading))
	testutil.OK(t, err)
	for _, text := range []string{beginRead, `select count(*) from filler`} {
		_, err := c.Exec(t.Context(), text)
		testutil.OK(t, err)
	}
	return func() { testutil.OK(t, c.Close()) }
}

// rowsLeft returns how many rows the disk has of a session's table.
func (p *plate) rowsLeft(t *testing.T) (n int) {
	t.Helper()
	dir := t.TempDir()
	testutil.OK(t, os.WriteFile(filepath.Join(dir, FileName), p.cache.disk.Bytes(), 0o600))
	testutil.OK(t, os.WriteFile(filepath.Join(dir, FileName+"-wal"), *p.synced.Load(), 0o600))
	db := raw(t, dir)
	var sound string
	testutil.OK(t, db.QueryRowContext(t.Context(), `pragma integrity_check`).Scan(&sound))
	testutil.Same(t, "integrity", "ok", sound)
	testutil.OK(t, db.QueryRowContext(t.Context(), `select count(*) from filler`).Scan(&n))
	return n
}
