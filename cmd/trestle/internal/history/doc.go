// Package history imports old messages into the logs of spaces: from the history of platforms
// and from exported files. Both are jobs, which continue at their stored position.
package history
