// Package buildinfo tells which version of the program runs.
package buildinfo

import (
	"runtime"
	"runtime/debug"

	"github.com/trestle-bridge/trestle/internal/store/sqlite"
)

// Version is the version of the program. A build of a package sets its own with
// the linker.
var Version = "0.1.0-dev"

// BuildInfo is the answer of `trestle version`.
type BuildInfo struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Go      string `json:"go"`
	System  string `json:"system"`
	// Schema is the schema that this program writes. It migrates every older one
	// from Oldest on when it opens a database.
	Schema int64 `json:"schema"`
	Oldest int64 `json:"oldest_schema"`
}

// Current returns what is known of the running program.
func Current() BuildInfo {
	v := BuildInfo{Version: Version, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, Oldest: 1, Schema: sqlite.Schema()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v.Commit = s.Value
		}
	}
	return v
}
