package webpage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/safehttp"
)

// errRobots is returned for a page that its server does not let programs fetch.
var errRobots = errors.New("robots.txt does not allow it")

// Bounds of robots.txt: RFC 9309, section 2.5, asks for at least 500 KB, and section
// 2.4 for at most a day.
const (
	maxRobotsBytes = 512 << 10
	maxRobotsRules = 10_000
	keepRobots     = time.Hour
	keepRobotsSize = 4 << 20
)

// robotsRules asks servers which pages programs may fetch (RFC 9309).
type robotsRules struct {
	http  *safehttp.Client
	agent string // product token, in lower case
	kept  *boundedCache[[]robotsRule]
}

func newRobotsRules(o FetchOptions) (*robotsRules, error) {
	client, err := safehttp.New(safehttp.Options{
		Own: o.Own, Limit: maxRobotsBytes, Timeout: min(o.Timeout, 10*time.Second), Redirects: maxRedirects, UserAgent: o.UserAgent,
	})
	agent, _, _ := strings.Cut(o.UserAgent, " ")
	agent, _, _ = strings.Cut(agent, "/")
	return &robotsRules{client, strings.ToLower(agent), newBoundedCache[[]robotsRule](keepRobotsSize, keepRobots, o.Now)}, err
}

// permit fails with errRobots for a URL that its server does not let us fetch, and
// with the error of a server that cannot be asked.
func (r *robotsRules) permit(ctx context.Context, u *url.URL) error {
	if u.Path == "/robots.txt" {
		return nil
	}
	origin := u.Scheme + "://" + u.Host
	rules, ok := r.kept.get(origin)
	if !ok {
		var err error
		if rules, err = r.fetch(ctx, origin); err != nil {
			return err
		}
		size := 0
		for _, rule := range rules {
			size += len(rule.pattern) + 32
		}
		r.kept.put(origin, rules, size)
	}
	path := cmp.Or(u.EscapedPath(), "/")
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	if !allowedBy(rules, path) {
		return fmt.Errorf("%s: %w", u.Hostname(), errRobots)
	}
	return nil
}

// fetch returns the rules for us. A server without the file allows everything, one
// that cannot say allows nothing.
func (r *robotsRules) fetch(ctx context.Context, origin string) ([]robotsRule, error) {
	f, err := r.http.Get(ctx, origin+"/robots.txt", 0)
	status, _ := errors.AsType[safehttp.StatusError](err)
	switch {
	case status.Code >= 400 && status.Code < 500:
		return nil, nil
	case status.Code != 0:
		return []robotsRule{{pattern: "/"}}, nil
	case err != nil:
		return nil, err
	}
	defer f.Close() //nolint:errcheck // what was read is whole
	text, err := io.ReadAll(f)
	if err != nil && !errors.Is(err, safehttp.ErrTooLarge) {
		return nil, err
	}
	return parseRobots(string(text), r.agent), nil
}

// A robotsRule allows or forbids the paths that a pattern matches.
type robotsRule struct {
	pattern string // * stands for any characters, $ at its end for the end of the path
	allow   bool
}

// parseRobots returns the rules of the groups for an agent, or of those for all
// agents when it has none of its own. Lines that are not understood are passed over.
func parseRobots(text, agent string) []robotsRule {
	var own, all []robotsRule
	forOwn, forAll, hasOwn, inRules := false, false, false, true
	for line := range strings.Lines(strings.ReplaceAll(text, "\r", "\n")) {
		line, _, _ = strings.Cut(line, "#")
		key, value, _ := strings.Cut(line, ":")
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)
		switch key {
		case "user-agent":
			if inRules { // a new group begins
				forOwn, forAll, inRules = false, false, false
			}
			name, _, _ := strings.Cut(strings.ToLower(value), "/")
			forOwn = forOwn || strings.TrimSpace(name) == agent
			forAll = forAll || name == "*"
			hasOwn = hasOwn || forOwn
		case "allow", "disallow":
			inRules = true
			rule := robotsRule{normalPath(value), key == "allow"}
			if value == "" || len(own)+len(all) >= maxRobotsRules {
				continue
			}
			if forOwn {
				own = append(own, rule)
			}
			if forAll {
				all = append(all, rule)
			}
		}
	}
	if hasOwn {
		return own
	}
	return all
}

// normalPath returns a path whose octets beyond ASCII are escaped, as those of a URL
// are (RFC 9309, section 2.2.2).
func normalPath(path string) string {
	var b strings.Builder
	for i := range len(path) {
		if c := path[i]; c >= 0x80 || c == ' ' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// allowedBy reports whether the rules allow a path: the longest pattern decides, and
// an allowing one among those of the same length.
func allowedBy(rules []robotsRule, path string) bool {
	longest, allowed := -1, true
	for _, r := range rules {
		n := len(r.pattern)
		if n < longest || n == longest && !r.allow || !matchPath(r.pattern, path) {
			continue
		}
		longest, allowed = n, r.allow
	}
	return allowed
}

// matchPath reports whether a path begins with what a pattern says.
func matchPath(pattern, path string) bool {
	pattern, toEnd := strings.CutSuffix(pattern, "$")
	parts := strings.Split(pattern, "*")
	rest, ok := strings.CutPrefix(path, parts[0])
	if !ok {
		return false
	}
	for i, part := range parts[1:] {
		if last := i == len(parts)-2; last && toEnd {
			return strings.HasSuffix(rest, part)
		}
		at := strings.Index(rest, part)
		if at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return !toEnd || rest == ""
}
