// Package pgnotify rings doorbells between the processes that share a Postgres
// database, through the server's notifications. It is for those who have no Redis.
//
// It promises what package pubsub says, and that the server slows nobody who
// rings: whoever listens in this process hears a ring at once and without it, rings
// are told to it by one goroutine, all that wait in one statement and at most fifty
// times a second, and never within the transaction that they are about: a commit
// that notifies waits for every other one that does. A connection that is lost, or
// passes nothing on, is made anew less and less often, and then every bell rings
// once, for nobody knows what was missed.
//
// It knows nothing of what its keys mean, nor of what is in the database.
package pgnotify
