// Package alerts keeps what an operator must know of: typed conditions, each
// with a code, a severity, what it is about, and what to do.
//
// It promises that a problem opens when its condition is seen and closes once it
// has not been seen for [Calm], so that nothing flickers; that an operator is told
// of it at once, again after 1 h, 6 h and 24 h and then daily, and when it is
// over; that an acknowledged problem is silent for the time asked; and that it
// never travels over the adapter it is about. No model is ever asked for words.
//
// It judges nothing by itself: looks that others write say what they see. All
// it knows is in the store, so that a restart forgets nothing; what a store
// cannot take, as on a full disk, is held in memory until it can. It knows
// neither platforms nor SQL.
package alerts
