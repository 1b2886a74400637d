// Package sqlstore stores events, spaces, cycles and the outbox in a database. It
// implements the ports of activity, shell, jobs and console in SQL that every engine
// accepts.
//
// It decides nothing: which event wakes an agent, what is shown and what is sent is
// decided by its callers. Times reach stored data as arguments.
package sqlstore
