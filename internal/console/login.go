package console

import (
	"errors"
	"net"
	"net/http"
	"time"
)

// cookieName tells the cookies of several consoles on one machine apart:
// browsers do not, by port.
func cookieName(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		return "trestle"
	}
	return "trestle" + port
}

// begin gives the browser a session that was opened with parent.
func (c *Console) begin(w http.ResponseWriter, r *http.Request, parent string) error {
	m := NewKey(KeySession, "", time.Now())
	m.Parent = parent
	if err := c.Keys.AddKey(r.Context(), m.Key); err != nil {
		return err
	}
	http.SetCookie(w, &http.Cookie{
		Name: cookieName(r), Value: m.Secret, Path: "/", MaxAge: int(SessionTTL.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: c.Access().caller(r).https,
	})
	return nil
}

// showLogin asks for a token.
func (c *Console) showLogin(w http.ResponseWriter, r *http.Request) {
	c.render(w, r, http.StatusOK, "login", &loginPage{})
}

// login opens a session with a token from a form.
func (c *Console) login(w http.ResponseWriter, r *http.Request) {
	from, now := c.Access().caller(r).addr, time.Now()
	r.Body = http.MaxBytesReader(w, r.Body, 4<<10)
	err := errMany
	if !c.limiter.closed(from, now) {
		var parent string
		if parent, err = c.program(r.Context(), r.PostFormValue("token")); err == nil {
			err = c.begin(w, r, parent)
		}
	}
	switch {
	case err == nil:
		http.Redirect(w, r, "/", http.StatusSeeOther)
	case errors.Is(err, errWrong):
		c.limiter.miss(from, now)
		c.render(w, r, http.StatusUnauthorized, "login", &loginPage{Wrong: "This token opens nothing."})
	case errors.Is(err, errMany):
		c.render(w, r, http.StatusTooManyRequests, "login", &loginPage{Wrong: "Too many wrong tokens; try again in a minute."})
	default:
		c.broken(w, r, err)
	}
}

// open opens a session with the one-time link that `trestle open` prints.
func (c *Console) open(w http.ResponseWriter, r *http.Request) {
	from, now := c.Access().caller(r).addr, time.Now()
	if c.limiter.closed(from, now) {
		c.render(w, r, http.StatusTooManyRequests, "login", &loginPage{Wrong: "Too many wrong links; try again in a minute."})
		return
	}
	k, err := c.find(r.Context(), r.URL.Query().Get("k"), KeyLink)
	if err == nil {
		err = c.Keys.UseKey(r.Context(), k.ID, now)
	}
	if err == nil {
		err = c.begin(w, r, "")
	}
	switch {
	case err == nil: // a redirect would come from wherever the link stood, without the cookie
		c.render(w, r, http.StatusOK, "opened", &opened{})
	case errors.Is(err, errWrong), errors.Is(err, ErrSpent):
		c.limiter.miss(from, now)
		c.render(w, r, http.StatusUnauthorized, "login", &loginPage{Wrong: "This link has been used or is older than ten minutes. `trestle open` prints another."})
	default:
		c.broken(w, r, err)
	}
}

// logout ends the browser's session.
func (c *Console) logout(w http.ResponseWriter, r *http.Request) {
	if cookie, err := r.Cookie(cookieName(r)); err == nil {
		k, err := c.find(r.Context(), cookie.Value, KeySession)
		if err == nil {
			err = c.Keys.DropKey(r.Context(), k.ID)
		}
		if err != nil && !errors.Is(err, errWrong) && !errors.Is(err, ErrUnknown) {
			c.broken(w, r, err)
			return
		}
	}
	http.SetCookie(w, &http.Cookie{Name: cookieName(r), Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}
