package web

import (
	"net/http"

	"github.com/trestle-bridge/trestle/internal/console"
)

// controlPages are the pages on which an operator lets people in and shuts them out, stops and
// mutes agents, and quietens problems.
type controlPages struct{ deskPages }

type peoplePage struct {
	pageLayout
	console.AdmissionLists
}

func (site controlPages) pagePeople(r *http.Request) (view, error) {
	all, err := site.People.Admissions(r.Context())
	return &peoplePage{pageLayout{Title: "People", Terminal: "trestle pair"}, all}, err
}

// pageAdmit lets in a person by their code or a whole chat, and shows who is let in.
func (site controlPages) pageAdmit(w http.ResponseWriter, r *http.Request) {
	_, err := site.People.Admit(r.Context(), console.PairRequest{
		Code: r.PostFormValue("code"), Chat: r.PostFormValue("chat"), Circle: r.PostFormValue("circle"), Role: r.PostFormValue("role"),
	})
	site.goOn(w, r, "/people", err)
}

// pageShutOut takes access from a person or a chat, or voids the code of one who waits.
func (site controlPages) pageShutOut(w http.ResponseWriter, r *http.Request) {
	_, err := site.People.ShutOut(r.Context(), console.RevokeRequest{Account: r.PostFormValue("account"), ID: r.PostFormValue("id")})
	site.goOn(w, r, "/people", err)
}

// pageSteer stops, mutes or unmutes an agent, and shows the space.
func (site controlPages) pageSteer(w http.ResponseWriter, r *http.Request) {
	_, err := site.api.Control.Steer(r)
	site.goOn(w, r, "/spaces/"+r.PathValue("id"), err)
}

// pageChangeSend has a message be sent again or drops it, and shows the run.
func (site controlPages) pageChangeSend(w http.ResponseWriter, r *http.Request) {
	_, err := site.api.Runs.ChangeDelivery(r)
	site.goOn(w, r, "/runs/"+r.PathValue("id")+"#receipts", err)
}

// pageQuiet has a problem not be told again for a while.
func (site controlPages) pageQuiet(w http.ResponseWriter, r *http.Request) {
	_, err := site.api.Control.QuietProblem(r)
	site.goOn(w, r, "/problems", err)
}
