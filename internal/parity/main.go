// Command parity says which requirements of a table have a test that cites them.
//
// It reads a Markdown file with tables whose first column holds ids, such as
// "SEQ-07" or "PRD-5.2-A1", and the tests of the tree: Go test files, the suites
// that tests run, and scenes. A citation is an id anywhere in one of them, a
// range ("SEQ-01 … SEQ-22", "BLU-T1…T4"), or a list that leaves the beginning
// out ("GTS-01, -05"). The report is Markdown.
//
// It promises to read only; it knows no particular requirement.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is the whole program; it returns its exit code: 1 when something could not
// be read, 2 for wrong usage.
func run(args []string, out, errs io.Writer) int {
	flags := flag.NewFlagSet("parity", flag.ContinueOnError)
	flags.SetOutput(errs)
	tree := flags.String("tree", ".", "folder whose tests are read")
	file := flags.String("out", "", "write the report to this file, too")
	if err := flags.Parse(args); err != nil || flags.NArg() != 1 {
		fmt.Fprintln(errs, "usage: parity [-tree DIR] [-out REPORT.md] REQUIREMENTS.md")
		return 2
	}
	if err := report(*tree, flags.Arg(0), *file, out); err != nil {
		fmt.Fprintf(errs, "parity: %v\n", err)
		return 1
	}
	return 0
}

// report reads the table and the tests and writes what they come to.
func report(tree, table, file string, out io.Writer) error {
	text, err := os.ReadFile(table)
	if err != nil {
		return err
	}
	wanted := requirements(string(text))
	if len(wanted) == 0 {
		return fmt.Errorf("%s has no table whose first column holds ids", table)
	}
	cited, err := citations(tree, wanted)
	if err != nil {
		return err
	}
	answer := render(wanted, cited)
	if file != "" {
		if err := os.WriteFile(file, []byte(answer), 0o600); err != nil {
			return err
		}
	}
	_, err = io.WriteString(out, answer)
	return err
}
