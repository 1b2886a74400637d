package telegram

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/trestle-bridge/trestle/adapters/markup"
)

// reach returns what Telegram can do with address. Its parser takes http, https
// and tg, the first two only with a host that has a dot or is an IP address; it
// makes a false link of mailto and drops tel. tg://user would call anybody, so
// only [adapters.Post.Mentions] may make one.
func reach(address string) (string, markup.LinkPolicy) {
	u, err := url.Parse(address)
	if err != nil {
		return "", markup.Hidden
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		if !reachable(u) {
			return address, markup.Shown
		}
		return address, markup.Linked
	case "tg":
		if strings.EqualFold(u.Host, "user") || strings.EqualFold(u.Opaque, "user") {
			return "", markup.Hidden
		}
		return address, markup.Linked
	case "mailto", "tel":
		bare, _, _ := strings.Cut(u.Opaque, "?")
		return bare, markup.Shown
	default:
		return "", markup.Hidden
	}
}

// reachable reports whether Telegram takes u's host and port, and whether the
// host is what it seems: a user's name before it makes it look like another.
func reachable(u *url.URL) bool {
	if u.User != nil {
		return false
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return false
		}
	}
	_, err := netip.ParseAddr(u.Hostname())
	return err == nil || strings.Contains(strings.Trim(u.Hostname(), "."), ".")
}
