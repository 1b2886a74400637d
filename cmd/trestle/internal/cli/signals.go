package cli

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
)

// stoppable returns a context that the first signal ends. The second signal
// ends the program at once, whatever it does: nothing is lost by that. The
// caller calls the returned function when it is over.
func stoppable(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	over := make(chan struct{})
	var listening sync.WaitGroup
	listening.Go(func() {
		for range 2 {
			select {
			case <-signals:
			case <-over:
				return
			}
			if ctx.Err() != nil {
				os.Exit(int(apperr.Interrupted))
			}
			cancel()
		}
	})
	return ctx, sync.OnceFunc(func() {
		signal.Stop(signals)
		close(over)
		listening.Wait()
		cancel()
	})
}
