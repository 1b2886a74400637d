package cli

import (
	"strconv"

	"github.com/spf13/cobra"
)

// mostRows is how many rows of a list the API gives out at once.
const mostRows = 500

// rows is the value of a --limit that the API must be able to answer.
type rows struct{ n *int }

// limitFlag gives a command its --limit; n holds the default.
func limitFlag(c *cobra.Command, n *int, of string) {
	c.Flags().Var(rows{n}, "limit", of+", 1 to "+strconv.Itoa(mostRows))
}

// Set implements pflag.Value.
func (r rows) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > mostRows {
		return valueError("write a number from 1 to " + strconv.Itoa(mostRows))
	}
	*r.n = n
	return nil
}

// String implements pflag.Value.
func (r rows) String() string {
	if r.n == nil {
		return "0"
	}
	return strconv.Itoa(*r.n)
}

// Type implements pflag.Value.
func (r rows) Type() string { return "int" }

// A valueError says what to write for a flag instead.
type valueError string

// Error implements error.
func (m valueError) Error() string { return string(m) }
