package cli

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/console/api"
)

// SEQ-47, SEQ-71: --plan tells how strongly the parts of the keyframe are compressed,
// and what is left of each connection span.
func TestPlanTellsOfTheKeyframeBehindTheFrame(t *testing.T) {
	may := time.Date(2026, 5, 4, 9, 30, 0, 0, time.UTC)
	frame := hud.FramePlan{Budget: 6000, Tokens: 2100, Fixed: 900, Items: []hud.PlanItem{{Area: "keyframe", Form: hud.Full, Tokens: 1400}, {Area: "tail", Form: hud.Full, Tokens: 700}}}
	cut := hud.FramePlan{
		Cause: hud.CutHighWater, Budget: 3000, Tokens: 1400, Kept: 500,
		Items:  []hud.PlanItem{{Area: "s1", Form: hud.OneLine, Tokens: 1400}},
		Levels: []hud.CompressionLevel{{Of: "all", Level: 3, Share: 0.5}, {Of: "s1", Level: 4, Share: 0.25}},
		Bundles: []hud.SpanBundle{
			{Space: "s1", End: may.Add(-time.Hour), Age: hud.Historical, Talks: 4, Lines: 90, Shown: 12, Ratio: 0.1},
			{Space: "s1", Span: 7, Start: may, Active: true, Age: hud.Recent, Talks: 1, Lines: 20, Shown: 20, Ratio: 1},
		},
	}
	var f api.FrameAnswer
	for to, plan := range map[*json.RawMessage]hud.FramePlan{&f.Plan: frame, &f.Keyframe: cut} {
		raw, err := json.Marshal(plan)
		if err != nil {
			t.Fatal(err)
		}
		*to = raw
	}
	var got bytes.Buffer
	printPlan(&got, f)
	golden(t, "plan", got.String())
}
