// Package cron says when something that recurs is due.
//
// It promises that a line of cron means what clocks on the wall show: each time
// that it names comes once a day, also when clocks are set. It knows nothing of
// who is waiting, and has no clock.
package cron

import (
	"errors"
	"regexp"
	"time"

	"github.com/adhocore/gronx"
)

// ErrLine is returned for what is no line of cron.
var ErrLine = errors.New("a cron line has five fields: minute, hour, day of the month, month, day of the week")

// ErrNever is returned for a line that no day fits.
var ErrNever = errors.New("no day fits the cron line")

// The library takes seconds, years and names for whole lines as well, and counts
// through ranges of any length: a line is five fields of stars, commas, dashes,
// slashes, names of days and months, and numbers of two digits.
var (
	fields = regexp.MustCompile(`^(?:[A-Za-z0-9*/,-]{1,120}(?: |$)){5}$`)
	number = regexp.MustCompile(`[0-9]{3}`)
)

// NextTime returns the first time later than after that fits the cron line, by the
// clocks of after's location. A time that is left out when clocks are set forward
// comes as much later; one that comes twice when they are set back is taken once,
// the first time.
func NextTime(line string, after time.Time) (time.Time, error) {
	if !fields.MatchString(line) || number.MatchString(line) || !gronx.IsValid(line) {
		return time.Time{}, ErrLine
	}
	// The library reckons with clocks that nobody sets, where every day has every time.
	wall := time.Date(after.Year(), after.Month(), after.Day(), after.Hour(), after.Minute(), after.Second(), after.Nanosecond(), time.UTC)
	for range 3 { // a time of the hour that comes twice may have been already
		next, err := gronx.NextTickAfter(line, wall, false)
		if err != nil {
			return time.Time{}, ErrNever
		}
		if due := firstMoment(next, after.Location()); due.After(after) {
			return due, nil
		}
		wall = next
	}
	return time.Time{}, ErrNever
}

// firstMoment returns when the clocks of a location show a time for the first time, or
// would, had they not been set forward.
func firstMoment(wall time.Time, in *time.Location) time.Time {
	due := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), 0, in)
	_, offset := due.Add(-3 * time.Hour).Zone() // before clocks were set, if they were
	unset := wall.Add(-time.Duration(offset) * time.Second).In(in)
	if showsTime(due, wall) && !showsTime(unset, wall) {
		return due
	}
	return unset
}

// showsTime reports whether the clocks show a time of the wall at a moment.
func showsTime(at, wall time.Time) bool {
	return at.Hour() == wall.Hour() && at.Minute() == wall.Minute()
}

// ShortestInterval returns the shortest time between any two of the next few times that fit
// the line.
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
