// Package files keeps bytes in a folder under their own hash.
//
// What has a name there is whole and on disk, also after the power failed: a
// file gets its name last. The same bytes are kept once. The package knows
// nothing of what the bytes are or who wants them.
package files

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/trestle-bridge/trestle/activity"
)

// unfinished is how the names of files begin that are still being written.
const unfinished = "coming-"

// A Folder is a folder of files. It is safe for concurrent use.
type Folder struct{ path string }

var _ activity.Cupboard = (*Folder)(nil)

// Open returns the folder at path, without what an earlier process had begun to
// write. One process may have it open. It is made when something is first put there.
func Open(path string) (*Folder, error) {
	begun, err := filepath.Glob(filepath.Join(path, unfinished+"*"))
	for _, name := range begun {
		err = errors.Join(err, os.Remove(name))
	}
	if err != nil {
		return nil, fmt.Errorf("open the folder of files: %w", err)
	}
	return &Folder{path}, nil
}

// Path returns where the bytes with that hash stand, if they do.
func (f *Folder) Path(hash string) string {
	if len(hash) < 3 {
		return filepath.Join(f.path, hash)
	}
	return filepath.Join(f.path, hash[:2], hash)
}

// Take opens the bytes with that hash; the caller closes. Nobody ever changes them.
func (f *Folder) Take(hash string) (io.ReadCloser, error) {
	kept, err := os.Open(f.Path(hash))
	if err != nil {
		return nil, fmt.Errorf("open a file that is kept: %w", err)
	}
	return kept, nil
}

// Put keeps what body gives and returns its SHA-256 in hex and its length. What
// body fails with is returned as it is.
func (f *Folder) Put(body io.Reader) (hash string, size int64, err error) {
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
		err = place(coming.Name(), f.Path(hash))
	}
	if err != nil {
		return "", 0, errors.Join(err, os.Remove(coming.Name()))
	}
	return hash, size, nil
}

// place gives a file its name and makes sure that the name is on disk.
func place(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return fmt.Errorf("make room for a file: %w", err)
	}
	if err := os.Rename(from, to); err != nil {
		return fmt.Errorf("name a file: %w", err)
	}
	folder, err := os.Open(filepath.Dir(to))
	if err != nil {
		return fmt.Errorf("name a file: %w", err)
	}
	return errors.Join(folder.Sync(), folder.Close())
}
