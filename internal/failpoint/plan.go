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

// A FaultAction is what happens at a planned hit.
type FaultAction string

// The actions.
const (
	Kill   FaultAction = "kill"            // the process ends by SIGKILL: no deferred call runs
	Panic  FaultAction = "panic"           // the goroutine panics
	Fail   FaultAction = "error"           // an error is returned before the guarded operation
	Undone FaultAction = "exec_then_error" // the guarded operation runs, then an error is returned; see [Guard]
	Delay  FaultAction = "delay"           // the goroutine waits, then goes on
	Hang   FaultAction = "hang"            // the goroutine never goes on
)

var actions = []FaultAction{Kill, Panic, Fail, Undone, Delay, Hang}

// A FaultRule is one planned fault. Its text is "point#hit=action", for example
// "ingest.before_commit#3=kill", "send.accepted#*=delay:50ms".
type FaultRule struct {
	Point  string
	Hit    int // counts from 1; 0 is every hit, written *
	Action FaultAction
	For    time.Duration // with Delay only
}

// String returns the rule as [Parse] reads it.
func (r FaultRule) String() string {
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

// A FaultPlan is the faults of one run. Its text is the rules joined by semicolons.
// Where several rules meet one hit, the first counts.
type FaultPlan []FaultRule

// String returns the plan as [Parse] reads it.
func (p FaultPlan) String() string {
	rules := make([]string, len(p))
	for i, r := range p {
		rules[i] = r.String()
	}
	return strings.Join(rules, ";")
}

// Parse reads a plan. Empty rules are passed over; an unknown point or action,
// a hit below 1 or a delay without a length is an error. A point without "#"
// means its first hit.
func Parse(text string) (FaultPlan, error) {
	var plan FaultPlan
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

func parseRule(text string) (FaultRule, error) {
	place, action, ok := strings.Cut(text, "=")
	if !ok {
		return FaultRule{}, fmt.Errorf("want point#hit=action")
	}
	r := FaultRule{Hit: 1}
	name, hit, counted := strings.Cut(place, "#")
	r.Point = name
	if !registered(name) {
		return FaultRule{}, fmt.Errorf("unknown point %q", name)
	}
	if counted && hit == "*" {
		r.Hit = 0
	} else if counted {
		n, err := strconv.Atoi(hit)
		if err != nil || n < 1 {
			return FaultRule{}, fmt.Errorf("hit %q is not a number from 1, nor *", hit)
		}
		r.Hit = n
	}
	word, length, timed := strings.Cut(action, ":")
	r.Action = FaultAction(word)
	if !slices.Contains(actions, r.Action) {
		return FaultRule{}, fmt.Errorf("unknown action %q", word)
	}
	if timed != (r.Action == Delay) {
		return FaultRule{}, fmt.Errorf("a delay, and only a delay, has a length: delay:50ms")
	}
	if timed {
		d, err := time.ParseDuration(length)
		if err != nil || d <= 0 {
			return FaultRule{}, fmt.Errorf("length %q is not a positive duration", length)
		}
		r.For = d
	}
	return r, nil
}
