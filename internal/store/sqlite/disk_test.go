package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// A plate is a disk under the engine's own that a test can fill, and that knows what
// of the log would be there after a power cut.
type plate struct {
	vfs.VFSFilename
	whole  bool // it writes many pages whole or not at all, as F2FS does, to who asks for it
	full   atomic.Bool
	writes atomic.Int64
	synced atomic.Pointer[[]byte] // the log as it was when it was last synced
	cache  *cache                 // of what is written to the file; nil: that is not looked at
}

// mount has the files that a test opens lie on a plate.
func mount(t *testing.T) *plate {
	t.Helper()
	ours := vfs.Find(diskName)
	p := &plate{VFSFilename: vfs.Find("os").(vfs.VFSFilename)}
	vfs.Register(diskName, vfsWrapper{p})
	t.Cleanup(func() { vfs.Register(diskName, ours) })
	return p
}

func (p *plate) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, flags, err := p.VFSFilename.OpenFilename(name, flags)
	if err == nil && flags&vfs.OPEN_WAL != 0 {
		f = &groove{f, p, name.String()}
	}
	if s, ok := f.(systemFile); ok && p.cache != nil && flags&vfs.OPEN_MAIN_DB != 0 {
		f = &cached{systemFile: s, by: p.cache}
	}
	if s, ok := f.(systemFile); ok && p.whole {
		f = promising{s}
	}
	return f, flags, err
}

// A promising file can do more than what is wrapped around it.
type promising struct{ systemFile }

func (p promising) DeviceCharacteristics() vfs.DeviceCharacteristic {
	return p.systemFile.DeviceCharacteristics() | vfs.IOCAP_BATCH_ATOMIC
}

// A groove is the log on a plate.
type groove struct {
	vfs.File
	of   *plate
	name string
}

func (g *groove) WriteAt(b []byte, at int64) (int, error) {
	g.of.writes.Add(1)
	if g.of.full.Load() {
		n, err := g.File.WriteAt(b[:len(b)/2], at)
		return n, errors.Join(err, &fs.PathError{Op: "write", Path: g.name, Err: syscall.ENOSPC})
	}
	return g.File.WriteAt(b, at)
}

func (g *groove) Sync(flags vfs.SyncFlag) error {
	if err := g.File.Sync(flags); err != nil {
		return err
	}
	now, err := os.ReadFile(g.name)
	g.of.synced.Store(&now)
	return err
}

// DELIVERY 2.2.1, 2.7: a write that returned is there after a power cut, however little
// of what was not synced has reached the disk; and each is handed to the disk at once.
func TestWhatReturnedOutlivesAPowerCut(t *testing.T) {
	p, dir := mount(t), t.TempDir()
	s := openIn(t, dir)
	room := openRoom(t, s)
	for n := range 30 {
		before := p.writes.Load()
		_, err := s.Border().Record(t.Context(), message(room, n))
		testutil.OK(t, err)
		if made := p.writes.Load() - before; made > 2 {
			t.Errorf("a commit was handed over in %d parts", made)
		}
		if n%10 != 9 {
			continue
		}
		cut := t.TempDir()
		file, err := os.ReadFile(filepath.Join(dir, FileName))
		testutil.OK(t, err)
		testutil.OK(t, os.WriteFile(filepath.Join(cut, FileName), file, 0o600))
		testutil.OK(t, os.WriteFile(filepath.Join(cut, FileName+"-wal"), *p.synced.Load(), 0o600))
		after := openIn(t, cut)
		events, err := after.Shell().Events(t.Context(), room, spaces.Primary, 0, 1000)
		testutil.OK(t, err)
		said := slices.DeleteFunc(events, func(e spaces.Event) bool { _, ok := e.Body.(spaces.MessagePosted); return !ok })
		testutil.Same(t, "messages that are left", n+1, len(said))
	}
}

// DELIVERY 2.7 "Disk full": a write that finds the disk full says so and leaves nothing
// behind, and the next one that finds room is as good as any.
func TestAFullDiskIsSaidAndLeavesNothingBehind(t *testing.T) {
	p := mount(t)
	s := openIn(t, t.TempDir())
	room := openRoom(t, s)
	for n := range 12 {
		full := n%3 == 1
		p.full.Store(full)
		_, err := s.Border().Record(t.Context(), message(room, n))
		if full != errors.Is(err, engine.ErrFull) || !full && err != nil {
			t.Fatalf("full %t: %v", full, err)
		}
	}
	p.full.Store(false)
	events, err := s.Shell().Events(t.Context(), room, spaces.Primary, 0, 1000)
	testutil.OK(t, err)
	said := slices.DeleteFunc(events, func(e spaces.Event) bool { _, ok := e.Body.(spaces.MessagePosted); return !ok })
	testutil.Same(t, "messages", 8, len(said))
	found, err := s.Audit(t.Context(), start)
	testutil.OK(t, err)
	testutil.Same(t, "findings", 0, len(found))
}

// DELIVERY 2.7 "Disk full": pages of a large commit that the disk would not take when one
// of them was read again are not missed in silence once it has room: the commit fails,
// and the next one is as good as any.
func TestACommitIsNotWrittenBehindAGap(t *testing.T) {
	p := mount(t)
	s := aSession(t)
	job := func(statement string) error {
		testutil.OK(t, s.Save(t.Context()))
		if err := s.Run(t.Context(), statement); err != nil {
			return errors.Join(err, s.Undo(t.Context()))
		}
		return s.Keep(t.Context())
	}
	_, err := s.Begin(t.Context())
	testutil.OK(t, err)
	before := p.writes.Load()
	testutil.OK(t, job(`with recursive r (n) as (select 1 union all select n + 1 from r where n < 400)
insert into filler (body) select zeroblob(10000) from r`))
	if p.writes.Load() == before {
		t.Fatal("all of it was in memory")
	}
	p.full.Store(true)
	if err := job(`update filler set n = n + 1000`); !errors.Is(s.Kind(err), engine.ErrFull) {
		t.Fatalf("got %v, want ErrFull", err)
	}
	p.full.Store(false)
	err = job(`insert into filler (body) values (zeroblob(10000))`)
	if err = errors.Join(err, s.Commit(t.Context())); err == nil {
		t.Error("a commit that lacks pages was taken for whole")
	}
	s.fill(t)
	for question, want := range map[string]string{`pragma integrity_check`: "ok", `select count(*) from filler`: "1"} {
		got, err := s.ask(t.Context(), question)
		testutil.OK(t, err)
		testutil.Same(t, question, want, got)
	}
	testutil.OK(t, s.folder.stop())
}

// A disk that would write many pages whole or not at all is not asked for it: the
// engine would hand them over by calls that ours does not pass on.
func TestACopyIsTakenUpOnADiskThatPromisesMore(t *testing.T) {
	mount(t).whole = true
	from, dir := t.TempDir(), t.TempDir()
	room := openRoom(t, openIn(t, from))
	testutil.OK(t, copyTo(t.Context(), filepath.Join(from, FileName), filepath.Join(dir, FileName))) // it has no log yet
	_, err := openIn(t, dir).Border().Record(t.Context(), message(room, 1))
	testutil.OK(t, err)
}

// Pages held back are not missed: reading the log's file, or its length, writes them
// first, and a write at another offset is not appended to them.
func TestALogHasWhatItHolds(t *testing.T) {
	page := func(b byte) []byte { return []byte{b, b, b, b} }
	open := func(t *testing.T) (*log, string) {
		t.Helper()
		name := filepath.Join(t.TempDir(), "log")
		f, err := os.Create(name)
		testutil.OK(t, err)
		l := &log{File: &plain{f}}
		t.Cleanup(func() { testutil.OK(t, l.Close()) })
		for n, b := range []byte("abc") {
			_, err := l.WriteAt(page(b), int64(4*n))
			testutil.OK(t, err)
		}
		return l, name
	}
	t.Run("read", func(t *testing.T) {
		l, name := open(t)
		on, err := os.ReadFile(name)
		testutil.OK(t, err)
		testutil.Same(t, "handed over before anybody asks", "", string(on))
		got := make([]byte, 6)
		_, err = l.ReadAt(got, 2)
		testutil.OK(t, err)
		testutil.Same(t, "read", "aabbbb", string(got))
	})
	t.Run("length", func(t *testing.T) {
		l, _ := open(t)
		n, err := l.Size()
		testutil.OK(t, err)
		testutil.Same(t, "length", int64(12), n)
		testutil.OK(t, l.Truncate(8))
		n, err = l.Size()
		testutil.OK(t, err)
		testutil.Same(t, "length when cut", int64(8), n)
	})
	t.Run("elsewhere", func(t *testing.T) {
		l, name := open(t)
		_, err := l.WriteAt(page('x'), 4)
		testutil.OK(t, err)
		testutil.OK(t, l.Sync(vfs.SYNC_FULL))
		on, err := os.ReadFile(name)
		testutil.OK(t, err)
		testutil.Same(t, "on disk", "aaaaxxxxcccc", string(on))
	})
	t.Run("much", func(t *testing.T) {
		l, name := open(t)
		for n := 3; n < 2*mostHeld/4; n++ {
			_, err := l.WriteAt(page('d'), int64(4*n))
			testutil.OK(t, err)
		}
		if len(l.held) > mostHeld || cap(l.held) > 2*mostHeld {
			t.Errorf("%d bytes are held", len(l.held))
		}
		info, err := os.Stat(name)
		testutil.OK(t, err)
		if info.Size() < mostHeld {
			t.Errorf("%d bytes are handed over", info.Size())
		}
	})
}

// plain is a file as the system has it.
type plain struct{ *os.File }

func (p *plain) Sync(vfs.SyncFlag) error          { return p.File.Sync() }
func (p *plain) Size() (int64, error)             { info, err := p.Stat(); return info.Size(), err }
func (p *plain) Lock(vfs.LockLevel) error         { return nil }
func (p *plain) Unlock(vfs.LockLevel) error       { return nil }
func (p *plain) CheckReservedLock() (bool, error) { return false, nil }
func (p *plain) SectorSize() int                  { return 0 }
func (p *plain) DeviceCharacteristics() vfs.DeviceCharacteristic {
	return 0
}
