package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

func configCommand(p *program) *cobra.Command {
	c := &cobra.Command{Use: "config", Short: "check or show the configuration", Args: cobra.NoArgs, RunE: needsSubcommand}
	check := &cobra.Command{
		Use: "check", Short: "read the configuration and say what is wrong with it", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			loaded, text, err := loadConfig(p.loading())
			if code := reportConfig(p.out, loaded, text, err); code != exitDone {
				return &silent{code}
			}
			return nil
		},
	}
	var o showing
	show := &cobra.Command{
		Use: "show", Short: "print the configuration that counts, without secrets", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			loaded, _, err := loadConfig(p.loading())
			if err != nil {
				return err
			}
			return p.answer(loaded.show(o), func(w io.Writer) { writeShown(w, loaded.show(o), o) })
		},
	}
	show.Flags().BoolVar(&o.origin, "origin", false, "show where each value was written")
	show.Flags().BoolVar(&o.all, "all", false, "show settings that nobody changed, too")
	c.AddCommand(check, show)
	return c
}

// reportConfig writes what is wrong with a configuration: first what stops the
// program, then the entries that cannot run. It returns 78, 1 or 0.
func reportConfig(w io.Writer, c *Config, text string, err error) exitCode {
	invalid, fatal := errors.AsType[*invalidConfigError](err)
	if fatal {
		writeFaults(w, invalid.text, invalid.faults)
	}
	if c != nil {
		for _, p := range c.Problems {
			fmt.Fprintf(w, "%s is misconfigured and will not run\n%s", p.Entry, p.Fault.render(text))
		}
	}
	switch {
	case fatal:
		return exitConfig
	case err != nil:
		fmt.Fprintf(w, "%v\n", err)
		return exitFailed
	case len(c.Problems) > 0:
		return exitFailed
	}
	fmt.Fprintf(w, "%s is fine: %d adapters, %d agents, %d spaces\n", c.source(), len(c.Adapters), len(c.Agents), len(c.Spaces))
	return exitDone
}

// source names where the configuration came from.
func (c *Config) source() string {
	if c.Path == "" {
		return "the environment"
	}
	return c.Path
}
