package inproc_test

import (
	"testing"

	"github.com/trestle-bridge/trestle/internal/notify/inproc"
	"github.com/trestle-bridge/trestle/internal/notify/notifytest"
)

func TestBell(t *testing.T) {
	notifytest.Bells(t, func(*testing.T) (here, there notifytest.Bell) {
		var b inproc.Bell
		return &b, &b
	})
}
