package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/internal/console"
)

// pairCommand answers `trestle pair`.
type pairCommand struct{ installation }

func newPairCommand(env *Environment) *cobra.Command {
	cmd := pairCommand{installation{env}}
	var q console.PairRequest
	var owner, admin bool
	var revoke string
	c := &cobra.Command{
		Use: "pair [CODE | ADAPTER:CHAT]", Short: "let in the person to whom the bot has shown this code, or a whole chat; list who is let in",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if owner {
				q.Role = "owner"
			} else if admin {
				q.Role = "admin"
			}
			switch {
			case revoke != "" && len(args) > 0:
				return &apperr.Error{What: "--revoke stands alone", Where: "pair", Remedy: "trestle pair --revoke " + revoke, Code: apperr.Usage}
			case revoke != "":
				return cmd.revokePairing(c.Context(), console.RevokeRequest{Who: revoke})
			case len(args) == 0 && (q.Role != "" || q.Circle != ""):
				return &apperr.Error{What: "nobody is named: a role and a circle, they are for whom a code or a chat names", Where: "pair", Remedy: "trestle pair CODE --owner; trestle pair alone lists who waits", Code: apperr.Usage}
			case len(args) == 0:
				return cmd.listPairings(c.Context())
			case strings.Contains(args[0], ":"):
				q.Chat = args[0]
			default:
				q.Code = args[0]
			}
			return cmd.pair(c.Context(), q)
		},
	}
	c.Flags().StringVar(&q.Circle, "circle", "", "circle of the chat's space (default one of its own)")
	c.Flags().BoolVar(&owner, "owner", false, "make the person an owner: they may do what you may")
	c.Flags().BoolVar(&admin, "admin", false, "make the person an admin: they may decide for rooms of several people")
	c.Flags().StringVar(&revoke, "revoke", "", "shut out `ADAPTER:ID`, a person or a chat, at once; the code of one who waits is void")
	c.MarkFlagsMutuallyExclusive("owner", "admin", "revoke")
	c.MarkFlagsMutuallyExclusive("circle", "revoke")
	return c
}

func (cmd pairCommand) pair(ctx context.Context, q console.PairRequest) error {
	var a console.AdmittedPerson
	if err := cmd.post(ctx, "/pair", q, &a); err != nil {
		return err
	}
	return cmd.answer(a, func(w io.Writer) {
		if a.User == "" {
			fmt.Fprintf(w, "everybody in the chat %s may now talk to your agents there\n", a.Chat)
			return
		}
		as := ""
		if a.Role != "member" {
			as = ", as " + a.Role
		}
		fmt.Fprintf(w, "%s (%s) may now talk to your agents in the chat %s%s\n", a.Name, a.User, a.Chat, as)
	})
}

func (cmd pairCommand) revokePairing(ctx context.Context, q console.RevokeRequest) error {
	var gone []console.AdmittedPerson
	if err := cmd.post(ctx, "/pair/revoke", q, &gone); err != nil {
		return err
	}
	return cmd.answer(gone, func(w io.Writer) {
		for _, a := range gone {
			fmt.Fprintf(w, "%s is shut out of the chat %s\n", whoIs(a), a.Chat)
		}
	})
}

func (cmd pairCommand) listPairings(ctx context.Context) error {
	var all console.AdmissionLists
	if err := cmd.get(ctx, "/pair", &all); err != nil {
		return err
	}
	return cmd.answer(all, func(w io.Writer) { showPairings(w, all) })
}

func showPairings(w io.Writer, all console.AdmissionLists) {
	if len(all.Waiting)+len(all.Admitted)+len(all.Refused) == 0 {
		fmt.Fprintln(w, "nobody waits and nobody was let in by code; chats that the configuration names let their members in")
		return
	}
	lines := [][]string{{"STATE", "ACCOUNT", "CHAT", "USER", "NAME", "ROLE", "SINCE"}}
	for _, x := range all.Waiting {
		lines = append(lines, []string{"waiting", x.Account, x.Chat, x.User, textout.OrDash(x.Name), "-", "until " + textout.FormatTime(x.Expires)})
	}
	for _, a := range all.Admitted {
		lines = append(lines, []string{"admitted", a.Account, a.Chat, textout.OrDash(a.User), textout.OrDash(a.Name), a.Role, textout.FormatTime(a.At)})
	}
	for _, r := range all.Refused {
		lines = append(lines, []string{"refused", r.Account, r.Chat, textout.OrDash(r.User), "-", "-", textout.FormatTime(r.Last) + ", " + r.Kind + times(r.Count)})
	}
	textout.WriteTable(w, lines)
}

// times says how often something came, when it was more than once.
func times(n int64) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(" (%d times)", n)
}

// whoIs names a person, or a whole chat, with access or with revoked access.
func whoIs(a console.AdmittedPerson) string {
	if a.User == "" {
		return "everybody"
	}
	return fmt.Sprintf("%s (%s)", textout.OrDash(a.Name), a.User)
}
