package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/trestle-bridge/trestle/internal/jobs"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
)

// BackupKind is the kind of job that copies the record.
const BackupKind = "backup"

// backupTick is the time between two progress reports of a copy.
const backupTick = time.Second

// ErrCutOff is the reason why an interrupted backup is not continued.
var ErrCutOff = errors.New("it was cut off, or this record is its copy; nothing is left of it")

// CopyRequest names the file that a copy goes to.
type CopyRequest struct {
	File string `json:"file"` // absolute
	// Partial is the file that is written until the copy is whole. The caller that adds the job
	// names it.
	Partial string `json:"partial,omitempty"`
}

// CopyResult is the job, and the partial file: a process that sees that file has the same
// folder as the one that writes it.
type CopyResult struct {
	jobs.JobSnapshot
	Partial string `json:"partial"`
}

// CopyJob copies the database. A file of the requested name is always a whole copy. An
// interrupted job fails, and starts again when it is resumed: the copy of a database contains
// the job that made it, and must not be made again after a restore.
type CopyJob struct {
	Store   *sqlstore.Store
	DataDir string // the data folder
}

// Add stores the job of a backup to file, and creates the file it is written to.
func (w CopyJob) Add(ctx context.Context, file string) (a CopyResult, err error) {
	if _, err := RemoveStale(filepath.Dir(file), time.Now()); err != nil {
		return a, fmt.Errorf("remove what an earlier backup left: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*.partial")
	if err != nil {
		return a, fmt.Errorf("begin a backup: %w", err)
	}
	a.Partial = f.Name()
	err = f.Close()
	args, failed := json.Marshal(CopyRequest{file, a.Partial})
	if err = errors.Join(err, failed); err == nil {
		a.Job, err = w.Store.Jobs().Add(ctx, jobs.Job{Kind: BackupKind, Subject: filepath.Base(file), Args: args, JobProgress: jobs.JobProgress{Unit: "kB"}}, time.Now())
	}
	if err != nil {
		return a, errors.Join(fmt.Errorf("add a backup: %w", err), os.Remove(a.Partial))
	}
	a.JobSnapshot = jobs.Shown(a.Job)
	return a, nil
}

// Work does one backup.
func (w CopyJob) Work(ctx context.Context, t *jobs.JobTask) error {
	var q CopyRequest
	if err := json.Unmarshal(t.Job.Args, &q); err != nil {
		return fmt.Errorf("decode backup: %w", err)
	}
	p := t.Job.JobProgress
	if begun := len(p.Cursor) > 0; begun {
		p.Cursor, p.Done = nil, 0
		if err := errors.Join(IgnoreMissing(os.Remove(q.Partial)), t.Save(ctx, p)); err != nil {
			return err
		}
		return ErrCutOff
	}
	size, err := w.Store.Size(ctx)
	if err != nil {
		return err
	}
	p.Cursor, p.Total = []byte("copying"), size/1000
	if err := t.Save(ctx, p); err != nil {
		return errors.Join(err, IgnoreMissing(os.Remove(q.Partial)))
	}
	if err := w.copy(ctx, t, q); err != nil {
		return errors.Join(err, IgnoreMissing(os.Remove(q.Partial)))
	}
	size, sum, err := FileDigest(q.File)
	if err != nil {
		return err
	}
	p.Done, p.Total = size/1000, size/1000
	return errors.Join(WriteBackupNote(w.DataDir, CopyNote{At: time.Now(), Bytes: size, SHA256: sum}), t.Save(ctx, p))
}

// copy writes the copy to the partial file, reports progress, and renames it.
func (w CopyJob) copy(ctx context.Context, t *jobs.JobTask, q CopyRequest) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	written := make(chan error, 1)
	go func() { written <- w.Store.Console().Backup(ctx, q.Partial) }() // waited for below
	tick := time.NewTicker(backupTick)
	defer tick.Stop()
	for {
		select {
		case err := <-written:
			if err != nil {
				return err
			}
			return PublishBackup(q)
		case <-tick.C:
			p := t.Job.JobProgress
			if info, err := os.Stat(q.Partial); err == nil {
				p.Done = info.Size() / 1000
			}
			if err := t.Save(ctx, p); err != nil {
				cancel()
				<-written //nolint:errcheck // it was told to end
				return err
			}
		}
	}
}

// PublishBackup renames a whole copy to its final name. It never overwrites a file.
func PublishBackup(q CopyRequest) error {
	if _, err := os.Lstat(q.File); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", q.File, fs.ErrExist)
	}
	return renameDurably(q.Partial, q.File)
}

// renameDurably renames a file and syncs the folder, so that the name survives a power cut.
func renameDurably(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return sqlite.SyncDir(filepath.Dir(to))
}

// IgnoreMissing returns nil for an error that a file is not there, else err.
func IgnoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// FileDigest returns the size of a file and the hash of its content.
func FileDigest(file string) (size int64, sum string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, "", err
	}
	h := sha256.New()
	size, err = io.Copy(h, f)
	return size, hex.EncodeToString(h.Sum(nil)), errors.Join(err, f.Close())
}

// PlaceDatabase copies a backup to a temporary name in dir, notes in it that what was written
// before dealt is handled, and renames it: a folder never has half a database.
func PlaceDatabase(ctx context.Context, file, dir string, dealt time.Time) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	place := filepath.Join(dir, sqlite.FileName)
	err := CopyFile(file, place+".restoring")
	if err == nil {
		err = sqlite.NoteDealt(ctx, place+".restoring", dealt)
	}
	if err != nil {
		return errors.Join(err, os.Remove(place+".restoring"))
	}
	return renameDurably(place+".restoring", place)
}

// CopyFile copies a file and syncs the copy to disk.
func CopyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}

// backupNoteFile is the file in the data folder with the time of the last backup. The database
// is not written for it, so that a backup needs no lock.
const backupNoteFile = "backup.json"

// CopyNote is the content of that file.
type CopyNote struct {
	At     time.Time `json:"at"`
	Bytes  int64     `json:"bytes"`
	SHA256 string    `json:"sha256"`
}

// WriteBackupNote writes the note atomically.
func WriteBackupNote(data string, b CopyNote) error {
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	file := filepath.Join(data, backupNoteFile)
	if err := os.WriteFile(file+".new", text, 0o600); err != nil {
		return err
	}
	return renameDurably(file+".new", file)
}

// LastBackup returns when the record was last backed up; zero when it is unknown.
func LastBackup(data string) time.Time {
	text, err := os.ReadFile(filepath.Join(data, backupNoteFile))
	if err != nil {
		return time.Time{}
	}
	var b CopyNote
	if json.Unmarshal(text, &b) != nil {
		return time.Time{}
	}
	return b.At
}
