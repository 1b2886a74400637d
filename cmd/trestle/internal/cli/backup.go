package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/backup"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/server"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/jobs"
	"github.com/trestle-bridge/trestle/internal/store/readmodel"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
)

type backupAnswer struct {
	File    string  `json:"file"`
	Bytes   int64   `json:"bytes"`
	Seconds float64 `json:"seconds"`
	SHA256  string  `json:"sha256"`
	// Beside is the folder of the files that people posted, which belong to the record
	// and are not in the copy; empty without any.
	Beside string `json:"beside,omitempty"`
}

// backupCommand answers `trestle backup`.
type backupCommand struct{ installation }

func newBackupCommand(env *Environment) *cobra.Command {
	cmd := backupCommand{installation{env}}
	check := false
	c := &cobra.Command{
		Use: "backup FILE", Short: "write a copy of the record, also while it is in use", Args: cobra.ExactArgs(1),
		Long: "Write a complete, consistent copy of the record to FILE, also while a process uses it. It is a job of that process, or of\n" +
			"this one where none runs; FILE is there once the copy is whole. With --check, FILE is a copy made earlier: it is opened\n" +
			"beside the record, brought to the present schema, and audited, and nothing is changed.",
		RunE: func(c *cobra.Command, args []string) error {
			if check {
				return cmd.checkBackup(c.Context(), args[0])
			}
			return cmd.backup(c.Context(), args[0])
		},
	}
	c.Flags().BoolVar(&check, "check", false, "see whether FILE, an earlier backup, is whole and can be restored")
	return c
}

// backup copies the database and prints the result.
func (cmd backupCommand) backup(ctx context.Context, file string) error {
	full := cmd.absolute(file)
	if _, err := os.Lstat(full); !errors.Is(err, fs.ErrNotExist) {
		return &apperr.Error{What: "the file exists already", Where: file, Remedy: "name a new one; a backup overwrites nothing", Code: apperr.Usage}
	}
	ctx, stop := stoppable(ctx)
	defer stop()
	return cmd.look(ctx, func(conf *config.Config, r readmodel.ReadModel) error { // an older record is left as it is
		if conf.Database != "" {
			return &apperr.Error{What: "the record is in Postgres", Where: "database", Remedy: "back it up with pg_dump, or with what serves your server; the folder of files is " + conf.Data, Code: apperr.Usage}
		}
		began := time.Now()
		err := cmd.copyAside(ctx, conf, r, full)
		_, interrupted := errors.AsType[*reportedError](err)
		_, said := errors.AsType[*apperr.Error](err)
		switch {
		case interrupted, said:
			return err
		case ctx.Err() != nil:
			return &reportedError{apperr.Interrupted}
		case err != nil:
			return &apperr.Error{What: err.Error(), Where: file, Remedy: "see that there is room and that the folder can be written; nothing is left of it", Code: apperr.Failed}
		}
		a := backupAnswer{File: file, Seconds: time.Since(began).Seconds()}
		if held, err := os.ReadDir(filepath.Join(conf.Data, server.FilesFolder)); err == nil && len(held) > 0 {
			a.Beside = filepath.Join(conf.Data, server.FilesFolder)
		}
		if a.Bytes, a.SHA256, err = backup.FileDigest(full); err != nil {
			return err
		}
		return cmd.answer(a, func(w io.Writer) {
			fmt.Fprintf(w, "%s   %s   %.1f s   sha256 %s\n", a.File, console.Size(a.Bytes), a.Seconds, a.SHA256)
			if a.Beside != "" {
				fmt.Fprintf(w, "the files that people posted are not in it: copy %s, too\n", a.Beside)
			}
		})
	})
}

// copyAside has the database copied by the process that serves it, or copies it here. A process
// that cannot write where this one can, such as a service in a sandbox, is replaced by a copy
// here without a job.
func (cmd backupCommand) copyAside(ctx context.Context, conf *config.Config, r readmodel.ReadModel, full string) error {
	var a backup.CopyResult
	begun := false // here
	err := cmd.change(ctx, mutation{
		path: "/backup", ask: backup.CopyRequest{File: full}, answer: &a,
		alone: func(ctx context.Context, s *sqlstore.Store) error {
			w := backup.CopyJob{Store: s, DataDir: conf.Data}
			added, err := w.Add(ctx, full)
			if err != nil {
				return err
			}
			begun = true
			return cmd.doHere(ctx, s, added.Job, w.Work, cmd.progress())
		},
	})
	if begun {
		return err
	}
	if err == nil {
		if there, err := cmd.copiedThere(ctx, a, full); there || err != nil {
			return err
		}
	}
	return copyHere(ctx, conf, r, full)
}

// copiedThere follows the backup job of a running process. When neither the copy nor its
// partial file is visible here, it cancels the job and returns false.
func (cmd backupCommand) copiedThere(ctx context.Context, a backup.CopyResult, full string) (bool, error) {
	_, apart := os.Stat(a.Partial)
	if apart != nil {
		_, apart = os.Stat(full)
	}
	if apart == nil {
		return true, cmd.awaitBackup(ctx, a.ID)
	}
	_, err := cmd.wantJob(ctx, a.ID, jobs.Cancelled)
	if j, unread := cmd.readJob(ctx, a.ID); unread == nil && j.State.Over() {
		return false, nil // it may have ended by itself
	}
	return false, err
}

// awaitBackup follows the job of a running process.
func (cmd backupCommand) awaitBackup(ctx context.Context, id int64) error {
	j, err := cmd.followJob(ctx, id, cmd.progress())
	switch {
	case err != nil:
		return err
	case j.State == jobs.Done:
		return nil
	case j.Error != "":
		return errors.New(j.Error)
	}
	return fmt.Errorf("the job is %s", j.State)
}

// copyHere copies the database while another process may write it.
func copyHere(ctx context.Context, conf *config.Config, r readmodel.ReadModel, full string) error {
	q := backup.CopyRequest{File: full, Partial: full + ".partial"}
	_, err := backup.RemoveStale(filepath.Dir(full), time.Now())
	err = errors.Join(err, backup.IgnoreMissing(os.Remove(q.Partial)))
	if err == nil {
		err = errors.Join(r.Backup(ctx, q.Partial), ctx.Err())
	}
	if err == nil {
		err = backup.PublishBackup(q)
	}
	if err != nil {
		return errors.Join(err, backup.IgnoreMissing(os.Remove(q.Partial)))
	}
	size, sum, err := backup.FileDigest(full)
	if err != nil {
		return err
	}
	return backup.WriteBackupNote(conf.Data, backup.CopyNote{At: time.Now(), Bytes: size, SHA256: sum})
}
