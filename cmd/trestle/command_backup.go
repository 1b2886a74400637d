package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/record"
)

// backupAnswer is the answer of `trestle backup`.
type backupAnswer struct {
	File    string  `json:"file"`
	Bytes   int64   `json:"bytes"`
	Seconds float64 `json:"seconds"`
	SHA256  string  `json:"sha256"`
}

func backupCommand(p *program) *cobra.Command {
	check := false
	c := &cobra.Command{
		Use: "backup FILE", Short: "write a copy of the record, also while it is in use", Args: cobra.ExactArgs(1),
		Long: "Write a complete, consistent copy of the record to FILE, also while a process uses it. With --check, FILE is a copy\n" +
			"made earlier: it is opened beside the record, brought to the present schema, and audited, and nothing is changed.",
		RunE: func(c *cobra.Command, args []string) error {
			if check {
				return p.checkBackup(c.Context(), args[0])
			}
			return p.backup(c.Context(), args[0])
		},
	}
	c.Flags().BoolVar(&check, "check", false, "see whether FILE, an earlier backup, is whole and can be restored")
	return c
}

// copier is what can copy the record.
type copier interface {
	Backup(ctx context.Context, file string) error
}

func (p *program) backup(ctx context.Context, file string) error {
	full := p.absolute(file)
	if _, err := os.Stat(full); !errors.Is(err, fs.ErrNotExist) {
		return &failure{what: "the file exists already", where: file, todo: "name a new one; a backup overwrites nothing", code: exitUsage}
	}
	return p.look(ctx, func(conf *config.Config, r console.Record) error {
		began := time.Now()
		err := r.(copier).Backup(ctx, full)
		if errors.Is(err, record.ErrNoBackup) {
			return &failure{what: "the record is in Postgres", where: "database", todo: "back it up with pg_dump, or with what serves your server; the folder of files is " + conf.Data, code: exitUsage}
		}
		if err != nil {
			return &failure{what: err.Error(), where: file, todo: "see that there is room and that the folder can be written", code: exitFailed}
		}
		a := backupAnswer{File: file, Seconds: time.Since(began).Seconds()}
		if a.Bytes, a.SHA256, err = digest(full); err != nil {
			return err
		}
		if err := noteBackup(conf.Data, backedUp{At: time.Now(), Bytes: a.Bytes, SHA256: a.SHA256}); err != nil {
			return err
		}
		return p.answer(a, func(w io.Writer) {
			fmt.Fprintf(w, "%s   %s   %.1f s   sha256 %s\n", a.File, byteSize(a.Bytes), a.Seconds, a.SHA256)
		})
	})
}

func digest(file string) (size int64, sum string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, "", err
	}
	h := sha256.New()
	size, err = io.Copy(h, f)
	return size, hex.EncodeToString(h.Sum(nil)), errors.Join(err, f.Close())
}
