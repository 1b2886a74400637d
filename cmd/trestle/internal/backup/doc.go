// Package backup copies the database into a file while it is in use, notes when it did,
// and puts a copy in place of a missing database.
package backup
