package main

import (
	"fmt"
	"strings"
)

// groupCount is one line of the summary.
type groupCount struct {
	name        string
	all, tested int
}

// render returns the report: figures, what no test cites, and every id with the
// files that do.
func render(wanted []requirement, cited map[string][]string) string {
	var out strings.Builder
	total, groups := count(wanted, cited)
	fmt.Fprintf(&out, "# Parity\n\n%d of %d requirements have a test that cites them (%d %%).\n\n", total.tested, total.all, total.tested*100/total.all)
	out.WriteString("| group | requirements | with a test | |\n| --- | ---: | ---: | ---: |\n")
	for _, g := range groups {
		fmt.Fprintf(&out, "| %s | %d | %d | %d %% |\n", g.name, g.all, g.tested, g.tested*100/g.all)
	}
	if total.tested < total.all {
		out.WriteString("\n## Without a test\n\n| id | demand |\n| --- | --- |\n")
		for _, r := range wanted {
			if len(cited[r.id]) == 0 {
				fmt.Fprintf(&out, "| %s | %s |\n", r.id, r.text)
			}
		}
	}
	out.WriteString("\n## With a test\n\n| id | tests |\n| --- | --- |\n")
	for _, r := range wanted {
		if files := cited[r.id]; len(files) > 0 {
			fmt.Fprintf(&out, "| %s | %s |\n", r.id, strings.Join(files, ", "))
		}
	}
	return out.String()
}

// count returns the figures of all requirements and of each group, in the order
// of the table.
func count(wanted []requirement, cited map[string][]string) (total groupCount, groups []groupCount) {
	place := map[string]int{}
	for _, r := range wanted {
		at, known := place[r.group()]
		if !known {
			at = len(groups)
			place[r.group()] = at
			groups = append(groups, groupCount{name: r.group()})
		}
		for _, g := range []*groupCount{&total, &groups[at]} {
			g.all++
			if len(cited[r.id]) > 0 {
				g.tested++
			}
		}
	}
	return total, groups
}
