package doctor

import (
	"fmt"
	"io/fs"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/clockskew"
)

// A DataDir is what an examination of the data folder found.
type DataDir struct {
	Folder  string
	Exists  bool        // there is a record
	Mode    fs.FileMode // of the folder
	Network bool        // the folder is on a file system that other machines share
	Free    uint64      // bytes
	Total   uint64
	Engine  string // "SQLite, WAL, synchronous=FULL"
	Refused string // why the database cannot be used; empty when it can
	Damage  string // what the engine's own check says; empty when it is sound
	Schema  int64
	Knows   int64  // the newest schema that this program reads
	Pending int    // migrations to it that the next start runs
	Bytes   uint64 // of the file that is copied before them; 0: none is
	Program string // the version that last opened it; empty when not known
	Held    bool   // a process holds it
	Holder  int    // its number; 0 when it did not say
	Answers bool   // that process answers on its socket
	Backup  time.Time
	Began   time.Time // when the record began; zero when not known
	// MaxAge is how old the last backup may be; 0 is any age.
	MaxAge time.Duration
}

// Limits of what is healthy.
const (
	LowDisk = 0.05             // share of the disk that must be free
	MaxSkew = 30 * time.Second // between our clock and another's
)

// Examine returns what is wrong with the record at a moment, by the clocks that
// were read meanwhile.
func (r DataDir) Examine(clocks []clockskew.ClockOffset, at time.Time) []adapters.AccountDiagnosis {
	var found []adapters.AccountDiagnosis
	add := func(bad bool, f adapters.AccountDiagnosis) {
		if bad {
			found = append(found, f)
		}
	}
	add(r.Network, Fail("TRS-R06", r.Folder+" is on a network file system, where SQLite's locks do not hold",
		"move the data folder to a disk of this machine"))
	add(r.Total > 0 && r.Share() < LowDisk, Fail("TRS-R01", fmt.Sprintf("the disk is nearly full: %s free, %.1f %%", Bytes(r.Free), 100*r.Share()),
		"make room, or move the data folder"))
	add(r.Exists && r.Mode&0o077 != 0, Warn("TRS-R09", fmt.Sprintf("%s can be read by other users: mode %04o", r.Folder, r.Mode.Perm()),
		"chmod 0700 "+r.Folder+", or trestle doctor --fix"))
	add(r.Refused != "", Fail("TRS-R11", "the database cannot be used: "+r.Refused,
		"see that the server runs, that the address and the password are right, and that it is set up as docs/operate.md says"))
	add(r.Damage != "", Fail("TRS-R07", "the database is damaged: "+r.Damage, "stop the program and restore a backup: see docs/operate.md"))
	add(r.Schema > r.Knows, Fail("TRS-R04", fmt.Sprintf("the schema is %d, and this program knows %d%s", r.Schema, r.Knows, r.writer()),
		"use that version, or restore a backup made before it"))
	if r.Exists && r.Pending > 0 && r.Schema <= r.Knows {
		found = append(found, r.older())
	}
	add(r.Held && !r.Answers, Fail("TRS-R08", "another process holds the data folder and does not answer"+r.holder(),
		"see what it is; stop it before another trestle run"))
	add(r.stale(at), Warn("TRS-R02", "the last backup is old: "+r.age(at), "trestle backup FILE, every day by a timer for instance"))
	for _, c := range clocks {
		add(c.Off.Abs() > MaxSkew, Warn("TRS-H01", fmt.Sprintf("the clock of %s is %s", c.Host, aside(c.Off)),
			"set the clock of this machine, by NTP for instance"))
	}
	if len(found) == 0 {
		return []adapters.AccountDiagnosis{Fine(r.summary(clocks))}
	}
	return found
}

// Share is how much of the disk is free.
func (r DataDir) Share() float64 {
	if r.Total == 0 {
		return 1
	}
	return float64(r.Free) / float64(r.Total)
}

func (r DataDir) writer() string {
	if r.Program == "" {
		return ""
	}
	return "; trestle " + r.Program + " wrote it"
}

// older says what the next start makes of a record of an older schema.
func (r DataDir) older() adapters.AccountDiagnosis {
	what := fmt.Sprintf("the schema is %d, and this program's is %d: its next start takes the steps to it, %d in all", r.Schema, r.Knows, r.Pending)
	if r.Bytes == 0 {
		return Warn("TRS-R16", what+"; no copy is made before", "make one with pg_dump, stop every older process, then start, or trestle migrate")
	}
	need := r.Bytes * 5 / 2
	what += fmt.Sprintf(", and sets a copy aside before; that needs %s", Bytes(need))
	if r.Total > 0 && r.Free < need {
		return Fail("TRS-R16", what+", and "+Bytes(r.Free)+" are free", "make room: until then the start is refused, and nothing is changed")
	}
	return Warn("TRS-R16", what, "see that it can: trestle run --check; then start, or trestle migrate")
}

func (r DataDir) holder() string {
	if r.Holder == 0 {
		return ""
	}
	return fmt.Sprintf(": process %d", r.Holder)
}

// stale reports whether the last backup is older than it may be.
func (r DataDir) stale(at time.Time) bool {
	since := r.Backup
	if since.IsZero() {
		since = r.Began
	}
	return r.Exists && r.MaxAge > 0 && !since.IsZero() && at.Sub(since) > r.MaxAge
}

func (r DataDir) age(at time.Time) string {
	if r.Backup.IsZero() {
		return "none was ever made"
	}
	return fmt.Sprintf("%d days", int(at.Sub(r.Backup).Hours()/24))
}

func (r DataDir) summary(clocks []clockskew.ClockOffset) string {
	s := "nothing is here yet; the first start makes it"
	if r.Exists {
		s = r.Engine
	}
	if r.Total > 0 {
		s += ", " + Bytes(r.Free) + " free"
	}
	if len(clocks) > 0 {
		s += ", clock within " + span(within(clocks))
	}
	return s
}

// within is the greatest difference of all clocks, to the next second.
func within(clocks []clockskew.ClockOffset) time.Duration {
	most := time.Second
	for _, c := range clocks {
		most = max(most, c.Off.Abs())
	}
	return most
}

// aside says how far a clock is from ours.
func aside(off time.Duration) string {
	if off > 0 {
		return span(off) + " ahead of ours"
	}
	return span(off.Abs()) + " behind ours"
}

// span writes a length of time by its greatest unit.
func span(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%d h", int(d.Hours()))
}

// Bytes writes a number of bytes for people.
func Bytes(n uint64) string {
	size, unit := float64(n), 0
	for size >= 1000 && unit < 4 {
		size, unit = size/1000, unit+1
	}
	if unit == 0 {
		return fmt.Sprintf("%d B", n)
	}
	if size >= 10 {
		return fmt.Sprintf("%.0f %cB", size, "kMGT"[unit-1])
	}
	return fmt.Sprintf("%.1f %cB", size, "kMGT"[unit-1])
}
