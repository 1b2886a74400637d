//go:build !unix

package config

import "io/fs"

// identity tells a file from another one that was put in its place; here only
// its size and time do.
func identity(fs.FileInfo) string { return "" }
