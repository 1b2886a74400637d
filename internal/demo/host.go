package demo

import (
	"context"
	"fmt"
	"net"
)

// A FakePlatform is what comes after one fake platform. Its methods may be called
// while it serves.
type FakePlatform interface {
	// Serve answers on ln until ctx is done, then drops every connection at once.
	Serve(ctx context.Context, ln net.Listener) error
	// Open lets the people and the bot into a new room and returns the chat's id.
	Open(r StoryRoom) (chat string)
	// Says has a person say something in a room that is open.
	Says(room, person, text string)
	// Entry is the adapter's entry in the configuration, as YAML in one line, for
	// the world served at url.
	Entry(url string) string
}

// ListenFunc opens an address; "" chooses one.
type ListenFunc func(ctx context.Context, address string) (net.Listener, error)

// A PlatformHost serves a world, and can switch it off and on again at the same address.
type PlatformHost struct {
	FakePlatform
	listen  ListenFunc
	first   net.Listener
	address string
	flip    chan bool // true: on
}

// NewHost begins to listen for a world. Nothing is answered before Run, which
// must follow: it closes what is opened here.
func NewHost(ctx context.Context, w FakePlatform, listen ListenFunc) (*PlatformHost, error) {
	ln, err := listen(ctx, "")
	if err != nil {
		return nil, fmt.Errorf("listen for a fake platform: %w", err)
	}
	return &PlatformHost{FakePlatform: w, listen: listen, first: ln, address: ln.Addr().String(), flip: make(chan bool)}, nil
}

// URL is where the world is served.
func (h *PlatformHost) URL() string { return "http://" + h.address }

// Run serves the world until ctx is done.
func (h *PlatformHost) Run(ctx context.Context) error {
	for ln := h.first; ; {
		if err := h.serve(ctx, ln); err != nil || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-h.flip:
		}
		var err error
		if ln, err = h.listen(ctx, h.address); err != nil {
			return fmt.Errorf("listen for a fake platform again: %w", err)
		}
	}
}

// serve answers on ln until the host is switched off.
func (h *PlatformHost) serve(ctx context.Context, ln net.Listener) error {
	ctx, off := context.WithCancel(ctx)
	defer off()
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(ctx, ln) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	case <-h.flip:
	}
	off()
	return <-ended
}

// Switch turns the platform off, with every connection to it, or on again. It
// returns once Run has taken it.
func (h *PlatformHost) Switch(ctx context.Context, on bool) error {
	select {
	case h.flip <- on:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
