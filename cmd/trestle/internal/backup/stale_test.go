package backup

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

// What a backup that was cut off has left is removed; other files, and those of a backup
// that runs, are not.
func TestOnlyWhatACutOffBackupLeftIsRemoved(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a[b]*")
	testutil.OK(t, os.Mkdir(folder, 0o700))
	now := time.Now()
	for name, f := range map[string]struct {
		text string
		age  time.Duration
	}{
		"monday.db.partial": {"SQLite format 3\x00...", time.Hour}, "tuesday.db.123.partial": {"", time.Hour},
		"running.db.partial": {"SQLite format 3\x00...", time.Minute}, "film.mkv.partial": {"other words than those", time.Hour},
		"short.partial": {"SQL", time.Hour}, "monday.db": {"SQLite format 3\x00...", time.Hour},
	} {
		file := filepath.Join(folder, name)
		testutil.OK(t, os.WriteFile(file, []byte(f.text), 0o600))
		testutil.OK(t, os.Chtimes(file, now, now.Add(-f.age)))
	}
	removed, err := RemoveStale(folder, now)
	if err != nil || removed != 2 {
		t.Errorf("%d files were removed, %v", removed, err)
	}
	left, err := os.ReadDir(folder)
	testutil.OK(t, err)
	var names []string
	for _, f := range left {
		names = append(names, f.Name())
	}
	if want := []string{"film.mkv.partial", "monday.db", "running.db.partial", "short.partial"}; !slices.Equal(names, want) {
		t.Errorf("left are %q, want %q", names, want)
	}
}
