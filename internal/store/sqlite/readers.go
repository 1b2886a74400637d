package sqlite

import (
	"context"
	"errors"
	"sync"

	"github.com/trestle-bridge/trestle/internal/store/engine"
)

// readerCount is how many reads may run at once.
const readerCount = 4

const (
	beginRead = `begin`
	endRead   = `rollback`
)

// readers are the connections that only read, each with its own view of the
// last commit. The one that was given back last is the next: what it has read of
// that commit it knows.
type readers struct {
	opened int
	spare  chan struct{} // as many as are free
	quit   chan struct{} // closed once no read may begin

	mu   sync.Mutex // guards free
	free []*connection
}

// openReaders opens and verifies all of the connections. What it returns is to
// be closed in any case.
func openReaders(ctx context.Context, file, mode string, settings []pragma) (*readers, error) {
	r := &readers{spare: make(chan struct{}, readerCount), quit: make(chan struct{})}
	for range readerCount {
		c, err := connect(source(file, mode, settings))
		if err != nil {
			return r, err
		}
		r.opened++
		r.give(c)
		if err := verify(ctx, c.ask, settings); err != nil {
			return r, err
		}
	}
	return r, nil
}

// take waits for a connection, which give must get back.
func (r *readers) take(ctx context.Context) (*connection, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case <-r.quit:
		return nil, engine.ErrClosed
	default:
	}
	select {
	case <-r.spare: // usually a reader is free
		return r.last(), nil
	default:
	}
	select {
	case <-r.spare:
		return r.last(), nil
	case <-r.quit:
		return nil, engine.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// last takes the connection that was given back last. There is one.
func (r *readers) last() *connection {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.free[len(r.free)-1]
	r.free = r.free[:len(r.free)-1]
	return c
}

func (r *readers) give(c *connection) {
	r.mu.Lock()
	r.free = append(r.free, c)
	r.mu.Unlock()
	r.spare <- struct{}{}
}

// Query runs one prepared read. Reads here are short, so they are not interrupted
// once they began.
func (r *readers) Query(ctx context.Context, statement string, args ...any) (engine.Rows, error) {
	c, err := r.take(ctx)
	if err != nil {
		return nil, err
	}
	found, err := c.Query(ctx, statement, args...)
	if err != nil {
		r.give(c)
		return nil, err
	}
	return &pooledRows{found, r, c}, nil
}

// View runs do with one unchanging view of the record.
func (r *readers) View(ctx context.Context, do func(ctx context.Context, src engine.QueryReader) error) (err error) {
	c, err := r.take(ctx)
	if err != nil {
		return err
	}
	defer r.give(c)
	if _, err := c.Exec(ctx, beginRead); err != nil {
		return err
	}
	defer func() { // also when do panics: the next one would read what was true then
		_, end := c.Exec(ctx, endRead)
		err = errors.Join(err, end)
	}()
	return do(ctx, c)
}

// close waits for the reads under way and closes what was opened. It is called
// once.
func (r *readers) close() error {
	close(r.quit)
	var errs []error
	for range r.opened {
		<-r.spare
		errs = append(errs, r.last().Close())
	}
	return errors.Join(errs...)
}

// pooledRows are rows that give their connection back when they are closed.
type pooledRows struct {
	engine.Rows
	to *readers
	c  *connection // nil once given back
}

// Close implements [engine.Rows]. Later calls do nothing.
func (l *pooledRows) Close() error {
	if l.c == nil {
		return nil
	}
	err := l.Rows.Close()
	l.to.give(l.c)
	l.c = nil
	return err
}
