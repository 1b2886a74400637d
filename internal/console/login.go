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

// startSession gives the browser a session that was opened with parent.
func (c *Console) startSession(w http.ResponseWriter, r *http.Request, parent string) error {
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
	c.pages.ShowLogin(w, r, http.StatusOK, "")
}

// login opens a session with a token from a form.
func (c *Console) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 4<<10)
	parent, _, err := c.checkToken(r.Context(), r.PostFormValue("token"))
	if err == nil {
		err = c.startSession(w, r, parent)
	}
	switch err = c.judgeMiss(r, err); {
	case err == nil:
		http.Redirect(w, r, "/", http.StatusSeeOther)
	case errors.Is(err, errWrong):
		c.pages.ShowLogin(w, r, http.StatusUnauthorized, "This token opens nothing.")
	case errors.Is(err, errMany):
		c.pages.ShowLogin(w, r, http.StatusTooManyRequests, "Too many wrong tokens; try again in a minute.")
	default:
		c.respond.FailInternal(w, r, err)
	}
}

// openLink opens a session with the one-time link that `trestle open` prints.
func (c *Console) openLink(w http.ResponseWriter, r *http.Request) {
	now := time.Now()
	k, err := c.findKey(r.Context(), r.URL.Query().Get("k"), KeyLink)
	if err == nil {
		err = c.Keys.UseKey(r.Context(), k.ID, now)
	}
	if err == nil {
		err = c.startSession(w, r, "")
	}
	switch err = c.judgeMiss(r, err); {
	case errors.Is(err, errMany):
		c.pages.ShowLogin(w, r, http.StatusTooManyRequests, "Too many wrong links; try again in a minute.")
	case err == nil: // a redirect would come from wherever the link stood, without the cookie
		c.pages.ShowOpened(w, r)
	case errors.Is(err, errWrong), errors.Is(err, ErrSpent):
		c.pages.ShowLogin(w, r, http.StatusUnauthorized, "This link has been used or is older than ten minutes. `trestle open` prints another.")
	default:
		c.respond.FailInternal(w, r, err)
	}
}

// logout ends the browser's session.
func (c *Console) logout(w http.ResponseWriter, r *http.Request) {
	if cookie, err := r.Cookie(cookieName(r)); err == nil {
		k, err := c.findKey(r.Context(), cookie.Value, KeySession)
		if err == nil {
			err = c.Keys.DropKey(r.Context(), k.ID)
		}
		if err != nil && !errors.Is(err, errWrong) && !errors.Is(err, ErrUnknown) {
			c.respond.FailInternal(w, r, err)
			return
		}
	}
	http.SetCookie(w, &http.Cookie{Name: cookieName(r), Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}
