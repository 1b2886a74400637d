package doctor

import (
	"context"
	"regexp"
	"slices"
	"sync"

	"github.com/trestle-bridge/trestle/adapters"
)

// A Check is one thing that is examined.
type Check struct {
	Name string
	// Examine returns at least one finding. Parts are examined side by side.
	Examine func(ctx context.Context) []adapters.AccountDiagnosis
	// Card returns what Examine found a model to be capable of; nil when there is nothing to
	// show. Nil: it is no model.
	Card func() *ModelCard
	// Fix mends what can be mended from here and returns a sentence for each
	// change. Nil: nothing can.
	Fix func(ctx context.Context) ([]string, error)
	// Last is examined once the others have been: it reads what they learned.
	Last bool
}

// A Finding is what was found in a part.
type Finding struct {
	Part string `json:"part"`
	adapters.AccountDiagnosis
}

var code = regexp.MustCompile(`^TRS-[A-Z][0-9]{2}$`)

// IsCode reports whether text has the shape of a finding's code.
func IsCode(text string) bool { return code.MatchString(text) }

// A CheckReport is the outcome of an examination.
type CheckReport struct {
	Findings []Finding   `json:"findings"`
	Cards    []ModelCard `json:"cards,omitempty"` // of the models that answered
	Changed  []string    `json:"changed"`
}

// Options choose what is examined.
type Options struct {
	Parts []string `json:"parts,omitempty"` // names; none means all
	Only  string   `json:"only,omitempty"`  // a code: what has another is left out, and so is what is fine
}

// Fix mends what can be mended and returns a sentence for each change. What
// was read before is to be read again then.
func Fix(ctx context.Context, parts []Check, o Options) ([]string, error) {
	var all []string
	for _, p := range chosen(parts, o) {
		if p.Fix == nil {
			continue
		}
		changed, err := p.Fix(ctx)
		if all = append(all, changed...); err != nil {
			return all, err
		}
	}
	return all, nil
}

func chosen(parts []Check, o Options) []Check {
	if len(o.Parts) == 0 {
		return parts
	}
	return slices.DeleteFunc(slices.Clone(parts), func(p Check) bool { return !slices.Contains(o.Parts, p.Name) })
}

// Examine examines the parts and returns the findings in the order of the parts.
func Examine(ctx context.Context, parts []Check, o Options) CheckReport {
	parts = chosen(parts, o)
	r := CheckReport{Findings: []Finding{}, Changed: []string{}}
	found := make([][]adapters.AccountDiagnosis, len(parts))
	for _, last := range []bool{false, true} {
		var side sync.WaitGroup
		for i, p := range parts {
			if p.Last == last {
				side.Go(func() { found[i] = p.Examine(ctx) })
			}
		}
		side.Wait()
	}
	for i, p := range parts {
		r.Findings = append(r.Findings, o.Of(p.Name, found[i])...)
		if p.Card == nil || o.Only != "" {
			continue
		}
		if card := p.Card(); card != nil {
			r.Cards = append(r.Cards, ModelCard{p.Name, card.Model, card.Lines})
		}
	}
	return r
}

// Of returns the findings of a part that match the options.
func (o Options) Of(part string, found []adapters.AccountDiagnosis) (wanted []Finding) {
	if len(o.Parts) > 0 && !slices.Contains(o.Parts, part) {
		return nil
	}
	for _, f := range found {
		if o.Only == "" || f.Code == o.Only {
			wanted = append(wanted, Finding{part, f})
		}
	}
	return wanted
}

// Worst returns the worst level among the findings.
func (r CheckReport) Worst() adapters.DiagnosisSeverity {
	worst := adapters.Fine
	for _, f := range r.Findings {
		if f.Level == adapters.Failure || f.Level == adapters.Warning && worst == adapters.Fine {
			worst = f.Level
		}
	}
	return worst
}

// Reaches reports whether the worst finding is at least as bad as least.
func (r CheckReport) Reaches(least adapters.DiagnosisSeverity) bool {
	worst := r.Worst()
	return worst == adapters.Failure || worst == least
}

// Fine is the one finding of a part that is well.
func Fine(what string) adapters.AccountDiagnosis {
	return adapters.AccountDiagnosis{Level: adapters.Fine, What: what}
}

// Fail is a finding of something that does not work.
func Fail(code, what, mend string) adapters.AccountDiagnosis {
	return adapters.AccountDiagnosis{Code: code, Level: adapters.Failure, What: what, Mend: mend}
}

// Warn returns a finding that an operator should look at.
func Warn(code, what, mend string) adapters.AccountDiagnosis {
	return adapters.AccountDiagnosis{Code: code, Level: adapters.Warning, What: what, Mend: mend}
}
