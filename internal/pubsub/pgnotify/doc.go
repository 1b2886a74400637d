// Package pgnotify rings doorbells between the processes that share a Postgres
// database, through the server's notifications. It is for those who have no Redis.
//
// It promises what package pubsub says, and that the server never blocks a sender:
// listeners of this process get a notification at once and without the server. One
// goroutine sends notifications to it, all pending ones in one statement and at most
// fifty times a second, and never within the transaction that they are about, because a
// commit that notifies waits for every other one that does. A lost or stalled
// connection is made again with backoff, and then every key notifies once, because
// notifications may have been missed.
//
// It knows nothing of what its keys mean, nor of what is in the database.
package pgnotify
