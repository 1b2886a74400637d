package timezone_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/internal/timezone"
)

// Every name that an error may propose is a time zone.
func TestEveryListedZoneLoads(t *testing.T) {
	list, err := os.ReadFile("zones.txt")
	testutil.OK(t, err)
	for name := range strings.Lines(string(list)) {
		if _, err := timezone.Load(strings.TrimSpace(name)); err != nil {
			t.Error(err)
		}
	}
}

func TestAWrongZoneIsNamedWithTheNearest(t *testing.T) {
	for wrong, want := range map[string][]string{
		"Europe/Zürich":     {"Europe/Zurich"},
		"Europa/Zurich":     {"Europe/Zurich"},
		"Zurich":            {"Europe/Zurich"},
		"America/New York":  {"America/New_York"},
		"Asia/Tokio":        {"Asia/Tokyo"},
		"Local":             nil,
		"":                  nil,
		"Middle of nowhere": nil,
	} {
		_, err := timezone.Load(wrong)
		if err == nil {
			t.Errorf("%q is taken for a time zone", wrong)
			continue
		}
		near := timezone.Nearest(wrong)
		if want == nil {
			if strings.Contains(err.Error(), "did you mean") && wrong != "Local" {
				t.Errorf("%q: %v", wrong, err)
			}
			continue
		}
		if diff := cmp.Diff(want[0], append(near, "")[0]); diff != "" || !strings.Contains(err.Error(), want[0]) {
			t.Errorf("%q: %v, nearest %v", wrong, err, near)
		}
	}
}

func TestPeopleNameZonesByTheirCity(t *testing.T) {
	for words, want := range map[string]string{
		"zurich": "Europe/Zurich", "new york": "America/New_York", "asia/tokyo": "Asia/Tokyo", "utc": "UTC", "Europe/Berlin": "Europe/Berlin", "CET": "CET",
	} {
		in, err := timezone.Find(words)
		if err != nil || in.String() != want {
			t.Errorf("%q is %v (%v), want %s", words, in, err, want)
		}
	}
	if _, err := timezone.Find("atlantis"); err == nil {
		t.Error("a place without a time zone has one")
	}
	if in, err := timezone.Find("Europe/Zurich"); err != nil || time.Date(2026, 7, 1, 0, 0, 0, 0, in).Format("MST") != "CEST" {
		t.Errorf("summer in Zurich: %v %v", in, err)
	}
}
