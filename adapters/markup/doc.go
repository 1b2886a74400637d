// Package markup turns CommonMark into words with looks, and back.
//
// A [Reader] reads CommonMark through its syntax tree into a [Text]: the words a
// reader sees, and [Span] values over them that nest and never cross. An adapter
// writes the spans in its platform's own form, and has [Text.Parts] cut them
// where it hurts least. The other way it hands the words and spans that its
// platform sent to [Reader.CommonMark].
//
// Two promises hold for every input: no word is lost, in either direction, and
// the same input gives the same output. What a look has no place for is left out
// rather than shown as stray signs.
//
// The package knows no platform: what one shows natively is an [Options] of its
// reader.
package markup
