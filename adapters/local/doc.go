// Package local is the adapter for rooms that Trestle serves itself: the
// terminal of `trestle chat` and the browser's console.
//
// There is no platform behind it. What a person says through [Rooms.Say] is handed to
// the sink at once, and Say returns when it is durable; so nothing is kept here that
// could be lost, and there is no cursor. What an agent posts is sent to the subscribers
// of the room. A subscriber that reads too slowly loses the oldest lines it has not
// read and is told how many; it never holds up a room.
//
// The package remembers no messages: the space's log does. An edit or a delete
// of a message said before a restart is therefore shown like any other.
package local
