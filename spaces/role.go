package spaces

import (
	"fmt"
	"time"
)

// AuthorityLevel is a level of permission. A higher level includes the lower ones, so the
// lowest level of several people is what all of them may ask for.
type AuthorityLevel int

// The authorities, from the least to the most.
const (
	OfStranger AuthorityLevel = iota // not admitted: is asked for a code, and no agent is told
	OfMember                         // admitted: talks with the agents, may stop them
	OfAdmin                          // may also change what agents keep of a room
	OfOwner                          // runs this installation
)

// String returns the role as configuration and people write it.
func (a AuthorityLevel) String() string {
	switch a {
	case OfStranger:
		return "stranger"
	case OfMember:
		return "member"
	case OfAdmin:
		return "admin"
	case OfOwner:
		return "owner"
	}
	return fmt.Sprintf("authority %d", int(a))
}

// May reports whether a run that acts for a person of this authority may call tools of
// that risk. No model may call a tool that changes settings.
func (a AuthorityLevel) May(k ToolRisk) bool {
	switch k {
	case RiskReadOwn, RiskReadOutside, RiskWriteOwn:
		return a >= OfMember
	case RiskWriteOutside:
		return a >= OfAdmin
	case RiskSettings:
		return false
	}
	return false
}

// A RoleGrant gives a person a role, by what their platform calls them and
// never by a name.
type RoleGrant struct {
	Who  PlatformIdentity // Platform, Scope and User alone count
	Role AuthorityLevel
}

// A ToolTier is the trust in a tool.
type ToolTier string

// The tiers, least restrictive first. Unknown tools are TierMarketplace.
const (
	TierSystem      ToolTier = "system"
	TierPlatform    ToolTier = "platform"
	TierCustom      ToolTier = "custom"
	TierMarketplace ToolTier = "marketplace"
)

// A ToolRisk is the damage that a tool call can do.
type ToolRisk string

// The risk classes.
const (
	RiskReadOwn      ToolRisk = "T0" // read the own space
	RiskReadOutside  ToolRisk = "T1"
	RiskWriteOwn     ToolRisk = "T2" // reversible write in the own space or circle
	RiskWriteOutside ToolRisk = "T3" // other circle, outside write, money, files
	RiskSettings     ToolRisk = "T4" // never callable by a model
)

// A Denial records that a tool call was refused. It is a value: nothing
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
	Tier   ToolTier  `json:"tier,omitempty"`
	Risk   ToolRisk  `json:"risk,omitempty"`
	At     time.Time `json:"at"`
}
