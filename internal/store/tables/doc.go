// Package tables reads the rows of the store's tables: the columns of each table, the
// scanners of its rows, and the queries that the write side and the read model share.
//
// It writes nothing.
package tables
