package sqlite

import (
	"encoding/binary"
	"errors"
	"io"
	"syscall"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
)

// diskName is what the engine calls the disk by. It is known before the first file is
// opened.
var diskName = func() string {
	const name = "trestle"
	vfs.Register(name, vfsWrapper{vfs.Find("os").(vfs.VFSFilename)})
	return name
}()

// A vfsWrapper is the system's, but that the engine hears when it is full, and that its log
// is written a commit at a time.
type vfsWrapper struct{ vfs.VFSFilename }

// OpenFilename implements [vfs.VFSFilename].
func (d vfsWrapper) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, flags, err := d.VFSFilename.OpenFilename(name, flags)
	if err != nil {
		return nil, flags, err
	}
	if flags&vfs.OPEN_WAL != 0 {
		return &log{File: f}, flags, nil
	}
	if whole, ok := f.(systemFile); ok {
		return &file{systemFile: whole}, flags, nil
	}
	return f, flags, nil
}

// A systemFile does all that the engine may ask of a file of the system.
type systemFile interface {
	vfs.File
	vfs.FileLockState
	vfs.FileHasMoved
	vfs.FilePersistWAL
	vfs.FilePowersafeOverwrite
	vfs.FileSharedMemory
	vfs.FileMemoryMapper
	vfs.FileSizeHint
}

// A file is any but the log.
type file struct {
	systemFile
	lost error // why what was folded in may not be on the disk
}

// WriteAt implements [vfs.File].
func (f *file) WriteAt(p []byte, at int64) (int, error) {
	if f.lost != nil {
		return 0, f.lost
	}
	n, err := f.systemFile.WriteAt(p, at)
	return n, told(err)
}

// Sync implements [vfs.File].
func (f *file) Sync(flags vfs.SyncFlag) error {
	if f.lost != nil {
		return f.lost
	}
	return f.systemFile.Sync(flags)
}

// SizeHint implements [vfs.FileSizeHint].
func (f *file) SizeHint(size int64) error { return told(f.systemFile.SizeHint(size)) }

// CheckpointStart implements [vfs.FileCheckpoint].
func (f *file) CheckpointStart() {}

// CheckpointDone implements [vfs.FileCheckpoint]: what was folded in goes to the disk
// while the session writes, rather than when the log ends and the session waits. The
// engine does not hear what fails here, and the system says it only once: asked again,
// it knows nothing of the pages that it lost. So nothing more is folded in by this
// file, and no log ends, until the next process folds in all of it.
func (f *file) CheckpointDone() {
	if f.lost == nil {
		f.lost = f.systemFile.Sync(vfs.SYNC_NORMAL)
	}
}

// DeviceCharacteristics implements [vfs.File]. That many pages are written whole or not
// at all takes calls that are not passed on.
func (f *file) DeviceCharacteristics() vfs.DeviceCharacteristic {
	return f.systemFile.DeviceCharacteristics() &^ vfs.IOCAP_BATCH_ATOMIC
}

// told gives what a full disk or a used-up share of it says the code that the engine
// has for it.
func told(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return vfs.SystemError(err, sqlite3.FULL)
	}
	return err
}

// headSize is how long the head of a page is; behind the page's number it has how many
// pages the file has after a commit that the page ends, and nothing otherwise
// (sqlite.org/fileformat2.html, "The Write-Ahead Log").
const headSize = 24

// mostHeld is how many bytes of the log are held back at the most.
const mostHeld = 256 << 10

// A log is the file that a commit is appended to, page by page with a head before each.
// The system gets them all at once, with the last page of the commit: it is asked once
// for a commit, where it was twice for a page. No reader needs the pages held back:
// other connections read the log up to the last commit, and its own connection reads it
// by this file.
type log struct {
	vfs.File
	held []byte // what the system has not got yet
	at   int64  // where that begins
	last bool   // the page that comes next ends a commit
	gap  error  // why the system did not take all that it was handed
	end  int64  // how far it has it then
}

// WriteAt holds p back behind what is held, if that is its place. Behind a gap there is
// none: the engine goes on after a read that failed for it, and would end a commit there.
func (l *log) WriteAt(p []byte, at int64) (int, error) {
	if err := l.gap; err != nil && at > l.end {
		l.gap = nil // what is not written whole is taken back
		return 0, err
	}
	l.end = max(l.end, at+int64(len(p)))
	if at != l.at+int64(len(l.held)) || len(l.held)+len(p) > mostHeld {
		if err := l.flush(); err != nil {
			return 0, err
		}
		l.at = at
	}
	l.held = append(l.held, p...)
	ends := l.last
	l.last = len(p) == headSize && binary.BigEndian.Uint32(p[4:]) != 0
	if ends {
		return len(p), l.flush()
	}
	return len(p), nil
}

// flush hands on what is held. What fails is given up: the engine writes the next commit
// over it.
func (l *log) flush() error {
	if len(l.held) == 0 {
		return nil
	}
	n, err := l.File.WriteAt(l.held, l.at)
	if err == nil && n < len(l.held) {
		err = io.ErrShortWrite
	}
	if err = told(err); err != nil {
		l.gap, l.end = err, l.at+int64(n)
	}
	l.at += int64(len(l.held))
	l.held = l.held[:0]
	return err
}

// ReadAt implements [vfs.File].
func (l *log) ReadAt(p []byte, at int64) (int, error) {
	if err := l.flush(); err != nil {
		return 0, err
	}
	return l.File.ReadAt(p, at)
}

// Sync implements [vfs.File].
func (l *log) Sync(flags vfs.SyncFlag) error {
	if err := l.flush(); err != nil {
		return err
	}
	return l.File.Sync(flags)
}

// Truncate implements [vfs.File].
func (l *log) Truncate(size int64) error {
	if err := l.flush(); err != nil {
		return err
	}
	return l.File.Truncate(size)
}

// Size implements [vfs.File].
func (l *log) Size() (int64, error) {
	if err := l.flush(); err != nil {
		return 0, err
	}
	return l.File.Size()
}

// Close implements [vfs.File].
func (l *log) Close() error { return errors.Join(l.flush(), l.File.Close()) }
