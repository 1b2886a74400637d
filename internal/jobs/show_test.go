package jobs

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func backfill(done, total int64) Job {
	return Job{
		Kind: "backfill", Subject: "acme", State: Running, Rate: 38,
		JobProgress: JobProgress{Done: done, Total: total, Unit: "messages"},
	}
}

// ECOSYSTEM 7: the line of a job; an unknown total gets no fake percentage.
func TestJobInOneLine(t *testing.T) {
	waiting := backfill(6310, 15020)
	waiting.Note, waiting.Until = "slack asks to wait", noon.Add(12*time.Second)
	unknown := backfill(6310, 0)
	failed := backfill(12016, 15020)
	failed.State, failed.Error, failed.Rate = Failed, "the disk is full", 0
	ready := backfill(0, 15020)
	ready.State, ready.Rate = Ready, 0
	for _, test := range []struct {
		job  Job
		want string
	}{
		{waiting, "backfill acme   ██████████▉···············  42 %  6,310 / 15,020 messages   38/s   ≈ 3 m 49 s   slack asks to wait for 12 s"},
		{unknown, "backfill acme   6,310 messages   38/s"},
		{failed, "backfill acme   ████████████████████▊·····  80 %  12,016 / 15,020 messages   failed   the disk is full"},
		{ready, "backfill acme   ··························  0 %  0 / 15,020 messages   ready"},
		{backfill(20000, 15020), "backfill acme   ██████████████████████████  100 %  20,000 / 15,020 messages   38/s"},
	} {
		if got := Text(test.job, noon); got != test.want {
			t.Errorf("got  %q\nwant %q", got, test.want)
		}
	}
}

// follow shows a job that counts from 0 to total, a tenth of it each 500 ms.
func follow(form ProgressFormat) string {
	var out strings.Builder
	s := NewShower(&out, form)
	for i := range 100 {
		j := backfill(int64(i), 100)
		s.Show(j, noon.Add(time.Duration(i)*50*time.Millisecond))
	}
	j := backfill(100, 100)
	j.State = Done
	s.Show(j, noon.Add(5*time.Second))
	return out.String()
}

// ECOSYSTEM 7, 3.1: a terminal sees at most four drawings a second, a pipe one
// line each tenth, a program every change.
func TestProgressIsShownAsOftenAsItCanBeRead(t *testing.T) {
	if got := strings.Count(follow(Line), "\r"); got < 15 || got > 21 {
		t.Errorf("a terminal was drawn %d times in five seconds", got)
	}
	lines := strings.Split(strings.TrimSpace(follow(Lines)), "\n")
	if len(lines) != 11 || strings.ContainsAny(follow(Lines), "\r\x1b") {
		t.Errorf("a pipe got %d lines:\n%s", len(lines), strings.Join(lines, "\n"))
	}
	objects := strings.Split(strings.TrimSpace(follow(JSON)), "\n")
	if len(objects) != 101 {
		t.Errorf("a program got %d objects", len(objects))
	}
	var last struct {
		State   JobState `json:"state"`
		Percent *int     `json:"percent"`
		Subject string   `json:"subject"`
	}
	if err := json.Unmarshal([]byte(objects[100]), &last); err != nil || last.State != Done || last.Percent == nil || *last.Percent != 100 || last.Subject != "acme" {
		t.Errorf("the last object is %s, %v", objects[100], err)
	}
}

func TestSlowPipeGetsALineEveryTenSeconds(t *testing.T) {
	var out strings.Builder
	s := NewShower(&out, Lines)
	for i := range 61 {
		s.Show(backfill(int64(i), 0), noon.Add(time.Duration(i)*time.Second))
	}
	if got := strings.Count(out.String(), "\n"); got != 7 {
		t.Errorf("%d lines in a minute:\n%s", got, out.String())
	}
}

func TestShorterLineLeavesNothingOfTheLonger(t *testing.T) {
	var out strings.Builder
	s := NewShower(&out, Line)
	long := backfill(1, 0)
	long.Note = "and a note"
	s.Show(long, noon)
	s.Show(backfill(2, 0), noon.Add(time.Second))
	lines := strings.Split(out.String(), "\r")
	if len(lines) != 3 || len([]rune(lines[2])) < len([]rune(lines[1])) {
		t.Errorf("drawn %q", lines)
	}
}

func TestWorkThatIsOverAtOnceIsNotShown(t *testing.T) {
	for form, want := range map[ProgressFormat]string{Line: "", Lines: "", JSON: "done"} {
		var out strings.Builder
		s := NewShower(&out, form).Late()
		j := backfill(10, 10)
		s.Show(j, noon)
		j.State = Done
		s.Show(j, noon.Add(900*time.Millisecond))
		if got := out.String(); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("form %d shows %q", form, got)
		}
		s.Show(backfill(11, 20), noon.Add(2*time.Second))
		if !strings.Contains(out.String(), "backfill") {
			t.Errorf("form %d shows nothing of long work", form)
		}
	}
}
