// Package blobs stores files in a folder under the hash of their content.
//
// A file with its final name is complete and on disk, also after a power failure: it is
// renamed last. The same content is stored once. The package does not know what the
// files contain or which code uses them.
package blobs

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/activity/media"
)

// unfinished is how the names of files begin that are still being written.
const unfinished = "coming-"

// fresh is how long a new file is not removed: the database may not refer to it yet.
const fresh = time.Minute

// stale is how long an unfinished file is left alone after its last write.
const stale = 10 * time.Minute

// isYoung reports whether something was written to a file within d, by the clock of
// the disk, which may be another machine's.
func isYoung(name string, d time.Duration) bool {
	info, err := os.Stat(name)
	return err == nil && time.Since(info.ModTime()).Abs() <= d
}

// A BlobDir is a folder of files. It is safe for concurrent use.
type BlobDir struct {
	path string

	mu     sync.Mutex           // guards what follows; held while a name comes or goes, which no disk is waited for
	placed map[string]time.Time // by hash, those of the last moments
}

var (
	_ media.BlobStore = (*BlobDir)(nil)
	_ media.BlobGC    = (*BlobDir)(nil)
)

// Open returns the folder at path, without what an earlier process had begun to
// write. Several processes may have it open. It is made when something is first put
// there.
func Open(path string) (*BlobDir, error) {
	begun, err := filepath.Glob(filepath.Join(path, unfinished+"*"))
	for _, name := range begun {
		if !isYoung(name, stale) { // another process may be at it
			err = errors.Join(err, os.Remove(name))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open the folder of files: %w", err)
	}
	return &BlobDir{path: path, placed: map[string]time.Time{}}, nil
}

// KeepPrivate takes the rights of others from the folder, and reports whether they had any.
func (f *BlobDir) KeepPrivate() (changed bool, err error) {
	info, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look at the folder of files: %w", err)
	case info.Mode().Perm()&0o077 == 0:
		return false, nil
	}
	if err := os.Chmod(f.path, info.Mode().Perm()&0o700); err != nil {
		return false, fmt.Errorf("take the rights of others from the folder of files: %w", err)
	}
	return true, nil
}

// Path returns where the bytes with that hash stand, if they do.
func (f *BlobDir) Path(hash string) string {
	if len(hash) < 3 {
		return filepath.Join(f.path, hash)
	}
	return filepath.Join(f.path, hash[:2], hash)
}

// Take opens the file with that hash; the caller closes it. Files never change.
func (f *BlobDir) Take(hash string) (io.ReadCloser, error) {
	kept, err := os.Open(f.Path(hash))
	if err != nil {
		return nil, fmt.Errorf("open a file that is kept: %w", err)
	}
	return kept, nil
}

// Put keeps what body gives and returns its SHA-256 in hex and its length. What
// body fails with is returned as it is.
func (f *BlobDir) Put(body io.Reader) (hash string, size int64, err error) {
	if err := os.MkdirAll(f.path, 0o700); err != nil {
		return "", 0, fmt.Errorf("make the folder of files: %w", err)
	}
	coming, err := os.CreateTemp(f.path, unfinished+"*")
	if err != nil {
		return "", 0, fmt.Errorf("begin a file: %w", err)
	}
	sum := sha256.New()
	size, err = io.Copy(io.MultiWriter(coming, sum), body)
	if err == nil {
		err = coming.Sync()
	}
	err = errors.Join(err, coming.Close())
	hash = hex.EncodeToString(sum.Sum(nil))
	if err == nil {
		err = f.place(coming.Name(), hash)
	}
	if err != nil {
		return "", 0, errors.Join(err, os.Remove(coming.Name()))
	}
	return hash, size, nil
}

// place gives a file its name and makes sure that the name is on disk.
func (f *BlobDir) place(from, hash string) error {
	to := f.Path(hash)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return fmt.Errorf("make room for a file: %w", err)
	}
	if err := f.name(from, to, hash); err != nil {
		return fmt.Errorf("name a file: %w", err)
	}
	folder, err := os.Open(filepath.Dir(to))
	if err != nil {
		return fmt.Errorf("name a file: %w", err)
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// name has the file stand under its hash, for some moments out of reach of Remove.
func (f *BlobDir) name(from, to, hash string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(f.placed, func(_ string, at time.Time) bool { return now.Sub(at) > fresh })
	f.placed[hash] = now
	return os.Rename(from, to)
}

// mark is the name of the file that tells folders apart.
const mark = "folder"

// Mark returns what tells this folder from every other, wherever it is mounted. The
// first who asks writes it there, with an id that newID mints.
func (f *BlobDir) Mark(newID func() string) (string, error) {
	if err := os.MkdirAll(f.path, 0o700); err != nil {
		return "", fmt.Errorf("mark the folder of files: %w", err)
	}
	name := filepath.Join(f.path, mark)
	id := newID()
	own := filepath.Join(f.path, unfinished+id)
	err := os.WriteFile(own, []byte(id), 0o600)
	if err == nil {
		err = os.Link(own, name) // whole, or not at all
		_ = os.Remove(own)       // else the next who opens the folder does
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("mark the folder of files: %w", err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("mark the folder of files: %w", err)
	}
	return string(text), nil
}

// Hashes implements [activity.BlobGC].
func (f *BlobDir) Hashes() ([]string, error) {
	found, err := filepath.Glob(filepath.Join(f.path, "??", strings.Repeat("?", 2*sha256.Size)))
	for i := range found {
		found[i] = filepath.Base(found[i])
	}
	return found, err
}

// Remove implements [activity.BlobGC]. A reader that has the file open can read it to
// its end.
func (f *BlobDir) Remove(hash string) (removed bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if at, ok := f.placed[hash]; ok && time.Since(at) <= fresh || isYoung(f.Path(hash), fresh) {
		return false, nil
	}
	if err := os.Remove(f.Path(hash)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("remove a file: %w", err)
	}
	return true, nil
}
