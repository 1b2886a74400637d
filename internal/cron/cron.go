// Package cron computes the next times of a cron line.
//
// Lines are in local time: each time of day occurs once a day, also when clocks are
// set forward or back.
package cron

import (
	"errors"
	"regexp"
	"time"

	"github.com/adhocore/gronx"
)

// ErrLine is returned for an invalid cron line.
var ErrLine = errors.New("a cron line has five fields: minute, hour, day of the month, month, day of the week")

// ErrNever is returned for a cron line that matches no day.
var ErrNever = errors.New("no day fits the cron line")

// The library also accepts seconds, years and named lines, and expands ranges of any
// length. A valid line has five fields of stars, commas, dashes, slashes, names of
// days and months, and numbers of at most two digits.
var (
	fields = regexp.MustCompile(`^(?:[A-Za-z0-9*/,-]{1,120}(?: |$)){5}$`)
	number = regexp.MustCompile(`[0-9]{3}`)
)

// NextTime returns the first match of the cron line later than after, in after's
// location. A time that is skipped when clocks are set forward is shifted by the
// same amount; one that occurs twice when they are set back counts the first time
// only.
func NextTime(line string, after time.Time) (time.Time, error) {
	if !fields.MatchString(line) || number.MatchString(line) || !gronx.IsValid(line) {
		return time.Time{}, ErrLine
	}
	// The library computes in UTC, where every day has every time.
	wall := time.Date(after.Year(), after.Month(), after.Day(), after.Hour(), after.Minute(), after.Second(), after.Nanosecond(), time.UTC)
	for range 3 { // a match in a repeated hour may already have passed
		next, err := gronx.NextTickAfter(line, wall, false)
		if err != nil {
			return time.Time{}, ErrNever
		}
		if due := FirstMoment(next, after.Location()); due.After(after) {
			return due, nil
		}
		wall = next
	}
	return time.Time{}, ErrNever
}

// FirstMoment returns when the clocks of a location first show the date and time of wall,
// whose own location does not matter, or would show it had they not been set forward.
func FirstMoment(wall time.Time, in *time.Location) time.Time {
	wall = time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), 0, time.UTC)
	due := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), 0, in)
	_, offset := due.Add(-3 * time.Hour).Zone() // before clocks were set, if they were
	unset := wall.Add(-time.Duration(offset) * time.Second).In(in)
	if showsTime(due, wall) && !showsTime(unset, wall) {
		return due
	}
	return unset
}

// showsTime reports whether at has the hour and minute of wall.
func showsTime(at, wall time.Time) bool {
	return at.Hour() == wall.Hour() && at.Minute() == wall.Minute()
}

// ShortestInterval returns the shortest interval between the next 64 matches of the
// line.
func ShortestInterval(line string, after time.Time) (time.Duration, error) {
	const few = 64
	shortest := time.Duration(1<<63 - 1)
	last, err := NextTime(line, after)
	for range few {
		if err != nil {
			return 0, err
		}
		next, failed := NextTime(line, last)
		if failed == nil {
			shortest = min(shortest, next.Sub(last))
		}
		last, err = next, failed
	}
	return shortest, err
}
