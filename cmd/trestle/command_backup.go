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
)

// backupAnswer is the answer of `trestle backup`.
type backupAnswer struct {
	File    string  `json:"file"`
	Bytes   int64   `json:"bytes"`
	Seconds float64 `json:"seconds"`
	SHA256  string  `json:"sha256"`
}

func backupCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "backup FILE", Short: "write a copy of the record, also while it is in use", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return p.backup(c.Context(), args[0]) },
	}
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
		if err := r.(copier).Backup(ctx, full); err != nil {
			return &failure{what: err.Error(), where: file, todo: "see that there is room and that the folder can be written", code: exitFailed}
		}
		a := backupAnswer{File: file, Seconds: time.Since(began).Seconds()}
		var err error
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
