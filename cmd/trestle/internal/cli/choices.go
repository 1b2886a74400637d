package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/internal/console/web"
	"github.com/trestle-bridge/trestle/internal/doctor"
	"github.com/trestle-bridge/trestle/internal/pubsub"
	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

// A filter that nothing can pass is an error: an empty answer to it would be misread. Empty
// filters match everything.

// chooseStop returns an error for an unknown stop reason.
func chooseStop(c *cobra.Command, given string) error {
	return choose(c, given, "no run ends with", spaces.StopReasons())
}

// chooseKind returns an error for an unknown kind of stored or of live events.
func chooseKind(c *cobra.Command, given string, live bool) error {
	if live {
		return choose(c, given, "no live event is of the type", liveTypes())
	}
	return choose(c, given, "no event in a space is of the kind", spaces.RoomKinds())
}

// chooseCode returns an error for a text that is no code of a finding.
func chooseCode(c *cobra.Command, given string) error {
	if given == "" || doctor.IsCode(given) {
		return nil
	}
	return misuse(c, fmt.Sprintf("%q is no code of a finding", given), "write one such as TRS-T02; docs/problems.md has them all")
}

func liveTypes() []string { return append(slices.Clone(web.LiveTypes), pubsub.Skipped) }

func choose[T ~string](c *cobra.Command, given, none string, known []T) error {
	if given == "" || slices.Contains(known, T(given)) {
		return nil
	}
	var words []string
	for _, k := range known {
		words = append(words, string(k))
	}
	return misuse(c, fmt.Sprintf("%s %q", none, given), cmp.Or(textformat.DidYouMean(given, words), "name one of "+textout.JoinOr(words)))
}

// chooseAgent returns an error for an agent that is and was in no space.
func (in installation) chooseAgent(ctx context.Context, given string) error {
	if given == "" {
		return nil
	}
	return in.chooseMind(ctx, spaces.Mind{Agent: spaces.AgentID(given)})
}

// chooseMind returns an error for an unknown mind; without a circle, for an agent without
// minds.
func (in installation) chooseMind(ctx context.Context, m spaces.Mind) error {
	var a struct {
		Minds []struct {
			Mind string `json:"mind"`
		} `json:"minds"`
	}
	if err := in.ask(ctx, "/api/minds", nil, &a); err != nil {
		return err
	}
	what, given := "mind", m.String()
	if m.Circle == "" {
		what, given = "agent", string(m.Agent)
	}
	var words []string
	for _, known := range a.Minds {
		word := known.Mind
		if m.Circle == "" {
			word, _, _ = strings.Cut(word, "/")
		}
		if word == given {
			return nil
		}
		words = append(words, word)
	}
	return &apperr.Error{What: fmt.Sprintf("there is no %s %q", what, given), Where: given, Remedy: cmp.Or(textformat.DidYouMean(given, words), "see trestle status"), Code: apperr.Failed}
}
