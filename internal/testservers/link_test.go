package testservers_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/testservers"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// echo serves connections that answer with what they are asked, until the test
// ends.
func echo(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // loopback, at once
	testutil.OK(t, err)
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer func() { _ = c.Close() }()
				_, _ = io.Copy(c, c)
			})
		}
	})
	t.Cleanup(func() { _ = listener.Close(); serving.Wait() })
	return listener.Addr().String()
}

func linked(t *testing.T) (*testservers.FaultProxy, func() net.Conn) {
	t.Helper()
	target := echo(t) // ends after the link
	l := testservers.NewLink(t, target)
	return l, func() net.Conn {
		c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(l.Port()))) //nolint:noctx // loopback, at once
		testutil.OK(t, err)
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
}

// asks writes a question and reads so many bytes of the answer.
func asks(c net.Conn, question string, n int) (string, error) {
	if _, err := c.Write([]byte(question)); err != nil {
		return "", err
	}
	answer := make([]byte, n)
	n, err := io.ReadFull(c, answer)
	return string(answer[:n]), err
}

func passes(t *testing.T, c net.Conn, what string) {
	t.Helper()
	if got, err := asks(c, what, len(what)); got != what || err != nil {
		t.Fatalf("asked %q, got %q (%v)", what, got, err)
	}
}

// silent reports that nothing is heard for a while.
func silent(t *testing.T, c net.Conn) {
	t.Helper()
	testutil.OK(t, c.SetReadDeadline(time.Now().Add(30*time.Millisecond)))
	n, err := c.Read(make([]byte, 1))
	if failed, ok := errors.AsType[net.Error](err); n != 0 || !ok || !failed.Timeout() {
		t.Errorf("heard %d bytes (%v), want silence", n, err)
	}
	testutil.OK(t, c.SetReadDeadline(time.Time{}))
}

func TestCutLinkRefusesUntilItIsMended(t *testing.T) {
	l, dial := linked(t)
	c := dial()
	passes(t, c, "before")
	l.Cut()
	if got, err := asks(c, "now", 3); err == nil {
		t.Errorf("a cut connection answers %q", got)
	}
	if got, err := asks(dial(), "now", 3); err == nil {
		t.Errorf("a cut link answers %q", got)
	}
	l.Mend()
	passes(t, dial(), "after")
}

// What is held back either way is there when the harm is over, on a connection
// that stayed open.
func TestHeldLinkIsSilentAndLosesNothing(t *testing.T) {
	for name, way := range map[string]testservers.ProxyDirection{"questions": testservers.Questions, "answers": testservers.Answers, "both": testservers.Both} {
		t.Run(name, func(t *testing.T) {
			l, dial := linked(t)
			c := dial()
			passes(t, c, "before")
			l.Suffer(testservers.ProxyFault{Hold: way})
			if _, err := c.Write([]byte("kept")); err != nil {
				t.Fatal(err)
			}
			silent(t, c)
			l.Mend()
			if got, err := asks(c, "", 4); got != "kept" || err != nil {
				t.Errorf("got %q (%v)", got, err)
			}
			passes(t, c, "after")
		})
	}
}

func TestResetIsTold(t *testing.T) {
	l, dial := linked(t)
	c := dial()
	passes(t, c, "before")
	l.Reset()
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("got %v, want a reset", err)
	}
	passes(t, dial(), "after")
}

func TestConnectionEndsInTheMiddleOfAWord(t *testing.T) {
	l, dial := linked(t)
	l.Suffer(testservers.ProxyFault{After: 5})
	c := dial()
	passes(t, c, "one")
	if got, err := asks(c, "two", 3); got != "tw" || err == nil {
		t.Errorf("got %q (%v), want two bytes more", got, err)
	}
}

func TestNextAnswerIsLostAndNoOther(t *testing.T) {
	l, dial := linked(t)
	c := dial()
	passes(t, c, "before")
	l.LoseAnswer()
	if got, err := asks(c, "lost", 4); got != "" || err == nil {
		t.Errorf("got %q (%v), want nothing", got, err)
	}
	passes(t, dial(), "after")
}

func TestSlowAndDelayedAnswersAreWhole(t *testing.T) {
	l, dial := linked(t)
	l.Suffer(testservers.ProxyFault{Delay: time.Millisecond, Slow: 100})
	c := dial()
	long := string(bytes.Repeat([]byte("0123456789"), 100))
	began := time.Now()
	passes(t, c, long)
	if took := time.Since(began); took < 90*time.Millisecond { // nine rests and more
		t.Errorf("a slow answer took %s", took)
	}
}
