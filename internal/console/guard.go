package console

import (
	"net/http"
	"net/url"
)

// policy is what a page may load: nothing that is not ours (SECURITY S8).
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// harden sets the headers every answer has.
func harden(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// guard lets only those requests through to next that may be asked for a
// credential at all.
func (c *Console) guard(next http.Handler) http.Handler {
	unsafe := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		harden(w.Header())
		access := c.Access()
		switch {
		case !access.names(r):
			c.fail(w, r, http.StatusMisdirectedRequest, "this host name is not served here; list it under hosts in the configuration")
		case access.admits(access.caller(r)) != "":
			c.fail(w, r, http.StatusForbidden, access.admits(access.caller(r)))
		case foreign(r) || unsafe.Check(r) != nil:
			c.fail(w, r, http.StatusForbidden, "requests from pages of other sites are not served")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// foreign reports whether a page of another origin makes the request. Following
// a link to us is no such request: the cookie stays behind then, and the
// answer can not be read.
func foreign(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
	default:
		link := r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
		if !link {
			return true
		}
	}
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return false
	}
	u, err := url.Parse(origins[0])
	return err != nil || len(origins) > 1 || u.Host == "" || u.Host != r.Host || (u.Scheme != "http" && u.Scheme != "https")
}
