package safehttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

// A trap is a server on this machine that nothing may ever reach.
type trap struct {
	port     string
	connects atomic.Int64
	tokens   atomic.Int64
}

const planted = "77:AAplanted-token"

// setTrap listens on every address of this machine, v4 and v6.
func setTrap(t *testing.T) *trap {
	t.Helper()
	tr := &trap{}
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", ":0")
	testutil.OK(t, err)
	_, tr.port, err = net.SplitHostPort(ln.Addr().String())
	testutil.OK(t, err)
	s := &httptest.Server{Listener: ln, Config: &http.Server{
		Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if strings.Contains(fmt.Sprint(r.URL, r.Header), planted) {
				tr.tokens.Add(1)
			}
		}),
		ConnState: func(_ net.Conn, s http.ConnState) {
			if s == http.StateNew {
				tr.connects.Add(1)
			}
		},
	}}
	s.Start()
	t.Cleanup(s.Close)
	tr.works(t)
	return tr
}

// works proves that a client without the guard is caught, and arms the trap anew.
func (tr *trap) works(t *testing.T) {
	t.Helper()
	at := "http://127.0.0.1:" + tr.port
	f, err := client(t, Options{Own: []string{at}, Authorize: addToken}).Get(t.Context(), at, 0)
	testutil.OK(t, err)
	_ = f.Close()
	if tr.connects.Swap(0) != 1 || tr.tokens.Swap(0) != 1 {
		t.Fatal("the trap does not catch what it is for")
	}
}

// addToken is how the tests authorise: in the path and in a header.
func addToken(r *http.Request) {
	r.Header.Set("Authorization", "Bearer "+planted)
	r.URL.Path = "/bot" + planted + r.URL.Path
}

// innerHosts are addresses of this machine and of the networks around it, in
// every spelling that some resolver or library takes for one.
func innerHosts() []string {
	hosts := []string{
		// this machine
		"127.0.0.1", "127.0.0.2", "127.1", "127.0.1", "127.255.255.254", "0", "0.0.0.0", "0.1", "00.00.00.00", "0x0", "00",
		"2130706433", "2130706434", "017700000001", "0x7f000001", "0x7F.0.0.1", "0x7f.1", "0177.0.0.1", "0177.1", "0177.0.01",
		"127.0.0.1.", "127.0.0.01", "127.000.000.001", "0x7f.0x0.0x0.0x1", "00000177.0.0.1", "4294967296", "18446744073709551617",
		"localhost", "LOCALHOST", "localhost.", "localhost.localdomain", "foo.localhost", "a.b.localhost.", "ip6-localhost", "ip6-loopback",
		"[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[0000::0001]", "[::1%25lo]", "[::1%25eth0]", "[::127.0.0.1]", "[::7f00:1]",
		"[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]", "[::ffff:0.0.0.0]", "[::ffff:0:127.0.0.1]",
		// the same inside the addresses of translators
		"[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[2002:7f00:0001::1]",
		"[2002:a9fe:a9fe::]", "[2002:c0a8:101::]", "[2001:0:7f00:1::]", "[2001:0000:4136:e378:8000:63bf:3fff:fdd2]", "[2001:10::1]", "[2001:20::1]",
		// other parts of IPv6
		"[fc00::1]", "[fd00::1]", "[fd12:3456:789a::1]", "[fd00:ec2::254]", "[fe80::1]", "[fe80::1%25eth0]", "[febf::1]", "[fec0::1]", "[feff::1]",
		"[ff02::1]", "[ff05::1:3]", "[100::1]", "[2001:db8::1]", "[3fff::1]", "[5f00::1]", "[::ffff:169.254.169.254]", "[::ffff:10.0.0.1]",
		"[1::1]", "[4000::1]", "[8000::1]", "[e000::1]", "[2620:4f:8000::1]",
		// metadata services
		"169.254.169.254", "169.254.170.2", "2852039166", "0xa9fea9fe", "025177524776", "0251.0376.0251.0376", "0xa9.0xfe.0xa9.0xfe", "169.254.43518",
		"metadata.google.internal", "METADATA.GOOGLE.INTERNAL.", "metadata", "instance-data", "instance-data.ec2.internal", "metadata.azure.internal",
		"100.100.100.200", "192.0.0.192", "kubernetes.default.svc.cluster.local", "kubernetes", "consul.service.lan", "router.home", "printer.corp",
		"host.docker.internal", "gateway.docker.internal", "db.intranet", "1.0.0.127.in-addr.arpa", "a.test", "a.invalid", "hidden.onion",
		// shapes that are no public host at all
		"a", "-", "_", "a..b.com", ".com", "com.", "..", "a b.com", "a%2eb.com", "%31%32%37.0.0.1", "①②⑦.⓪.⓪.①", "127。0。0。1", "１２７.0.0.1",
		"example.com\\@127.0.0.1", "1.1.1.1.1", "256.256.256.256", "1.2.3", "1.2.3.4.5.6", "0x1.example.0x7f", "example.127", strings.Repeat("a", 64) + ".com",
	}
	for _, block := range []string{"10.%d.0.1", "172.%d.0.1", "192.168.%d.1", "100.%d.0.1", "198.18.%d.1", "169.254.%d.1", "0.%d.0.1", "127.%d.0.1", "224.%d.0.1", "240.%d.0.1", "255.%d.255.255", "198.51.100.%d", "203.0.113.%d", "192.0.2.%d", "192.0.0.%d", "192.88.99.%d"} {
		for _, n := range []int{64, 100, 127, 0, 16, 31, 255} {
			if strings.HasPrefix(block, "172.") && (n < 16 || n > 31) || strings.HasPrefix(block, "100.") && (n < 64 || n > 127) {
				continue
			}
			hosts = append(hosts, fmt.Sprintf(block, n))
		}
	}
	return hosts
}

// trickAddresses hide where they lead in the rest of the address.
func trickAddresses(port string) []string {
	return []string{
		"http://example.com@127.0.0.1:" + port + "/", "http://example.com:80@127.0.0.1:" + port + "/", "http://user:pass@example.com/", "http://@127.0.0.1:" + port + "/",
		"http://example.com%40127.0.0.1:" + port + "/", "http://127.0.0.1:" + port + "#@example.com/", "http://127.0.0.1:" + port + "?@example.com/", "http://example.com:" + port + "@localhost/",
		"http:///127.0.0.1:" + port + "/", "http:127.0.0.1:" + port, "http:/127.0.0.1:" + port, "//127.0.0.1:" + port + "/", "/etc/passwd", "", "?", "#", "127.0.0.1:" + port, "localhost:" + port,
		"file:///etc/passwd", "file://localhost/etc/passwd", "ftp://example.com/", "gopher://127.0.0.1:" + port + "/_x", "dict://127.0.0.1:" + port + "/", "ldap://127.0.0.1:" + port, "tftp://127.0.0.1/",
		"data:text/plain,hello", "javascript:alert(1)", "unix:///var/run/docker.sock", "http+unix://%2Fvar%2Frun%2Fdocker.sock/info", "jar:http://127.0.0.1:" + port + "!/", "ws://127.0.0.1:" + port + "/", "blob:http://127.0.0.1/",
		"http://example.com:22/", "http://example.com:6379/", "https://example.com:8443/", "http://example.com:0/", "http://example.com:65536/", "http://example.com:-1/", "http://example.com:80a/", "https://example.com:25/",
		"http://127.0.0.1:" + port + "\r\nHost: example.com/", "http://exa\tmple.com/", "http://example.com\x00.evil.com/", "http://[::1/", "http://::1]/", "http://[::1]]/", "http://[127.0.0.1]:" + port + "/", "http://127.0.0.1:" + port + "\\@example.com/",
	}
}

// Decimal, octal and hexadecimal addresses, mapped and translated ones, metadata
// names, users and other protocols: none reaches the trap.
func TestNoAddressLeadsInside(t *testing.T) {
	tr := setTrap(t)
	c := client(t, Options{Ports: []string{"80", "443", tr.port}, Authorize: addToken, TokenHosts: []string{"files.example.com"}})
	addresses := trickAddresses(tr.port)
	for _, h := range innerHosts() {
		addresses = append(addresses, "http://"+h+":"+tr.port+"/latest/meta-data/", "https://"+h+"/")
	}
	for _, a := range addresses {
		if f, err := c.Get(t.Context(), a, 0); !errors.Is(err, ErrForbidden) {
			t.Errorf("%q: got %v, want ErrForbidden", a, err)
			if err == nil {
				_ = f.Close()
			}
		}
	}
	tr.untouched(t, len(addresses))
}

// A name may resolve to any address, and to another one when it is dialled.
func TestNoNameLeadsInside(t *testing.T) {
	tr := setTrap(t)
	names := &nameServer{answer: func(n int) net.IP {
		inside := []string{"127.0.0.1", "0.0.0.0", "10.0.0.1", "169.254.169.254", "192.168.1.1", "100.64.0.1", "172.17.0.1", "255.255.255.255"}
		return net.ParseIP(inside[n%len(inside)]).To4()
	}}
	c := client(t, Options{Ports: []string{"80", "443", tr.port}, Resolver: names.resolver(), Authorize: addToken, TokenHosts: []string{".example.com"}})
	const tried = 64
	for i := range tried {
		_, err := c.Get(t.Context(), fmt.Sprintf("http://n%d.example.com:%s/", i, tr.port), 0)
		if !errors.Is(err, ErrForbidden) {
			t.Errorf("name %d: got %v, want ErrForbidden", i, err)
		}
	}
	if names.asked.Load() < tried {
		t.Errorf("the resolver was asked %d times, want %d: the test tests nothing", names.asked.Load(), tried)
	}
	tr.untouched(t, tried)
}

// DNS rebinding: the address that is dialled is the one that is checked.
func TestRebindingNameIsCheckedAtEachDial(t *testing.T) {
	tr := setTrap(t)
	names := &nameServer{answer: func(n int) net.IP {
		if n%2 == 0 {
			return net.IPv4(192, 0, 2, 1).To4() // reserved for documentation: refused as well, and never dialled
		}
		return net.IPv4(127, 0, 0, 1).To4()
	}}
	c := client(t, Options{Ports: []string{tr.port}, Resolver: names.resolver()})
	const tried = 40
	for range tried {
		if _, err := c.Get(t.Context(), "http://flips.example.com:"+tr.port+"/", 0); !errors.Is(err, ErrForbidden) {
			t.Errorf("got %v, want ErrForbidden", err)
		}
	}
	tr.untouched(t, tried)
}

// A redirect of a configured server is checked like a first address and carries no
// credential.
func TestRedirectsAreCheckedEachAndCarryNoCredential(t *testing.T) {
	tr := setTrap(t)
	targets := trickAddresses(tr.port)
	for _, h := range innerHosts() {
		targets = append(targets, "http://"+h+":"+tr.port+"/")
	}
	var at string
	own := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" {
			t.Error("our own server was not given the credential")
		}
		w.Header().Set("Location", at)
		w.WriteHeader(http.StatusFound)
	}))
	t.Cleanup(own.Close)
	c := client(t, Options{Own: []string{own.URL}, Ports: []string{"80", "443", tr.port}, Authorize: addToken})
	tried := 0
	for _, at = range targets {
		if strings.ContainsAny(at, "\r\n\x00") || at == "" || strings.HasPrefix(at, "/") && !strings.HasPrefix(at, "//") || !strings.Contains(at, ":") {
			continue // no header can say it, or it means our own server
		}
		tried++
		if _, err := c.Get(t.Context(), own.URL+"/file", 0); !errors.Is(err, ErrForbidden) {
			t.Errorf("sent on to %q: got %v, want ErrForbidden", at, err)
		}
	}
	tr.untouched(t, tried)
}

// untouched fails when anything reached the trap.
func (tr *trap) untouched(t *testing.T, tried int) {
	t.Helper()
	if n := tr.connects.Load(); n != 0 {
		t.Errorf("%d connections reached the trap", n)
	}
	t.Logf("S10: %d vectors, %d connections to the trap, %d tokens there", tried, tr.connects.Load(), tr.tokens.Load())
}

func client(t *testing.T, o Options) *Client {
	t.Helper()
	c, err := New(o)
	testutil.OK(t, err)
	return c
}

// nameServer is a resolver on a pipe. It answers every question of type A with
// what answer says for the n-th, and has nothing else.
type nameServer struct {
	answer func(n int) net.IP
	asked  atomic.Int64
	wg     sync.WaitGroup
}

func (s *nameServer) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		s.wg.Go(func() { s.serve(far) })
		return near, nil
	}}
}

// serve speaks DNS as over TCP: a length of two bytes before each message.
func (s *nameServer) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	for {
		var size [2]byte
		if _, err := io.ReadFull(conn, size[:]); err != nil {
			return
		}
		question := make([]byte, int(size[0])<<8|int(size[1]))
		if _, err := io.ReadFull(conn, question); err != nil {
			return
		}
		reply := s.reply(question)
		if _, err := conn.Write(append([]byte{byte(len(reply) >> 8), byte(len(reply))}, reply...)); err != nil {
			return
		}
	}
}

// reply copies the question and, for type A, adds one answer that lives for no time.
func (s *nameServer) reply(q []byte) []byte {
	end := 12
	for q[end] != 0 {
		end += int(q[end]) + 1
	}
	kind := q[end+2]
	end += 5
	reply := append([]byte{q[0], q[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, q[12:end]...)
	if kind != 1 {
		return reply
	}
	reply[7] = 1
	ip := s.answer(int(s.asked.Add(1) - 1))
	return append(append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4), ip...)
}

// A platform's credential is sent to its hosts over TLS, and to no other host.
func TestCredentialGoesToItsHostsAlone(t *testing.T) {
	hosts := []string{
		"http://api.telegram.org/", "https://api.telegram.org.evil.com/", "https://evil.com/api.telegram.org", "https://evil.com/?api.telegram.org", "https://evil.com/#api.telegram.org",
		"https://apixtelegram.org/", "https://api-telegram.org/", "https://telegram.org.evil.com/", "https://xapi.telegram.org/", "https://telegram.org/", "https://sub.api.telegram.org/", "https://api.telegram.orgevil.com/",
		"https://files.slack.com.evil.com/", "https://evilslack.com/", "https://slack.com.evil.com/", "https://example.com/", "https://t.me/", "https://api.telegram.org.evil.com:443/", "https://API.TELEGRAM.ORG.evil.com/", "https://evil.com/..;/api.telegram.org/",
	}
	var elsewhere atomic.Int64
	seen := roundTripper(func(r *http.Request) (*http.Response, error) {
		if strings.Contains(fmt.Sprint(r.URL, r.Header), url.PathEscape(planted)) || strings.Contains(fmt.Sprint(r.URL, r.Header), planted) {
			elsewhere.Add(1)
		}
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody}, nil
	})
	c := client(t, Options{Authorize: addToken, TokenHosts: []string{"api.telegram.org"}})
	c.guarded = seen
	for _, h := range hosts {
		f, err := c.Get(t.Context(), h, 0)
		if err != nil {
			t.Errorf("%s: %v", h, err)
			continue
		}
		_ = f.Close()
	}
	if n := elsewhere.Load(); n != 0 {
		t.Errorf("the token went to %d other hosts", n)
	}
	for _, h := range []string{"https://api.telegram.org/file", "https://API.Telegram.org./file"} {
		if f, err := c.Get(t.Context(), h, 0); err == nil {
			_ = f.Close()
		}
	}
	if n := elsewhere.Load(); n != 2 {
		t.Errorf("its own host got the token %d times, want 2", n)
	}
	t.Logf("S10: %d foreign hosts, 0 tokens there", len(hosts))
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
