// Package hud renders what a model is shown.
//
// A [View] holds the rooms and the log of one mind. It renders new lines as the user
// turns of the inner log ([View.Inbox]), what is not stored as the tail
// ([View.Tail]), a full compressed rendering as the keyframe ([View.Cut]), and
// assembles the finished prompt ([View.Frame]). Between two compactions a frame
// without its tail is a byte prefix of the next one, so that providers cache
// it; a frame never has more tokens than the budget.
//
// Package recall, below it, finds the old lines that the tail shows and scores the
// lines of a keyframe.
//
// Everything that comes from outside enters escaped, inside a line that says
// who spoke ([Quote], [CleanName]); no text, name, title or file name can forge
// a line, a speaker or a header.
//
// The package is pure: it reads no clock, mints no id and does no I/O; the same
// inputs give the same bytes. It may not know models, stores or platforms.
package hud
