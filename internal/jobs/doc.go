// Package jobs is for work that takes long: imports, backfills, copies. A job
// is a row, so that it can be looked at, paused, resumed and cancelled from
// anywhere, and goes on after a crash where it last said it was.
//
// A [Runner] takes jobs one after the other, each under a lease, and gives them
// to the [Handler] of their kind. The work does a piece, says with [Task.Save] how
// far it is, and stops when that returns an error. What is done stays done: a
// failed job can be resumed. A [Progress] shows a job to people or programs.
//
// The package knows neither what its jobs do nor how they are stored.
package jobs
