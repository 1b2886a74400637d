package testutil_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

// A patient is a test that only records its failures.
type patient struct {
	testing.TB
	said []string
}

func (*patient) Helper()                          {}
func (p *patient) Fatal(args ...any)              { p.said = append(p.said, "fatal: "+fmt.Sprint(args...)) }
func (p *patient) Errorf(format string, _ ...any) { p.said = append(p.said, "error: "+format) }

func TestWhatIsWrongIsSaid(t *testing.T) {
	p := &patient{TB: t}
	testutil.OK(p, nil)
	testutil.Same(p, "list", []int{1}, []int{1})
	if len(p.said) != 0 {
		t.Errorf("said of what is right: %q", p.said)
	}
	testutil.OK(p, errors.New("no"))
	testutil.Same(p, "list", []int{1}, []int{2})
	if got := fmt.Sprint(p.said); got != "[fatal: no error: %s (-want +got):\n%s]" {
		t.Errorf("said of what is wrong: %q", got)
	}
}

func TestAFileIsWrittenAnewWhenToldTo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "golden")
	p := &patient{TB: t}
	testutil.Golden(p, true, file, "one")
	testutil.Golden(p, false, file, "one")
	if len(p.said) != 0 {
		t.Errorf("said of what is right: %q", p.said)
	}
	if testutil.Golden(p, false, file, "two"); len(p.said) != 1 {
		t.Errorf("said of what is wrong: %q", p.said)
	}
}
