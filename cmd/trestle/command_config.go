package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/internal/config"
)

func configCommand(p *program) *cobra.Command {
	c := &cobra.Command{Use: "config", Short: "check or show the configuration", Args: cobra.NoArgs, RunE: needsSubcommand}
	check := &cobra.Command{
		Use: "check", Short: "read the configuration and say what is wrong with it", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			c, err := config.Load(p.source())
			if code := reportConfig(p.out, c, err); code != exitDone {
				return &silent{code}
			}
			return nil
		},
	}
	var o config.Showing
	show := &cobra.Command{
		Use: "show", Short: "print the configuration that counts, without secrets", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			loaded, err := config.Load(p.source())
			if err != nil {
				return err
			}
			return p.answer(loaded.Rows(o), func(w io.Writer) { config.WriteRows(w, loaded.Rows(o), o) })
		},
	}
	show.Flags().BoolVar(&o.Origin, "origin", false, "show where each value was written")
	show.Flags().BoolVar(&o.All, "all", false, "show settings that nobody changed, too")
	c.AddCommand(check, show)
	return c
}

// reportConfig writes what is wrong with a configuration: first what stops the
// program, then the entries that cannot run. It returns 78, 1 or 0.
func reportConfig(w io.Writer, c *config.Config, err error) exitCode {
	invalid, fatal := errors.AsType[*config.InvalidError](err)
	if fatal {
		config.WriteFaults(w, invalid.Text, invalid.Faults)
	}
	if c != nil {
		c.WriteProblems(w)
		c.WriteWarnings(w)
	}
	switch {
	case fatal:
		return exitConfig
	case err != nil:
		fmt.Fprintf(w, "%v\n", err)
		return exitFailed
	case !c.Sound():
		return exitFailed
	}
	c.WriteSummary(w)
	return exitDone
}
