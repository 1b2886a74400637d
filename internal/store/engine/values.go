package engine

import (
	"encoding/json"
	"slices"
	"time"
)

// ToMillis returns the stored form of t: milliseconds since 1970 UTC, 0 for the zero time.
func ToMillis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// CeilMillis returns the first stored instant that is not before t.
func CeilMillis(t time.Time) int64 {
	n := ToMillis(t)
	if n != 0 && t.After(time.UnixMilli(n)) {
		n++
	}
	return n
}

// FromMillis returns the time whose stored form is ms.
func FromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// DayNumber returns the number of the UTC day of t, by which usage is counted.
func DayNumber(t time.Time) int64 { return t.Unix() / 86400 }

// StartOfDay returns the beginning of the UTC day of t.
func StartOfDay(t time.Time) time.Time { return time.Unix(DayNumber(t)*86400, 0) }

// A TimeScanner scans a stored time.
type TimeScanner struct{ to *time.Time }

// ScanTime returns a scanner of a stored time into to.
func ScanTime(to *time.Time) TimeScanner { return TimeScanner{to} }

// Scan implements sql.Scanner.
func (s TimeScanner) Scan(v any) error {
	*s.to = FromMillis(v.(int64))
	return nil
}

// A ListScanner scans a stored JSON array.
type ListScanner[T any] struct{ to *[]T }

// ScanList returns a scanner of a stored list into to.
func ScanList[T any](to *[]T) ListScanner[T] { return ListScanner[T]{to} }

// Scan implements sql.Scanner.
func (l ListScanner[T]) Scan(v any) error {
	text := v.(string)
	if text == "[]" {
		return nil
	}
	return json.Unmarshal([]byte(text), l.to)
}

// EncodeList returns the stored form of a list: a JSON array.
func EncodeList[T any](items []T) string {
	if len(items) == 0 {
		return "[]"
	}
	out, err := json.Marshal(items)
	if err != nil {
		panic("store: encode list: " + err.Error()) // ids and references always encode
	}
	return string(out)
}

// NonNilBytes returns b, or an empty slice for nil.
func NonNilBytes(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// NullString returns nil for the empty string, for columns that may be null.
func NullString(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// AppendNew appends the items that are not in the list yet.
func AppendNew[T comparable](list []T, items ...T) []T {
	for _, item := range items {
		if !slices.Contains(list, item) {
			list = append(list, item)
		}
	}
	return list
}
