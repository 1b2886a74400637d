//go:build !race

package main

// eachSays is how many messages each of three people writes in a relayed room.
const eachSays = 334
