package webpage

import (
	"errors"
	"fmt"
	"net/http"
)

// Problems of a page, found with errors.Is in the error of [PageClient.Fetch].
var (
	ErrAddress     = errors.New("the address is not one of a web page; it must begin with http:// or https://")
	ErrPrivate     = errors.New("it is not on the public internet, where alone pages are fetched")
	ErrRobots      = errors.New("it asks programs not to fetch this page (robots.txt); a person can open it in a browser")
	ErrUnreachable = errors.New("it cannot be reached")
	ErrSlow        = errors.New("it did not answer in time")
	ErrStatus      = errors.New("it does not give the page")
	ErrTooLarge    = errors.New("the page is too large")
	ErrNotText     = errors.New("what is there cannot be read as text")
	ErrNoText      = errors.New("the page has no text without a browser that runs its scripts")
)

// PageError is the reason why a page cannot be read.
type PageError struct {
	Host    string // that was asked; may be empty
	Problem error  // one of the problems above
	Status  int    // HTTP status that the server answered, 0 for none or for success
	Detail  string // what is wrong with a document; may be empty
	cause   error  // for a log
}

// Error returns a sentence for people. Of the address it names only the host.
func (e *PageError) Error() string {
	words := e.Problem.Error()
	if e.Detail != "" {
		words += ": " + e.Detail
	}
	switch {
	case e.Status == http.StatusNotFound, e.Status == http.StatusGone:
		words = "there is no such page"
	case e.Status == http.StatusUnauthorized, e.Status == http.StatusForbidden:
		words = "it gives the page only to people who are signed in, or to no program"
	case e.Status == http.StatusTooManyRequests:
		words = "it was asked too often; try again later"
	case e.Status >= 500:
		words = "it has a fault of its own; try again later"
	}
	if e.Status != 0 {
		words += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if e.Host == "" {
		return words
	}
	return e.Host + ": " + words
}

// Unwrap returns the problem and the cause.
func (e *PageError) Unwrap() []error { return []error{e.Problem, e.cause} }
