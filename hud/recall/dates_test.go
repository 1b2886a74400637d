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
		"the plan of last week":             {day(2026, 3, 2), day(2026, 3, 9)},
		"over the last week":                {day(2026, 3, 7), day(2026, 3, 15)},
		"in the past three days, please":    {day(2026, 3, 11), day(2026, 3, 15)},
		"what was settled last month":       {day(2026, 2, 1), day(2026, 3, 1)},
		"this week's news, this week":       {day(2026, 3, 9), day(2026, 3, 16)},
		"since Monday":                      {day(2026, 3, 9), time.Time{}},
		"last Saturday":                     {day(2026, 3, 7), day(2026, 3, 8)},
		"since the end of January":          {day(2026, 1, 1), time.Time{}},
		"until February 3rd":                {time.Time{}, day(2026, 2, 4)},
		"before February":                   {time.Time{}, day(2026, 2, 1)},
		"between January and February":      {day(2026, 1, 1), day(2026, 3, 1)},
		"the summary from last week":        {day(2026, 3, 2), day(2026, 3, 9)},
		"two weeks ago":                     {day(2026, 2, 23), day(2026, 3, 2)},
		"what was said on the weekend":      {day(2026, 3, 14), day(2026, 3, 16)},
		"was ist seit Montag passiert":      {day(2026, 3, 9), time.Time{}},
		"im März 2025":                      {day(2025, 3, 1), day(2025, 4, 1)},
		"vor drei Tagen":                    {day(2026, 3, 11), day(2026, 3, 12)},
		"in den letzten zwei Wochen":        {day(2026, 2, 28), day(2026, 3, 15)},
		"la semaine dernière":               {day(2026, 3, 2), day(2026, 3, 9)},
		"qué pasó en febrero":               {day(2026, 2, 1), day(2026, 3, 1)},
		"una barra de pan de mayo":          {day(2025, 5, 1), day(2025, 6, 1)},
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
		if s := findDates(text, time.Date(2026, 3, 14, 10, 0, 0, 0, time.UTC)); !s.to.IsZero() && s.to.Before(s.from) {
			t.Errorf("%q ends before it begins: %v", text, s)
		}
	})
}
