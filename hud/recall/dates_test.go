package recall

import (
	"testing"
	"time"
)

// Date expressions are understood as people write them.
func TestTimesThatAreAskedFor(t *testing.T) {
	now := time.Date(2026, 3, 14, 10, 0, 0, 0, time.UTC)
	day := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	for text, want := range map[string]dateRange{
		"What did Kai do on 7 May 2023?":    {day(2023, 5, 7), day(2023, 5, 8)},
		"what happened on October 3rd":      {day(2025, 10, 3), day(2025, 10, 4)},
		"where was Nova in February?":       {day(2026, 2, 1), day(2026, 3, 1)},
		"who moved in 2024?":                {day(2024, 1, 1), day(2025, 1, 1)},
		"what did we decide on 2026-01-31?": {day(2026, 1, 31), day(2026, 2, 1)},
		"who called yesterday?":             {day(2026, 3, 13), day(2026, 3, 14)},
		"the plan of last week":             {day(2026, 3, 1), day(2026, 3, 9)},
		"may I come in at 7?":               {},
		"room 2024b, 12 chairs":             {},
		"":                                  {},
	} {
		if got := findDates(text, now); got != want {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
}

func FuzzFindDates(f *testing.F) {
	for _, text := range []string{"on 7 May 2023", "2026-01-31", "31 of february", "99999999999999999999", "yesterday"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if s := findDates(text, time.Date(2026, 3, 14, 10, 0, 0, 0, time.UTC)); s.to.Before(s.from) {
			t.Errorf("%q ends before it begins: %v", text, s)
		}
	})
}
