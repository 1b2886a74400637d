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
// written to since the file was mapped, as by a debugger, is left alone. It returns
// how many bytes of mappings it let go of; nothing depends on it.
func dropText() (dropped uintptr) {
	for _, m := range ownText() {
		if _, _, failed := unix.Syscall(unix.SYS_MADVISE, m.from, m.to-m.from, unix.MADV_DONTNEED); failed == 0 {
			dropped += m.to - m.from
		}
	}
	return dropped
}

// A mapping is where a part of a file is in memory.
type mapping struct{ from, to uintptr }

// ownText returns the mappings of the program's own file, without those that were
// written to since.
func ownText() (found []mapping) {
	file, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return nil
	}
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return nil
	}
	defer func() { _ = maps.Close() }()
	var at mapping // that the lines are about; zero for one that is not ours
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		line := lines.Text()
		if name, kb, ok := strings.Cut(line, ":"); ok && !strings.Contains(name, " ") {
			if name == "Anonymous" && strings.TrimSpace(kb) == "0 kB" && at.from != 0 {
				found = append(found, at)
			}
			continue
		}
		var mode string
		at = mapping{}
		if strings.HasSuffix(line, " "+file) {
			if _, err := fmt.Sscanf(line, "%x-%x %s", &at.from, &at.to, &mode); err != nil || strings.Contains(mode, "w") {
				at = mapping{}
			}
		}
	}
	return found
}
