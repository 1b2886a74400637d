package shell_test

import (
	"context"
	"flag"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

var canaryCycles = flag.Int("canary-cycles", 100, "cycles that the test of readers lives through")

// A canary is a word in one line: where it was said, who could read it, and what
// became of it.
type canary struct {
	room    *townRoom
	readers map[string]bool
	gone    bool            // deleted, and every mind has come to rest since
	said    map[string]bool // the minds whose agent said it itself: words of its own
}

// canaries are watched for in all that a model is asked.
type canaries struct {
	mu       sync.Mutex // guards all below
	all      map[string]*canary
	minds    map[string]*townRoom // by the key of the request; nil is home
	leaks    []string
	crossed  map[string]bool
	gone     int // words that were deleted
	asked    int
	composed int // messages by instruction
}

func newCanaries() *canaries {
	return &canaries{all: map[string]*canary{}, minds: map[string]*townRoom{}, crossed: map[string]bool{}}
}

// canaryWords returns the canaries in a text, in order.
func canaryWords(text string) []string {
	const mark, size = "canary", len("canary000000")
	var words []string
	for {
		i := strings.Index(text, mark)
		if i < 0 || len(text) < i+size {
			return words
		}
		if word := text[i : i+size]; strings.Trim(word[len(mark):], "0123456789") == "" {
			words = append(words, word)
		}
		text = text[i+len(mark):]
	}
}

// logged is the inner log as it is stored, which is never changed: what is deleted is
// taken out whenever it is read.
const logged = "kept event"

// watch notes the canaries in a text that a mind sees or has kept.
func (c *canaries) watch(mind, where, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	here, known := c.minds[mind]
	for _, word := range canaryWords(text) {
		k := c.all[word]
		switch {
		case k == nil || !known:
			c.leaks = append(c.leaks, fmt.Sprintf("%s is unknown in a %s of %q", word, where, mind))
			continue
		case here == nil && k.room.circle == "home", k.room == here: // its own
		case here == nil || here.owner == "" || !k.readers[here.owner]:
			c.leaks = append(c.leaks, fmt.Sprintf("%s of %s stands in a %s of %s", word, k.room.id, where, mind))
		default:
			c.crossed[word] = true
		}
		if where != logged && k.gone && !k.said[mind] {
			c.leaks = append(c.leaks, fmt.Sprintf("%s of %s is deleted and stands in a %s of %s", word, k.room.id, where, mind))
		}
	}
}

// printed notes the canaries in a line that the process logs: nobody's words belong there.
func (c *canaries) printed(line string) {
	for _, word := range canaryWords(line) {
		c.mu.Lock()
		c.leaks = append(c.leaks, word+" stands in the log: "+line)
		c.mu.Unlock()
	}
}

var canaryLine = regexp.MustCompile(`topic\d+ canary\d{6}( @Ada| what of topic\d+\?)?`)

// sees returns the n-th whole message with a canary in the text.
func (c *canaries) sees(text string, n int) string {
	words := canaryWords(text)
	if len(words) == 0 {
		return "nothing"
	}
	at := strings.Index(text, words[n%len(words)])
	if line := canaryLine.FindString(text[max(0, at-len("topic00 ")):]); line != "" {
		return line
	}
	return words[n%len(words)]
}

var elsewhere = regexp.MustCompile(`\bx[0-9a-f]{6}\b`)

// Generate plays a model that looks wherever it can and keeps what it sees: it
// searches, reads a room it was shown, remembers, notes and says it.
func (c *canaries) Generate(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	text := whole(r)
	c.watch(r.CacheKey, "frame", text)
	c.mu.Lock()
	c.asked++
	n, here := c.asked, c.minds[r.CacheKey]
	c.mu.Unlock()
	seen := c.sees(text, n)
	if last := r.Messages[len(r.Messages)-1]; last.Text == "Go ahead." {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.composed++
		return telling("fine"), nil // what it was shown is watched; an old word would be read anew elsewhere
	}
	if r.NoCalls {
		return telling("<notes>" + seen + "</notes>"), nil
	}
	look := elsewhere.FindString(text)
	if look == "" {
		look = "s1"
	}
	said := "fine" // who comes later would read an old word anew
	if here != nil && here.owner != "" && n%3 == 0 {
		said = seen
		c.says(r.CacheKey, seen)
	}
	does := [][2]string{
		{"search", fmt.Sprintf(`{"query":"topic%d canary"}`, n%20)},
		{"read_messages", fmt.Sprintf(`{"space":%q,"limit":20}`, look)},
		{"remember", fmt.Sprintf(`{"fact":"%s","kind":"user_fact"}`, seen)},
		{"bookmark", fmt.Sprintf(`{"label":"%s"}`, seen)},
		{"send_message", fmt.Sprintf(`{"space":"s%d","instruction":"Pass on %s."}`, 1+n%9, seen)},
		{"send_message", fmt.Sprintf(`{"text":"so %s it is"}`, said)},
	}
	if k := acts(r); k < len(does) {
		return calling(len(r.Messages), does[k][0], does[k][1]), nil
	}
	return telling("Responded to somebody about " + seen + "."), nil
}

// says notes that the agent says the words itself in the one room of a mind.
func (c *canaries) says(mind, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, word := range canaryWords(text) {
		if c.all[word].said == nil {
			c.all[word].said = map[string]bool{}
		}
		c.all[word].said[mind] = true
	}
}

// SECURITY S5, DESIGN 2 and 5: in a town of 200 people and 60 rooms, where every line
// has a word of its own, no word reaches a frame, a search, a read, a memory, a note, a
// rest line, a run's explanation, a stored frame or a live event of a person who could
// not read it where it was said, none reaches a line of the log, and none is left
// anywhere once it is deleted; and words do reach those who could read them.
func TestNoWordReachesWhoCouldNotReadIt(t *testing.T) {
	heard := newCanaries()
	cycles := 0
	play(t, heard, func(w *world) {
		w.listen = heard.printed
		w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings {
			s := twoPhases()
			s.ContextTokens, s.MaxOutput, s.RecallTokens, s.Phases = 9_000, 500, 800, shell.PhasesOne
			return s
		}
		v := newTown(w, heard, 11)
		w.start()
		for round := 0; cycles < *canaryCycles; round++ {
			v.round()
			if round%10 == 9 {
				v.rest()
			}
			if round%60 == 59 {
				cycles += v.kept()
			}
		}
		for _, r := range v.rooms[:20] { // who does not look is not told
			v.say(r, r.owner, "", fmt.Sprintf(" what of topic%d?", v.rng.IntN(20)))
		}
		v.rest()
		v.keptNothing()
	}, "Ada")
	for _, leak := range heard.leaks[:min(len(heard.leaks), 10)] {
		t.Error(leak)
	}
	if len(heard.leaks) > 10 {
		t.Errorf("and %d more leaks", len(heard.leaks)-10)
	}
	if len(heard.crossed) < *canaryCycles/10 || heard.gone < *canaryCycles/10 || heard.composed < *canaryCycles/50 {
		t.Errorf("only %d words of other circles were shown, %d deleted and %d messages composed: nothing was put to the test",
			len(heard.crossed), heard.gone, heard.composed)
	}
	t.Logf("%d cycles, %d words, %d of them shown across circles, %d deleted, %d calls",
		cycles, len(heard.all), len(heard.crossed), heard.gone, heard.asked)
}
