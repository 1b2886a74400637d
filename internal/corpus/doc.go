// Package corpus makes up rooms: conversations of several people over many
// sessions, with questions whose answers stand in known lines.
//
// A room is made from a seed and is the same for ever. People tell facts, in one line
// or as answers to a question; correct them later; and talk about nothing in between,
// with words that look like facts. Two styles are made: what people write with care,
// and a chat of many with short lines, slips and two conversations at once. All words
// were written for this package, so a room may be copied anywhere.
//
// Nothing here knows how anything is found again, and nothing that finds may know
// how rooms are made: the package is for measuring.
package corpus
