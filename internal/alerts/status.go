package alerts

import (
	"cmp"
	"slices"
	"time"
)

// Worst returns those that are open, the worst first and then the oldest.
func Worst(all []Alert) []Alert {
	open := slices.DeleteFunc(slices.Clone(all), func(p Alert) bool { return !p.Closed.IsZero() })
	slices.SortStableFunc(open, func(a, b Alert) int {
		if a.Severity != b.Severity {
			if a.Severity == Fail {
				return -1
			}
			return 1
		}
		return cmp.Or(a.Opened.Compare(b.Opened), cmp.Compare(a.ID, b.ID))
	})
	return open
}

// Unwell reports whether there is a failure that no operator has acknowledged.
func Unwell(all []Alert, at time.Time) bool {
	return slices.ContainsFunc(all, func(p Alert) bool {
		return p.Closed.IsZero() && p.Severity == Fail && !p.Quiet(at)
	})
}
