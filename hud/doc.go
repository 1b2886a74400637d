// Package hud is the view: what a model is shown.
//
// A [View] is one mind looking at its rooms. It renders new lines as the user
// turns of the inner log ([View.Inbox]), what must not stay as the tail
// ([View.Tail]), a full compressed rendering as the keyframe ([View.Cut]), and
// puts the finished prompt together ([View.Frame]). Between two cuts a frame
// without its tail is a byte prefix of the next one, so that providers cache
// it; a frame never holds more tokens than the budget.
//
// Everything that comes from outside enters escaped, inside a line that says
// who spoke ([Quote], [CleanName]); no text, name, title or file name can forge
// a line, a speaker or a header (SECURITY S3).
//
// The package is pure: it reads no clock, mints no id and does no I/O; the same
// inputs give the same bytes. It may not know models, stores or platforms.
package hud
