package spaces

import "time"

// Tier is how far a tool is trusted (PRD-6.1).
type Tier string

// The tiers, least restrictive first. Unknown tools are TierMarketplace.
const (
	TierSystem      Tier = "system"
	TierPlatform    Tier = "platform"
	TierCustom      Tier = "custom"
	TierMarketplace Tier = "marketplace"
)

// Risk is what an act can do to the world (SECURITY S12).
type Risk string

// The risk classes.
const (
	RiskReadOwn      Risk = "T0" // read the own space
	RiskReadOutside  Risk = "T1"
	RiskWriteOwn     Risk = "T2" // reversible write in the own space or circle
	RiskWriteOutside Risk = "T3" // other circle, outside write, money, files
	RiskSettings     Risk = "T4" // never callable by a model
)

// A Denial records that an act was refused (PRD-5.1). It is a value: nothing
// changes it once it is made.
type Denial struct {
	Agent  AgentID   `json:"agent"`
	Act    string    `json:"act"`
	Code   string    `json:"code"`   // closed list in the shell: no_active_space, tier_policy, …
	Reason string    `json:"reason"` // a plain sentence
	Hint   string    `json:"hint"`   // what would resolve it
	Space  SpaceID   `json:"space,omitempty"`
	Cycle  CycleID   `json:"cycle,omitempty"`
	Phase  string    `json:"phase,omitempty"`
	Tier   Tier      `json:"tier,omitempty"`
	Risk   Risk      `json:"risk,omitempty"`
	At     time.Time `json:"at"`
}
