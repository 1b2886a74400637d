package console

import (
	"fmt"

	"github.com/trestle-bridge/trestle/spaces"
)

// grantFor says which words of the configuration decide about a denial. The
// denial is data: nothing an agent wrote becomes a key or a value of the grant.
// It is printed and never clicked: nobody but the operator writes the file.
func grantFor(d spaces.Denial) *Grant {
	switch d.Code {
	case "authority":
		return &Grant{
			Says: "whoever woke it may not ask for this; make that person an admin, by the id that the platform minted",
			YAML: "admins: [\"telegram:123456\"]   # adapter:user\n",
		}
	case "not_a_member", "unknown_space":
		return &Grant{
			Says: "it is in no space of that name; let it join one that you mean it to read",
			YAML: fmt.Sprintf("spaces:\n  NAME: {agents: [%s]}   # beside those who are there\n", d.Agent),
		}
	case "one_space_act":
		return &Grant{Says: "a step holds so many acts in rooms; more are asked for in the next step, or allowed at once", YAML: "max_space_acts: 2\n"}
	case "tier_policy":
		return grantOfAct(d.Act)
	case "greeting":
		return &Grant{Says: "nothing is looked up when only greetings woke it, unless you say so", YAML: "greeting: {look_up: true}\n"}
	}
	says := "no setting allows this"
	if d.Hint != "" {
		says += ": " + d.Hint
	}
	return &Grant{Says: says}
}

// grantOfAct says how an act is given back that the file has taken.
func grantOfAct(act string) *Grant {
	g := &Grant{Says: "the file has taken this act from it, at the top, in its entry or in that of the space"}
	switch act {
	case "send_message", "send_reply", "set_up":
		g.YAML = "acts: {send_message: true}\n"
	case "send_file", "react", "edit_message", "delete_message", "read_messages", "search":
		g.YAML = "acts: {" + act + ": true}\n"
	}
	return g
}
