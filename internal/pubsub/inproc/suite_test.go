package inproc_test

import (
	"testing"

	"github.com/trestle-bridge/trestle/internal/pubsub/inproc"
	"github.com/trestle-bridge/trestle/internal/pubsub/pubsubtest"
)

func TestBell(t *testing.T) {
	pubsubtest.Bells(t, func(*testing.T) (here, there pubsubtest.SuiteNotifier) {
		var b inproc.LocalNotifier
		return &b, &b
	})
}
