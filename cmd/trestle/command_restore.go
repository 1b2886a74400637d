package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
)

// checkedBackup is the answer of `trestle backup --check`.
type checkedBackup struct {
	backupAnswer
	Findings []string `json:"findings"` // what is wrong with it; empty for a good one
}

// checkBackup opens a copy of a backup, so that the backup itself stays as it
// is, and audits it.
func (p *program) checkBackup(ctx context.Context, file string) error {
	ctx, stop := stoppable(ctx)
	defer stop()
	began := time.Now()
	full := p.absolute(file)
	a := checkedBackup{backupAnswer: backupAnswer{File: file}, Findings: []string{}}
	var err error
	if a.Bytes, a.SHA256, err = digest(full); err != nil {
		return &failure{what: err.Error(), where: file, remedy: "name a file that trestle backup wrote", code: exitFailed}
	}
	if a.Findings, _, err = auditBackup(ctx, full); ctx.Err() != nil {
		return &silent{exitInterrupted}
	} else if err != nil {
		return &failure{what: err.Error(), where: file, remedy: "use another backup; see trestle version for the schemas this program reads", code: exitFailed}
	}
	a.Seconds = time.Since(began).Seconds()
	err = p.answer(a, func(w io.Writer) {
		for _, f := range a.Findings {
			fmt.Fprintln(w, f)
		}
		fmt.Fprintf(w, "%s   %s   %.1f s   sha256 %s   %d findings\n", a.File, console.Size(a.Bytes), a.Seconds, a.SHA256, len(a.Findings))
	})
	if err == nil && len(a.Findings) > 0 {
		return &silent{exitFailed}
	}
	return err
}

// auditBackup returns what is wrong with a backup that can be opened, and how many
// bytes of people's files belong to it.
func auditBackup(ctx context.Context, file string) (findings []string, beside int64, err error) {
	dir, err := os.MkdirTemp("", "trestle-check-")
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := copyFile(file, filepath.Join(dir, sqlite.FileName)); err != nil {
		return nil, 0, err
	}
	store, err := sqlite.Open(ctx, sqlite.Options{Dir: dir, NewID: newID, CheckFor: time.Hour})
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, store.Close(context.WithoutCancel(ctx))) }()
	found, err := store.Audit(ctx, time.Time{}) // nothing is overdue in a copy
	findings = []string{}
	for _, f := range found {
		findings = append(findings, f.String())
	}
	beside, uncounted := store.Border().Shelved(ctx)
	return findings, beside, errors.Join(err, uncounted)
}

func restoreCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "restore FILE", Short: "put a backup in place as the record of an empty data folder", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return p.restore(c.Context(), args[0]) },
	}
}

// restore copies a good backup into an empty data folder.
func (p *program) restore(ctx context.Context, file string) error {
	conf, err := p.load()
	if err != nil {
		return err
	}
	ctx, stop := stoppable(ctx)
	defer stop()
	began, full := time.Now(), p.absolute(file)
	if held, err := os.ReadDir(conf.Data); err == nil && len(held) > 0 {
		return &failure{what: "the data folder is not empty", where: conf.Data, remedy: "stop the program and move the folder aside, or name another with --data; a restore overwrites nothing", code: exitUsage}
	}
	findings, beside, err := auditBackup(ctx, full)
	if ctx.Err() != nil {
		return &silent{exitInterrupted}
	}
	if err == nil && len(findings) > 0 {
		err = fmt.Errorf("the backup is not whole: %s", findings[0])
	}
	if err != nil {
		return &failure{what: err.Error(), where: file, remedy: "use another backup, and see trestle backup --check", code: exitFailed}
	}
	if err := putInPlace(full, conf.Data); err != nil {
		return &failure{what: err.Error(), where: conf.Data, remedy: "see that there is room and that the folder can be written", code: exitFailed}
	}
	a := backupAnswer{File: file, Seconds: time.Since(began).Seconds()}
	if a.Bytes, a.SHA256, err = digest(filepath.Join(conf.Data, sqlite.FileName)); err != nil {
		return err
	}
	if beside > 0 {
		a.Beside = filepath.Join(conf.Data, filesFolder)
	}
	return p.answer(a, func(w io.Writer) {
		fmt.Fprintf(w, "%s restored to %s   %s   %.1f s   sha256 %s\n", a.File, conf.Data, console.Size(a.Bytes), a.Seconds, a.SHA256)
		if a.Beside != "" {
			fmt.Fprintf(w, "the files that people posted belong in %s: put your copy there\n", a.Beside)
		}
	})
}

// putInPlace copies the file beside its place first, so that there is never half
// a record.
func putInPlace(file, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	place := filepath.Join(dir, sqlite.FileName)
	if err := copyFile(file, place+".restoring"); err != nil {
		return errors.Join(err, os.Remove(place+".restoring"))
	}
	return os.Rename(place+".restoring", place)
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
