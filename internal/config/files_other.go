//go:build !unix

package config

import "io/fs"

// fileIdentity returns "": size and time alone tell files apart here.
func fileIdentity(fs.FileInfo) string { return "" }
