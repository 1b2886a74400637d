package failpoint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Variable is the environment variable that holds the plan.
const Variable = "TRESTLE_FAULTS"

// An Action is what happens at a planned hit.
type Action string

// The actions.
const (
	Kill   Action = "kill"            // the process ends by SIGKILL: no deferred call runs
	Panic  Action = "panic"           // the goroutine panics
	Fail   Action = "error"           // an error is returned before the guarded operation
	Undone Action = "exec_then_error" // the guarded operation runs, then an error is returned; see [Guard]
	Delay  Action = "delay"           // the goroutine waits, then goes on
	Hang   Action = "hang"            // the goroutine never goes on
)

var actions = []Action{Kill, Panic, Fail, Undone, Delay, Hang}

// A Rule is one planned fault. Its text is "point#hit=action", for example
// "ingest.before_commit#3=kill", "send.accepted#*=delay:50ms".
type Rule struct {
	Point  string
	Hit    int // counts from 1; 0 is every hit, written *
	Action Action
	For    time.Duration // with Delay only
}

// String returns the rule as [Parse] reads it.
func (r Rule) String() string {
	hit := "*"
	if r.Hit > 0 {
		hit = strconv.Itoa(r.Hit)
	}
	s := r.Point + "#" + hit + "=" + string(r.Action)
	if r.Action == Delay {
		s += ":" + r.For.String()
	}
	return s
}

// A Plan is the faults of one run. Its text is the rules joined by semicolons.
// Where several rules meet one hit, the first counts.
type Plan []Rule

// String returns the plan as [Parse] reads it.
func (p Plan) String() string {
	rules := make([]string, len(p))
	for i, r := range p {
		rules[i] = r.String()
	}
	return strings.Join(rules, ";")
}

// Parse reads a plan. Empty rules are passed over; an unknown point or action,
// a hit below 1 or a delay without a length is an error. A point without "#"
// means its first hit.
func Parse(text string) (Plan, error) {
	var plan Plan
	for part := range strings.SplitSeq(text, ";") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		r, err := parseRule(part)
		if err != nil {
			return nil, fmt.Errorf("rule %q: %w", part, err)
		}
		plan = append(plan, r)
	}
	return plan, nil
}

func parseRule(text string) (Rule, error) {
	place, action, ok := strings.Cut(text, "=")
	if !ok {
		return Rule{}, fmt.Errorf("want point#hit=action")
	}
	r := Rule{Hit: 1}
	name, hit, counted := strings.Cut(place, "#")
	r.Point = name
	if !registered(name) {
		return Rule{}, fmt.Errorf("unknown point %q", name)
	}
	if counted && hit == "*" {
		r.Hit = 0
	} else if counted {
		n, err := strconv.Atoi(hit)
		if err != nil || n < 1 {
			return Rule{}, fmt.Errorf("hit %q is not a number from 1, nor *", hit)
		}
		r.Hit = n
	}
	word, length, timed := strings.Cut(action, ":")
	r.Action = Action(word)
	if !slices.Contains(actions, r.Action) {
		return Rule{}, fmt.Errorf("unknown action %q", word)
	}
	if timed != (r.Action == Delay) {
		return Rule{}, fmt.Errorf("a delay, and only a delay, has a length: delay:50ms")
	}
	if timed {
		d, err := time.ParseDuration(length)
		if err != nil || d <= 0 {
			return Rule{}, fmt.Errorf("length %q is not a positive duration", length)
		}
		r.For = d
	}
	return r, nil
}
