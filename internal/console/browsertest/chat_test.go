package browsertest

import (
	"slices"
	"testing"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/consoletest"
)

// until waits in the page until a script's expression is true, and returns it.
const until = `const done = arguments[arguments.length - 1], test = new Function("return " + arguments[0]);
const wait = () => { const v = test(); v ? done(String(v)) : setTimeout(wait, 10); }; wait();`

// In a room that is open in a browser, what a person writes is said by Enter and shown without
// loading the page anew, an answer is shown while it is written, and a file goes along.
func TestAnOperatorTalksInABrowser(t *testing.T) {
	b := newBrowser(t)
	s := newStand(t, b)
	s.Live("hello")
	b.visit(s.server.URL + "/chat/" + consoletest.ChatRoom)
	await := func(expression string) (got string) {
		t.Helper()
		b.await(until, &got, expression)
		return got
	}
	b.run(`window.same = true; const say = document.querySelector("#say"); say.value = "Is **this** on?\nAnd <b>that</b>";
say.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", shiftKey: true, bubbles: true, cancelable: true}));
say.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", bubbles: true, cancelable: true}));`, nil)
	if got := await(`document.querySelector(".mine .words")?.innerText`); got != "Is this on?\nAnd <b>that</b>" {
		t.Errorf("the line is shown as %q", got)
	}
	if got := await(`document.querySelector(".mine strong")?.textContent + " " + window.same + " [" + document.querySelector("#say").value + "]"`); got != "this true []" {
		t.Errorf("the emphasis, the page and the field are %s", got)
	}
	s.Signs <- console.ChatSign{Kind: console.ChatTyping, Who: "Ada"}
	await(`document.querySelector("[data-busy]").innerText.includes("Ada is writing")`)
	s.Signs <- console.ChatSign{Kind: console.ChatDraft, Who: "Ada", Key: "k", Text: "Yes, <i>it</i>", Buttons: []console.ChatButton{{Label: "Stop", Value: "stop run"}}}
	await(`document.querySelector(".so-far")?.textContent === "Yes, <i>it</i>"`)
	b.run(`document.querySelector("[data-busy] button").click()`, nil)
	await(`document.querySelector("[data-busy] button").disabled`)
	b.run(`const files = new DataTransfer(); files.items.add(new File(["the plan"], "plan.txt", {type: "text/plain"}));
document.querySelector("[data-composer] [type=file]").files = files.files;
document.querySelector("[data-composer] .tools button").click();`, nil)
	await(`document.querySelector(".mine a[download]")?.innerText.includes("plan.txt")`)
	asked := s.Program.Asked()
	for _, want := range []string{"uploaded plan.txt the plan", "pressed  stop run"} {
		if !slices.Contains(asked, want) {
			t.Errorf("asked of the program: %q, want %q among it", asked, want)
		}
	}
}
