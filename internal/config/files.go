package config

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Files lists every file that the configuration was read from, with the full
// path: its own first, then those that values refer to.
func (c *Config) Files() []string { return slices.Clone(c.files) }

// FileFingerprint tells whether one of the files is another one than it was, or was
// written to, without reading it. A file that is not there counts, too.
func FileFingerprint(files []string) string {
	var out strings.Builder
	for _, path := range files {
		info, err := os.Stat(path)
		if err != nil {
			fmt.Fprintf(&out, "%s: %s\n", path, reasonOf(err))
			continue
		}
		fmt.Fprintf(&out, "%s: %d %d %o %s\n", path, info.Size(), info.ModTime().UnixNano(), info.Mode(), fileIdentity(info))
	}
	return out.String()
}
