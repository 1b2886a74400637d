package main

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

// backupKind is the kind of job that copies the record.
const backupKind = "backup"

// backupTick is how often a copy says how far it is.
const backupTick = time.Second

// errCutOff is why a backup that had begun before is not gone on with.
var errCutOff = errors.New("it was cut off, or this record is its copy; nothing is left of it")

// backupRequest names the file that a copy goes to.
type backupRequest struct {
	File string `json:"file"` // absolute
	// Partial is where it is written until it is whole. Whoever adds the job names it.
	Partial string `json:"partial,omitempty"`
}

// backupResult is the job, and the file by which others see that they have the same
// folder before them.
type backupResult struct {
	jobs.Snapshot
	Partial string `json:"partial"`
}

// backupJob does jobs that copy the record. There is never half a copy under the
// name that was asked for. A job that is cut off fails, and begins anew when it is
// resumed: the copy of a record holds the job that made it, and must not be copied
// again when it is restored.
type backupJob struct {
	store *sqlstore.Store
	data  string // the data folder
}

func (w backupJob) add(ctx context.Context, file string) (a backupResult, err error) {
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*.partial")
	if err != nil {
		return a, fmt.Errorf("begin a backup: %w", err)
	}
	a.Partial = f.Name()
	err = f.Close()
	args, failed := json.Marshal(backupRequest{file, a.Partial})
	if err = errors.Join(err, failed); err == nil {
		a.Job, err = w.store.Jobs().Add(ctx, jobs.Job{Kind: backupKind, Subject: filepath.Base(file), Args: args, Progress: jobs.Progress{Unit: "kB"}}, time.Now())
	}
	if err != nil {
		return a, errors.Join(fmt.Errorf("add a backup: %w", err), os.Remove(a.Partial))
	}
	a.Snapshot = jobs.Shown(a.Job)
	return a, nil
}

// work does one backup.
func (w backupJob) work(ctx context.Context, t *jobs.Task) error {
	var q backupRequest
	if err := json.Unmarshal(t.Job.Args, &q); err != nil {
		return fmt.Errorf("decode backup: %w", err)
	}
	p := t.Job.Progress
	if begun := len(p.Cursor) > 0; begun {
		p.Cursor, p.Done = nil, 0
		if err := errors.Join(ignoreMissing(os.Remove(q.Partial)), t.Save(ctx, p)); err != nil {
			return err
		}
		return errCutOff
	}
	size, err := w.store.Size(ctx)
	if err != nil {
		return err
	}
	p.Cursor, p.Total = []byte("copying"), size/1000
	if err := t.Save(ctx, p); err != nil {
		return errors.Join(err, ignoreMissing(os.Remove(q.Partial)))
	}
	if err := w.copy(ctx, t, q); err != nil {
		return errors.Join(err, ignoreMissing(os.Remove(q.Partial)))
	}
	size, sum, err := fileDigest(q.File)
	if err != nil {
		return err
	}
	p.Done, p.Total = size/1000, size/1000
	return errors.Join(writeBackupNote(w.data, backupNote{At: time.Now(), Bytes: size, SHA256: sum}), t.Save(ctx, p))
}

// copy writes the copy beside its place, says how far it is, and puts it there.
func (w backupJob) copy(ctx context.Context, t *jobs.Task, q backupRequest) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	written := make(chan error, 1)
	go func() { written <- w.store.Console().Backup(ctx, q.Partial) }() // waited for below
	tick := time.NewTicker(backupTick)
	defer tick.Stop()
	for {
		select {
		case err := <-written:
			if err != nil {
				return err
			}
			return publishBackup(q)
		case <-tick.C:
			p := t.Job.Progress
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

// publishBackup gives a whole copy its name. It overwrites nothing.
func publishBackup(q backupRequest) error {
	if _, err := os.Lstat(q.File); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", q.File, fs.ErrExist)
	}
	return renameDurably(q.Partial, q.File)
}

// renameDurably gives a whole file its name, and makes sure that the name is on disk: what is
// said to be there outlives a power cut.
func renameDurably(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return sqlite.SyncDir(filepath.Dir(to))
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// addBackup adds the job; the runner of this process does it.
func (s *Server) addBackup(ctx context.Context, q backupRequest) (backupResult, error) {
	a, err := backupJob{s.store, s.config().Data}.add(ctx, q.File)
	s.bells.Ring(backupBell)
	return a, err
}

// fileDigest returns the size of a file and the hash of what is in it.
func fileDigest(file string) (size int64, sum string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, "", err
	}
	h := sha256.New()
	size, err = io.Copy(h, f)
	return size, hex.EncodeToString(h.Sum(nil)), errors.Join(err, f.Close())
}

// placeDatabase copies the file beside its place first, so that there is never half
// a record, nor one that does not know what was dealt with after it.
func placeDatabase(ctx context.Context, file, dir string, dealt time.Time) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	place := filepath.Join(dir, sqlite.FileName)
	err := copyFile(file, place+".restoring")
	if err == nil {
		err = sqlite.NoteDealt(ctx, place+".restoring", dealt)
	}
	if err != nil {
		return errors.Join(err, os.Remove(place+".restoring"))
	}
	return renameDurably(place+".restoring", place)
}

// copyFile writes a copy that is on disk when it returns.
func copyFile(from, to string) (err error) {
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
