package backup

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"
)

// staleAfter is how long nothing has written to the partial file of a backup that was cut
// off. A copy that runs writes all the time.
const staleAfter = 10 * time.Minute

// databaseHeader begins each SQLite file (sqlite.org/fileformat.html).
var databaseHeader = []byte("SQLite format 3\x00")

// RemoveStale removes the partial files in a folder that backups left there which were cut
// off: those that end in .partial, hold the beginning of a copy or nothing, and were not
// written to for ten minutes. It returns how many it removed.
func RemoveStale(folder string, now time.Time) (removed int, err error) {
	files, err := os.ReadDir(folder)
	if err != nil {
		return 0, IgnoreMissing(err)
	}
	for _, entry := range files {
		file := filepath.Join(folder, entry.Name())
		info, statErr := os.Lstat(file)
		if statErr != nil || filepath.Ext(file) != ".partial" || !info.Mode().IsRegular() || now.Sub(info.ModTime()) < staleAfter || !isCopy(file) {
			continue
		}
		if failed := IgnoreMissing(os.Remove(file)); failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		removed++
	}
	return removed, err
}

// isCopy reports whether a file is empty or begins like a database.
func isCopy(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it was only read
	begin := make([]byte, len(databaseHeader))
	n, err := io.ReadFull(f, begin)
	return errors.Is(err, io.EOF) || err == nil && bytes.Equal(begin[:n], databaseHeader)
}
