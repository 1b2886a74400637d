package config

import (
	"fmt"
	"io"
)

// WriteFaults writes what is wrong with a configuration, each with its line of
// text.
func WriteFaults(w io.Writer, text string, faults []Fault) {
	for _, f := range faults {
		fmt.Fprintf(w, "%s", f.Render(text))
	}
}

// WriteProblems writes the entries that cannot run, each with its line of the
// file.
func (c *Config) WriteProblems(w io.Writer) {
	for _, p := range c.Problems {
		fmt.Fprintf(w, "%s is misconfigured and will not run\n%s", p.Entry, p.Fault.Render(c.doc.text))
	}
}

// WriteSummary writes in one line that the configuration is fine.
func (c *Config) WriteSummary(w io.Writer) {
	source := c.Path
	if source == "" {
		source = "the environment"
	}
	fmt.Fprintf(w, "%s is fine: %d adapters, %d agents, %d spaces\n", source, len(c.Adapters), len(c.Agents), len(c.Spaces))
}
