// Package postgres keeps a record in a Postgres database, which several
// processes may write at once: the connections, the schema, who writes, and
// whose turn it is.
//
// It promises that a commit that returned is on the server's disk, also when the
// connection broke while it was under way; that writers take turns, so that what
// one of them reads within its turn stays true until its commit; and that a
// process which others have given up writes nothing more. What is written and
// read is package sqlstore's.
package postgres
