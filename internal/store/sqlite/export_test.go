package sqlite

import "context"

// Crash ends the store as the end of its process would: nothing is put in order.
func (s *Store) Crash(context.Context) error {
	s.close.Do(func() { s.closed = s.release() })
	return s.closed
}
