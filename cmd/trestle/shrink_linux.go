package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// dropText lets go of the pages of the program's own file. They stay in the
// system's cache, and those that are used come back at their next use. What was
// written to since the file was mapped is left alone. It returns how many bytes of
// mappings it let go of; nothing depends on it.
func dropText() (dropped uintptr) {
	file, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return 0
	}
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return 0
	}
	defer func() { _ = maps.Close() }()
	var from, to uintptr // of the mapping that the lines are about; zero for one that is not ours
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		line := lines.Text()
		if name, kb, ok := strings.Cut(line, ":"); ok && !strings.Contains(name, " ") {
			if name == "Anonymous" && strings.TrimSpace(kb) == "0 kB" && from != 0 {
				if _, _, failed := unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED); failed == 0 {
					dropped += to - from
				}
			}
			continue
		}
		var mode string
		from, to = 0, 0
		if strings.HasSuffix(line, " "+file) {
			if _, err := fmt.Sscanf(line, "%x-%x %s", &from, &to, &mode); err != nil || strings.Contains(mode, "w") {
				from = 0
			}
		}
	}
	return dropped
}
