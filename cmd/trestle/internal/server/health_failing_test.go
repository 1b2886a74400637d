package server

import (
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/activity"
)

// An account that is heard, but whose messages the platform does not take, is not healthy.
func TestAccountWhoseSendsFailIsNotHealthy(t *testing.T) {
	now := time.Now()
	s := activity.ConnStatus{Name: "telegram", State: activity.ConnConnected, Heard: now, Failing: "it answered HTTP 500"}
	if x := connectionComponent(s, now, ""); x.Healthy || !strings.Contains(x.Reason, "HTTP 500") {
		t.Errorf("healthy %t, because %q", x.Healthy, x.Reason)
	}
}
