package cli

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/internal/console"
)

// A reportFile is one file of a support bundle: what a command answers.
type reportFile struct {
	Name string `json:"name"`
	What string `json:"what"`
	args []string
	drop []string // members of the listed objects that are words of people
}

// chapters are what a bundle holds: how things stand, never what people said.
func chapters() []reportFile {
	return []reportFile{
		{"version.json", "the versions of the program and of its schema", []string{"version"}, nil},
		{"config.json", "the configuration with where each value was written; credentials as ***", []string{"config", "show", "--all"}, nil},
		{"status.json", "parts, minds and what is under way", []string{"status"}, nil},
		{"doctor.json", "what an examination finds", []string{"doctor"}, nil},
		{"problems.json", "open problems", []string{"problems"}, nil},
		{"adapters.json", "accounts and their connections", []string{"adapters"}, nil},
		{"jobs.json", "long work", []string{"jobs"}, nil},
		{"runs.json", "the newest runs: times, tokens, stop reasons", []string{"runs", "--limit", "100"}, []string{"asker", "asked", "answer"}},
	}
}

type reportAnswer struct {
	File  string       `json:"file"`
	Bytes int          `json:"bytes"`
	Holds []reportFile `json:"holds"`
}

// reportCommand answers `trestle report`.
type reportCommand struct{ installation }

func newReportCommand(env *Environment) *cobra.Command {
	cmd := reportCommand{installation{env}}
	file := ""
	c := &cobra.Command{
		Use: "report", Short: "write a support bundle without credentials and without anybody's words", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return cmd.report(c.Context(), file) },
	}
	c.Flags().StringVar(&file, "out", "", "where to write it (default trestle-report-DATE.tar.gz)")
	return c
}

func (cmd reportCommand) report(ctx context.Context, file string) error {
	if _, err := cmd.load(); err != nil { // replaces each answer that it prevents
		if _, running := cmd.stillServed(ctx, err); !running {
			apperr.Report(cmd.hidden().Writer(cmd.Err), err)
		}
	}
	now := time.Now()
	file = cmp.Or(file, "trestle-report-"+now.UTC().Format("20060102-150405")+".tar.gz")
	held := chapters()
	a := reportAnswer{File: file, Holds: held}
	if cmd.output == "text" {
		for _, c := range held {
			fmt.Fprintf(cmd.Out, "%-14s %s\n", c.Name, c.What)
		}
	}
	bundle, err := cmd.bind(ctx, held, now)
	if err != nil {
		return err
	}
	a.Bytes = len(bundle)
	if err := writeNew(cmd.absolute(file), bundle); err != nil {
		return &apperr.Error{What: err.Error(), Where: file, Remedy: "name a new file in a folder that can be written", Code: apperr.Failed}
	}
	return cmd.answer(a, func(w io.Writer) { fmt.Fprintf(w, "\n%s   %s\n", a.File, console.Size(int64(a.Bytes))) })
}

// bind makes the bundle of what the commands answer.
func (cmd reportCommand) bind(ctx context.Context, held []reportFile, now time.Time) ([]byte, error) {
	var bundle bytes.Buffer
	zipped := gzip.NewWriter(&bundle)
	files := tar.NewWriter(zipped)
	for _, c := range held {
		text := cmd.chapterText(ctx, c)
		err := files.WriteHeader(&tar.Header{Name: "trestle-report/" + c.Name, Mode: 0o600, Size: int64(len(text)), ModTime: now})
		if err != nil {
			return nil, err
		}
		if _, err := files.Write(text); err != nil {
			return nil, err
		}
	}
	err := errors.Join(files.Close(), zipped.Close())
	return bundle.Bytes(), err
}

// chapterText is what a command answers, and why it did not where it failed. It
// is redacted once more: strangers read the bundle.
func (cmd reportCommand) chapterText(ctx context.Context, c reportFile) []byte {
	var text bytes.Buffer
	own := *cmd.Environment
	clean := cmd.hidden().Writer(&text)
	own.In, own.Out, own.Err = bytes.NewReader(nil), clean, clean
	code := own.Run(ctx, append([]string{"-o", "json", "--config", cmd.configPath, "--data", cmd.dataPath}, c.args...))
	if len(c.drop) == 0 || code != apperr.Done {
		return text.Bytes()
	}
	short, err := dropMembers(text.Bytes(), c.drop)
	if err != nil {
		return []byte(err.Error() + "\n")
	}
	return short
}

// dropMembers returns a JSON list of objects without some of their members.
func dropMembers(text []byte, names []string) ([]byte, error) {
	var list []map[string]json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	for _, object := range list {
		for _, name := range names {
			delete(object, name)
		}
	}
	return json.MarshalIndent(list, "", "  ")
}

// writeNew writes a file that only its owner can read and that did not exist.
func writeNew(file string, text []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
