//go:build race

package main

// eachSays is how many messages each of three people writes in a relayed room. The
// race detector keeps clocks of its own for every step, which take minutes for a
// thousand messages and may overflow; the order of few shows the same races.
const eachSays = 67
