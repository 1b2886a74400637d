package latch

import (
	"testing"
	"testing/synctest"
	"time"
)

// One holds it at a time, and the clock goes on while others wait.
func TestTimePassesWhileSomebodyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, held, most := New(), 0, 0
		for range 5 {
			go func() {
				l.Lock()
				defer l.Unlock()
				held++
				most = max(most, held)
				<-time.After(time.Second)
				held--
			}()
		}
		began := time.Now()
		synctest.Wait()
		l.Lock()
		if took := time.Since(began); took != 5*time.Second || most != 1 {
			t.Errorf("five who held it for a second took %s, %d at once", took, most)
		}
	})
}
