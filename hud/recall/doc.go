// Package recall finds old lines of rooms again: by their words (BM25 over all
// rooms together, with spelling variants and synonyms), by the conversation
// they belong to, by the dates a question names, and by embeddings where a
// model computed them.
//
// An [Index] holds what is needed for one room. [Rank] scores the lines of
// several rooms, and [Search] chooses those that fit a token budget. The
// package renders nothing: the caller says which lines a reader may see, which
// ones it sees already, and how many tokens a line takes.
//
// The package is pure: it reads no clock and does no I/O, and the same inputs
// give the same lines.
package recall
