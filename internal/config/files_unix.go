//go:build unix

package config

import (
	"fmt"
	"io/fs"
	"syscall"
)

// fileIdentity tells a file from another one that was put in its place.
func fileIdentity(info fs.FileInfo) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("%d:%d", s.Dev, s.Ino)
	}
	return ""
}
