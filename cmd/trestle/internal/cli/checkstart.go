package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
)

// checkStart is `run --check`: it starts everything on a copy of the record,
// migrations included, says who each account is, and ends. Nothing is received,
// nothing is sent, and the record is left as it is, so that a new program can
// be tried beside the old one before the switch.
func (p *CLI) checkStart(ctx context.Context) (err error) {
	conf, err := p.load()
	if err != nil {
		return err
	}
	ctx, stop := stoppable(ctx)
	defer stop()
	dir, err := os.MkdirTemp("", "trestle-check-")
	if err != nil {
		return &apperr.Error{What: "there is no room for a copy of the record: " + err.Error(), Where: os.TempDir(), Remedy: "free some space, or point TMPDIR elsewhere", Code: apperr.Failed}
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	data := storeopen.LocationName(conf)
	if err := layOut(ctx, conf, dir); err != nil {
		return &apperr.Error{What: err.Error(), Where: data, Remedy: "see that it can be read and that there is room for a copy", Code: apperr.Failed}
	}
	conf.Data, conf.Database = dir, ""
	lines := io.Discard
	if p.output == "text" {
		lines = p.hidden().Writer(p.Err)
	}
	s := newServer(conf, p.logger(slog.LevelWarn), lines, true)
	if err := s.TryStart(ctx, data); err != nil {
		return err
	}
	r := s.Boot.Report()
	if err := p.answer(r, func(w io.Writer) { fmt.Fprintln(w, verdict(r)) }); err != nil {
		return err
	}
	if len(r.Failed) > 0 {
		return &reportedError{apperr.Failed}
	}
	return nil
}

func verdict(r console.Boot) string {
	if len(r.Failed) == 0 {
		return "everything starts; nothing was received, sent or changed"
	}
	return fmt.Sprintf("%d of %d stages failed; nothing was received, sent or changed", len(r.Failed), len(r.Stages))
}

// layOut puts a copy of the record into a folder to start on. A record in a
// database is not copied: it is seen that this program can read it, or will make
// it, and the start uses an empty one.
func layOut(ctx context.Context, conf *config.Config, dir string) error {
	switch {
	case storeopen.IsMissing(conf):
		return nil
	case conf.Database == "":
		return sqlite.Copy(ctx, conf.Data, filepath.Join(dir, sqlite.FileName))
	}
	there, err := storeopen.OpenReadOnly(ctx, conf)
	if errors.Is(err, engine.ErrOlder) {
		return nil
	}
	if err != nil {
		return err
	}
	return there.Close()
}
