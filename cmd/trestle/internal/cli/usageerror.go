package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/internal/textformat"
)

// wantUsage makes wrong flags and arguments of a command, and of those below it, a
// failure of usage. A command that only has others below it needs one of them.
func wantUsage(c *cobra.Command) {
	c.SuggestionsMinimumDistance = 2 // not handed down
	switch {
	case c.HasSubCommands() && !c.Runnable():
		c.Args, c.RunE = cobra.NoArgs, needsSubcommand
	case c.Name() == "help":
		c.Args = wantCommand
	}
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			err := check(c, args)
			if _, said := errors.AsType[*apperr.Error](err); said || err == nil {
				return err
			}
			return wrongArguments(c, args)
		}
	}
	for _, below := range c.Commands() {
		wantUsage(below)
	}
}

// wantCommand refuses arguments of help that lead to no command.
func wantCommand(c *cobra.Command, args []string) error {
	found, rest, err := c.Root().Find(args)
	if err == nil && len(rest) > 0 {
		err = wrongArguments(found, rest)
	}
	return err
}

// misuse returns a usage error of c.
func misuse(c *cobra.Command, what, remedy string) *apperr.Error {
	return &apperr.Error{What: what, Where: c.CommandPath(), Remedy: cmp.Or(remedy, "see "+c.CommandPath()+" --help"), Code: apperr.Usage}
}

// wrongArguments returns an error with the arguments that c takes.
func wrongArguments(c *cobra.Command, args []string) error {
	_, takes, _ := strings.Cut(c.Use, " ")
	switch given := strings.Join(args, " "); {
	case len(args) == 0:
		return misuse(c, "it needs "+takes, "")
	case c.HasAvailableSubCommands():
		remedy := ""
		if near := c.SuggestionsFor(args[0]); len(near) > 0 {
			remedy = fmt.Sprintf("did you mean %q?", near[0])
		}
		return misuse(c, fmt.Sprintf("there is no command %q", args[0]), remedy)
	case takes == "":
		return misuse(c, fmt.Sprintf("it takes no argument, and was given %q", given), "")
	default:
		return misuse(c, fmt.Sprintf("it takes %s, and was given %q", takes, given), "")
	}
}

// wrongFlag returns an error about a flag in plain words instead of those of the library.
func wrongFlag(c *cobra.Command, err error) error {
	if of, ok := errors.AsType[interface {
		error
		GetSpecifiedName() string
	}](err); ok {
		remedy := ""
		if name := of.GetSpecifiedName(); c.Flag(name) == nil {
			remedy = textformat.DidYouMean(name, flagNames(c))
		}
		return misuse(c, err.Error(), remedy)
	}
	what, _, _ := strings.Cut(err.Error(), " flag: ") // behind it comes how the program reads numbers
	mend, _ := errors.AsType[valueError](err)
	return misuse(c, what, string(mend))
}

// wrongTogether returns an error with the flags that exclude each other, which the library
// lists in brackets.
func wrongTogether(c *cobra.Command, err error) error {
	text := err.Error()
	_, set, _ := strings.Cut(text[strings.LastIndex(text, "; ")+1:], "[")
	set, _, _ = strings.Cut(set, "]")
	return misuse(c, "only one of these flags can be given: --"+strings.ReplaceAll(set, " ", ", --"), "")
}

// flagNames lists the long flags that c takes.
func flagNames(c *cobra.Command) (names []string) {
	for line := range strings.Lines(c.LocalFlags().FlagUsages() + c.InheritedFlags().FlagUsages()) {
		if _, flag, ok := strings.Cut(line, "--"); ok {
			name, _, _ := strings.Cut(flag, " ")
			names = append(names, strings.TrimSpace(name))
		}
	}
	return names
}

// needsSubcommand is what a command runs that only has others below it.
func needsSubcommand(c *cobra.Command, _ []string) error {
	var words []string
	for _, below := range c.Commands() {
		words = append(words, below.Name())
	}
	return misuse(c, "the command needs another word: "+textout.JoinOr(words), "")
}
