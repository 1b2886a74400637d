package cli

import (
	"context"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/server"
	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/doctor"
)

// doctorCommand answers `trestle doctor`.
type doctorCommand struct{ installation }

func newDoctorCommand(env *Environment) *cobra.Command {
	cmd := doctorCommand{installation{env}}
	var o doctor.Options
	least, fix := "fail", false
	c := &cobra.Command{
		Use: "doctor [PART…]", Short: "examine the configuration, the record, the model and each platform for real; say what to do",
		RunE: func(c *cobra.Command, args []string) error {
			if err := chooseCode(c, o.Only); err != nil {
				return err
			}
			o.Parts = args
			return cmd.examine(c.Context(), o, fix, least)
		},
	}
	c.Flags().BoolVar(&fix, "fix", false, "mend what can be mended from here: the modes of files")
	c.Flags().StringVar(&o.Only, "only", "", "show the findings of one code alone, such as TRS-T02")
	c.Flags().StringVar(&least, "min", least, "exit 1 at findings of this level or worse: warn or fail")
	return c
}

// examine runs the checks, through the process that serves the data folder if there is one:
// only it can examine accounts without interrupting them.
func (cmd doctorCommand) examine(ctx context.Context, o doctor.Options, fix bool, least string) error {
	level := adapters.DiagnosisSeverity(least)
	if level != adapters.Warning && level != adapters.Failure {
		return &apperr.Error{What: "--min is warn or fail", Where: "doctor", Remedy: "choose one of them", Code: apperr.Usage}
	}
	r, err := cmd.examined(ctx, o, fix)
	if err != nil {
		return err
	}
	if err := cmd.answer(r, func(w io.Writer) { r.Print(cmd.hidden().Writer(w)) }); err != nil {
		return err
	}
	if r.Reaches(level) {
		return &reportedError{apperr.Failed}
	}
	return nil
}

// examined examines what the configuration names. If the file is invalid while a process runs,
// that process examines the configuration it still uses; the invalid file is a finding then,
// and nothing can be fixed.
func (cmd doctorCommand) examined(ctx context.Context, o doctor.Options, fix bool) (r doctor.CheckReport, err error) {
	conf, wrong := cmd.load()
	if wrong != nil {
		c, running := cmd.stillServed(ctx, wrong)
		if !running || fix {
			return r, wrong
		}
		err = c.Post(ctx, "/doctor", o, &r)
		r.Findings = slices.Insert(r.Findings, 0, o.Of("config", notInForce(wrong))...)
		return r, err
	}
	changed := []string{}
	if fix {
		parts := server.NewExamination(ctx, conf, cmd.absolute).Parts()
		if err := server.CheckParts(o.Parts, parts); err != nil {
			return r, err
		}
		if changed, err = doctor.Fix(ctx, parts, o); err != nil {
			return r, &apperr.Error{What: err.Error(), Where: "doctor --fix", Remedy: "run it as the user who owns the files", Code: apperr.Failed}
		}
		if conf, err = cmd.load(); err != nil { // it knows the modes of its files
			return r, err
		}
	}
	r, err = server.NewExamination(ctx, conf, cmd.absolute).Report(ctx, o)
	r.Changed = changed
	return r, err
}

// notInForce returns the findings about a configuration that cannot be used.
func notInForce(wrong error) (found []adapters.AccountDiagnosis) {
	for _, f := range config.ListFindings(nil, wrong) {
		found = append(found, doctor.Fail(string(alerts.BadReload), "the changed file is not in force: "+f.Where+": "+f.What, f.Do))
	}
	return found
}
