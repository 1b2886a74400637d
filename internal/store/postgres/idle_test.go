package postgres_test

import "testing"

// F36: a connection that broke while idle fails no write. Otherwise the writer would
// wait and retry, with a backoff that grows with each broken connection.
func TestConnectionThatBrokeAtRestCostsNoWrite(t *testing.T) {
	database := server.Database(t)
	s := open(t, options(t, database))
	room := openRoom(t, s)
	for n := range 3 {
		server.Do(t, database, `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`)
		done, err := s.Border().Record(t.Context(), message(room, "zoe", n))
		if err != nil || done.New != 1 {
			t.Errorf("message %d after a break: %+v, %v", n, done, err)
		}
	}
	sound(t, s)
}
