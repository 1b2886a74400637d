package toolproc

import (
	"strings"
	"sync"
	"unicode"
)

// tailBytes bounds what is kept of a program's standard error.
const tailBytes = 16 << 10

// A lineTail keeps the end of what is written to it.
type lineTail struct {
	mu   sync.Mutex
	kept []byte
}

// Write keeps the last bytes. It never fails.
func (l *lineTail) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, text...)
	if over := len(l.kept) - tailBytes; over > 0 {
		l.kept = append(l.kept[:0], l.kept[over:]...)
	}
	return len(text), nil
}

// lines returns the last n lines.
func (l *lineTail) lines(n int) string {
	l.mu.Lock()
	text := strings.ToValidUTF8(string(l.kept), "\uFFFD")
	l.mu.Unlock()
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
	all := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(all[max(0, len(all)-n):], "\n")
}
