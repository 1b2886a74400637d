// Package history writes what was said before into the logs of spaces: from the history
// of platforms and from exported files. Both are jobs, which go on where they were.
package history
