package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/buildinfo"
)

func newVersionCommand(env *Environment) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := buildinfo.Current()
			return env.answer(v, func(w io.Writer) {
				fmt.Fprintf(w, "trestle %s", v.Version)
				if v.Commit != "" {
					fmt.Fprintf(w, " (%.12s)", v.Commit)
				}
				fmt.Fprintf(w, " %s %s schema %d\n", v.Go, v.System, v.Schema)
			})
		},
	}
}
