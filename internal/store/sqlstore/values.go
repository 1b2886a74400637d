package sqlstore

import (
	"encoding/json"
	"slices"
	"time"
)

// ms returns t as it is stored: milliseconds since 1970 UTC, 0 for no time.
func ms(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// notBefore returns the first stored instant that is no earlier than t: what
// waits for it is never due too soon.
func notBefore(t time.Time) int64 {
	n := ms(t)
	if n != 0 && t.After(time.UnixMilli(n)) {
		n++
	}
	return n
}

// instant reads what ms wrote.
func instant(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// day returns the day of t in UTC, as usage is counted.
func day(t time.Time) int64 { return t.Unix() / 86400 }

// midnight is when that day began.
func midnight(t time.Time) time.Time { return time.Unix(day(t)*86400, 0) }

// A timeScanner scans a stored time.
type timeScanner struct{ to *time.Time }

// Scan implements sql.Scanner.
func (s timeScanner) Scan(v any) error {
	*s.to = instant(v.(int64))
	return nil
}

// A jsonList scans a stored JSON array.
type jsonList[T any] struct{ to *[]T }

// Scan implements sql.Scanner.
func (l jsonList[T]) Scan(v any) error {
	text := v.(string)
	if text == "[]" {
		return nil
	}
	return json.Unmarshal([]byte(text), l.to)
}

// array returns the stored form of a list.
func array[T any](items []T) string {
	if len(items) == 0 {
		return "[]"
	}
	out, err := json.Marshal(items)
	if err != nil {
		panic("record: list of " + err.Error()) // ids and references always encode
	}
	return string(out)
}

// blob returns bytes as they are stored: none is empty.
func blob(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// null returns nil for the empty string, for columns that may be without a value.
func null(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// appendNew appends those of the items that the list has not.
func appendNew[T comparable](list []T, items ...T) []T {
	for _, item := range items {
		if !slices.Contains(list, item) {
			list = append(list, item)
		}
	}
	return list
}
