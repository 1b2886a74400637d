package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/internal/store/sqlite"
)

// version is set when a release is built; otherwise the module's own is used.
var version = ""

// versions is the answer of `trestle version`.
type versions struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Go      string `json:"go"`
	System  string `json:"system"`
	// Schema is that of the records this program writes; every one from Oldest on is
	// brought up to it when it is opened.
	Schema int64 `json:"schema"`
	Oldest int64 `json:"oldest_schema"`
}

func versionCommand(p *CLI) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := ownVersion()
			return p.answer(v, func(w io.Writer) {
				fmt.Fprintf(w, "trestle %s", v.Version)
				if v.Commit != "" {
					fmt.Fprintf(w, " (%.12s)", v.Commit)
				}
				fmt.Fprintf(w, " %s %s schema %d\n", v.Go, v.System, v.Schema)
			})
		},
	}
}

func ownVersion() versions {
	v := versions{Version: version, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, Oldest: 1, Schema: sqlite.Schema()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if v.Version == "" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v.Commit = s.Value
		}
	}
	return v
}
