package doctor

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
)

// Writable returns why this user cannot write in a folder, or create it where it does not
// exist; nil when they can. It creates a file there and removes it.
func Writable(folder string) error {
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		above := filepath.Dir(filepath.Clean(folder))
		if above == folder {
			return err
		}
		return Writable(above)
	}
	f, err := os.CreateTemp(folder, ".trestle-doctor-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// Listenable returns why this process cannot listen on an address, or nil. It listens for a
// moment.
func Listenable(ctx context.Context, address string) error {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return ln.Close()
}
