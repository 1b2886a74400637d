package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/doctor"
)

func doctorCommand(p *program) *cobra.Command {
	var o doctor.Options
	least, fix := "fail", false
	c := &cobra.Command{
		Use: "doctor [PART…]", Short: "examine the configuration, the record, the model and each platform for real; say what to do",
		RunE: func(c *cobra.Command, args []string) error {
			o.Parts = args
			return p.examine(c.Context(), o, fix, least)
		},
	}
	c.Flags().BoolVar(&fix, "fix", false, "mend what can be mended from here: the modes of files")
	c.Flags().StringVar(&o.Only, "only", "", "show the findings of one code alone, such as TRS-T02")
	c.Flags().StringVar(&least, "min", least, "exit 1 at findings of this level or worse: warn or fail")
	return c
}

// examine runs the examination, through the process that serves the data folder
// where there is one: only it can look at accounts without getting in its way.
func (p *program) examine(ctx context.Context, o doctor.Options, fix bool, least string) error {
	level := adapters.Level(least)
	if level != adapters.Warning && level != adapters.Failure {
		return &failure{what: "--min is warn or fail", where: "doctor", todo: "choose one of them", code: exitUsage}
	}
	conf, err := p.load()
	if err != nil {
		return err
	}
	parts := p.examination(ctx, conf).parts()
	if err := knownParts(o.Parts, parts); err != nil {
		return err
	}
	changed := []string{}
	if fix {
		if changed, err = doctor.Fix(ctx, parts, o); err != nil {
			return &failure{what: err.Error(), where: "doctor --fix", todo: "run it as the user who owns the files", code: exitFailed}
		}
		if conf, err = p.load(); err != nil { // it knows the modes of its files
			return err
		}
		parts = p.examination(ctx, conf).parts()
	}
	r := doctor.Examine(ctx, parts, o)
	r.Changed = changed
	if err := p.answer(r, func(w io.Writer) { r.Print(p.hidden().Writer(w)) }); err != nil {
		return err
	}
	if r.Reaches(level) {
		return &silent{exitFailed}
	}
	return nil
}

func knownParts(named []string, parts []doctor.Part) error {
	var known []string
	for _, part := range parts {
		known = append(known, part.Name)
	}
	for _, name := range named {
		if !slices.Contains(known, name) {
			return &failure{what: fmt.Sprintf("there is no part %q", name), where: "doctor", todo: "parts are " + strings.Join(known, ", "), code: exitUsage}
		}
	}
	return nil
}

// examination is one run of the doctor over a configuration.
type examination struct {
	*process // for its wiring; it runs nothing
	conf     *config.Config
	absolute func(path string) string
	running  *controller // nil when no process serves the data folder
	there    examinedThere
	now      time.Time
}

func (p *program) examination(ctx context.Context, conf *config.Config) *examination {
	x := &examination{process: newProcess(conf, slog.New(slog.DiscardHandler), io.Discard, true), conf: conf, now: time.Now()}
	x.absolute = p.absolute
	if c, ok := dial(ctx, filepath.Join(conf.Data, socketName)); ok {
		x.running = c
	}
	return x
}
