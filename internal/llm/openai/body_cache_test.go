package openai

import (
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestBodyInUseIsNotReused(t *testing.T) {
	var bodies bodyCache
	first := bodies.take("")
	first.bytes = append(first.bytes[:0], "the first request"...)
	reading := first.open()
	part := make([]byte, 4)
	if _, err := io.ReadFull(reading, part); err != nil {
		t.Fatal(err)
	}
	first.release() // its maker has no more use for it
	for range 100 {
		other := bodies.take("")
		other.bytes = append(other.bytes[:0], strings.Repeat("x", 64)...)
		defer other.release()
	}
	rest, err := io.ReadAll(reading)
	if got := string(part) + string(rest); err != nil || got != "the first request" {
		t.Errorf("got %q, %v", got, err)
	}
	if err := reading.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := reading.Read(part); n != 0 || err == nil {
		t.Errorf("a closed body gives %d bytes, %v", n, err)
	}
	if err := reading.Close(); err != nil || first.users.Load() != 0 {
		t.Errorf("after the second close it has %d users, %v", first.users.Load(), err)
	}
}

func TestBodyOfAConversationIsKeptForIt(t *testing.T) {
	var bodies bodyCache
	first := bodies.take("ada")
	bodies.putFor("ada", first)
	if other := bodies.take("max"); other == first {
		t.Error("another conversation writes on it")
	}
	if again := bodies.take("ada"); again != first {
		t.Error("the conversation does not get it back")
	}
	if twice := bodies.take("ada"); twice == first {
		t.Error("two calls write on it at once")
	}
	reading := first.open()
	bodies.putFor("ada", first)
	if again := bodies.take("ada"); again == first {
		t.Error("it is written on while it is read")
	}
	if err := reading.Close(); err != nil {
		t.Fatal(err)
	}
	if again := bodies.take("ada"); again != first {
		t.Error("the conversation does not get it back once it is read")
	}
}

// pass lets so much time pass, and what is due in it happen.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestStoredBodiesAreDroppedWhenIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var bodies bodyCache
		first := bodies.take("ada")
		bodies.putFor("ada", first)
		for range 3 {
			pass(keptFor - 1)
			busy := bodies.take("max")
			bodies.putFor("max", busy)
		}
		if again := bodies.take("ada"); again != first {
			t.Fatal("forgotten while there were calls")
		}
		bodies.putFor("ada", first)
		pass(keptFor)
		if again := bodies.take("ada"); again == first || bodies.bytes != 0 {
			t.Errorf("kept at rest, %d bytes", bodies.bytes)
		}
	})
}

func TestBodyCacheIsBounded(t *testing.T) {
	var bodies bodyCache
	for i := range 100 {
		b := bodies.take(strconv.Itoa(i))
		b.bytes = make([]byte, 0, keptBytes/4)
		bodies.putFor(strconv.Itoa(i), b)
	}
	if n := len(bodies.young) + len(bodies.old); n == 0 || n > 2*(1+4*generationBytes/keptBytes) {
		t.Errorf("%d bodies are kept", n)
	}
	large := bodies.take("large")
	large.bytes = make([]byte, 0, keptBytes+1)
	bodies.putFor("large", large)
	if again := bodies.take("large"); again == large {
		t.Error("a body larger than any that is kept is kept")
	}
}

func TestBodyIsClosedWhileItIsRead(t *testing.T) {
	var bodies bodyCache
	for range 50 {
		b := bodies.take("")
		b.bytes = append(b.bytes[:0], strings.Repeat("a", 1<<10)...)
		reading := b.open()
		b.release()
		var both sync.WaitGroup
		both.Go(func() {
			got, _ := io.ReadAll(reading)
			if strings.Trim(string(got), "a") != "" {
				t.Errorf("read what belongs to another request: %q", got)
			}
		})
		both.Go(func() {
			_ = reading.Close()
			other := bodies.take("")
			other.bytes = append(other.bytes[:0], strings.Repeat("b", 1<<10)...)
			other.release()
		})
		both.Wait()
	}
}

// A plain connection receives a request of any size in one write, and once.
func TestBodyIsWrittenInOnePiece(t *testing.T) {
	var bodies bodyCache
	b := bodies.take("")
	b.bytes = append(b.bytes[:0], strings.Repeat("a", 200<<10)...)
	reading := b.open()
	b.release()
	var got pieces
	n, err := zeroCopyConn{&got}.ReadFrom(io.LimitReader(reading, 199<<10))
	if err != nil || n != 199<<10 || len(got.sizes) != 1 || got.sizes[0] != 199<<10 {
		t.Errorf("%d bytes in pieces of %v, %v", n, got.sizes, err)
	}
	if rest, err := io.ReadAll(reading); err != nil || len(rest) != 1<<10 {
		t.Errorf("%d bytes are left, %v", len(rest), err)
	}
	if err := reading.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := (zeroCopyConn{&got}).ReadFrom(io.LimitReader(reading, 10)); n != 0 || err == nil {
		t.Errorf("a closed body gives %d bytes, %v", n, err)
	}
	if users := b.users.Load(); users != 0 {
		t.Errorf("the body has %d users at the end", users)
	}
	if n, err := (zeroCopyConn{&got}).ReadFrom(strings.NewReader("something else")); n != 14 || err != nil {
		t.Errorf("another body gives %d bytes, %v", n, err)
	}
}

// pieces is a connection that notes how much is written at once.
type pieces struct {
	net.Conn
	sizes []int
}

func (p *pieces) Write(b []byte) (int, error) {
	p.sizes = append(p.sizes, len(b))
	return len(b), nil
}
