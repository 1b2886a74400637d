package spaces

import "fmt"

// Authority is what somebody may ask for. A higher one may all that a lower one
// may, so that of several people the lowest is what all of them may.
type Authority int

// The authorities, from the least to the most.
const (
	OfStranger Authority = iota // not admitted: is asked for a code, and heard by nobody
	OfMember                    // admitted: talks with the agents, may stop them
	OfAdmin                     // may also change what agents keep of a room
	OfOwner                     // runs this installation
)

// String returns the role as configuration and people write it.
func (a Authority) String() string {
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

// May reports whether a run that acts for somebody of this authority may perform
// acts of that risk. What changes settings is nobody's: no model may call it
// (SECURITY S12).
func (a Authority) May(k Risk) bool {
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

// A RoleGrant gives somebody a role, by what their platform calls them and
// never by a name.
type RoleGrant struct {
	Who  Identity // Platform, Scope and User alone count
	Role Authority
}
