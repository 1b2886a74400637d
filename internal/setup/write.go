package setup

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/trestle-bridge/trestle/internal/config"
)

// File returns the text of trestle.yaml. Credentials are in it by name only.
func (p *InstallPlan) File() string {
	var out strings.Builder
	if p.Schema {
		out.WriteString(config.SchemaLine + "\n")
	}
	fmt.Fprintf(&out, "version: 1\ndata: ./data\nlisten: %s\n\n", config.DefaultListen)
	p.writeModel(&out)
	p.writeAccounts(&out)
	out.WriteString("# Who may talk in chats that are not named below. pairing: a stranger is shown a\n# code, and `trestle pair CODE` lets them in.\nadmit: pairing\n\n")
	p.writeOwners(&out)
	p.writeAgents(&out)
	p.writeSpaces(&out)
	return out.String()
}

func (p *InstallPlan) writeModel(out *strings.Builder) {
	if p.Model == nil {
		out.WriteString("# Without an endpoint the built-in offline model answers. For a real one:\n# model: {base_url: \"${OPENAI_BASE_URL}\", api_key: \"${OPENAI_API_KEY}\", name: gpt-5-mini}\n\n")
		return
	}
	out.WriteString("model:\n")
	if p.Model.Provider != "" && p.Model.Provider != "openai" {
		fmt.Fprintf(out, "  provider: %s\n", p.Model.Provider)
	}
	for _, v := range []struct {
		key string
		EnvVar
	}{{"base_url", p.Model.BaseURL}, {"api_key", p.Model.Key}} {
		if v.Value != "" {
			fmt.Fprintf(out, "  %s: ${%s}\n", v.key, v.Name)
		}
	}
	if p.Model.Name != "" {
		fmt.Fprintf(out, "  name: %s\n", quote(p.Model.Name))
	}
	out.WriteString("\n")
}

func (p *InstallPlan) writeAccounts(out *strings.Builder) {
	if len(p.Accounts) == 0 {
		out.WriteString("# adapters:\n#   telegram: {type: telegram, token: \"${TELEGRAM_BOT_TOKEN}\"}\n\n")
		return
	}
	out.WriteString("adapters:\n")
	for _, a := range p.Accounts {
		fmt.Fprintf(out, "  %s:\n    type: %s\n", quote(a.Name), a.Type)
		for _, c := range a.Credentials {
			if c.Value != "" {
				fmt.Fprintf(out, "    %s: ${%s}\n", c.Key, c.Name)
			}
		}
		if a.APIURL.Value != "" {
			fmt.Fprintf(out, "    api_url: ${%s}\n", a.APIURL.Name)
		}
		if a.Admit != "" {
			fmt.Fprintf(out, "    admit: %s\n", a.Admit)
		}
	}
	out.WriteString("\n")
}

func (p *InstallPlan) writeOwners(out *strings.Builder) {
	if len(p.Owners) == 0 {
		return
	}
	var all []string
	for _, who := range p.Owners {
		all = append(all, quote(who))
	}
	fmt.Fprintf(out, "# These may do in chats what the operator may here.\nowners: [%s]\n\n", strings.Join(all, ", "))
}

func (p *InstallPlan) writeAgents(out *strings.Builder) {
	agents := p.Agents
	if len(agents) == 0 {
		agents = []AgentPlan{{"ada", "Ada", config.DefaultPersona}}
	}
	out.WriteString("agents:\n")
	for _, a := range agents {
		fmt.Fprintf(out, "  %s:\n    name: %s\n", quote(a.ID), quote(a.Name))
		if a.Persona != "" {
			fmt.Fprintf(out, "    persona: %s\n", quote(a.Persona))
		}
	}
	out.WriteString("\n")
}

func (p *InstallPlan) writeSpaces(out *strings.Builder) {
	if len(p.Spaces) == 0 {
		out.WriteString("# Rooms with a name admit whoever is in them; those of one circle share one memory:\n# spaces:\n#   family: {wake: mention, circle: family, chats: [\"telegram:-1001234567890\"]}\n")
		return
	}
	out.WriteString("# Rooms of one circle share one memory: what an agent hears in one, it may use in the others.\nspaces:\n")
	for _, s := range p.Spaces {
		fmt.Fprintf(out, "  %s:\n    wake: %s\n    circle: %s\n", quote(s.Key), s.Wake, quote(s.Key))
		var chats []string
		for _, c := range s.Chats {
			chats = append(chats, quote(c))
		}
		fmt.Fprintf(out, "    chats: [%s]\n", strings.Join(chats, ", "))
	}
}

// quote writes a text as a value or a key of the file. A dollar stays one.
func quote(text string) string {
	text = strings.ReplaceAll(text, "$", "$$")
	if text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") == "" && !reserved[strings.ToLower(text)] {
		return text
	}
	quoted, err := json.Marshal(text) // JSON's quotes are YAML's
	if err != nil {
		panic("setup: a text is no JSON: " + err.Error())
	}
	return string(quoted)
}

var reserved = map[string]bool{"null": true, "true": true, "false": true, "yes": true, "no": true, "on": true, "off": true, "y": true, "n": true}

// Env returns the text of trestle.env. It fails when a value cannot stand in
// such a file.
func (p *InstallPlan) Env() (string, error) {
	return p.env(func(v EnvVar) string { return string(v.Value) })
}

// EnvShown returns what Env does with *** for every value.
func (p *InstallPlan) EnvShown() string {
	text, err := p.env(func(v EnvVar) string { return v.Value.String() })
	if err != nil {
		panic("setup: *** cannot be written")
	}
	return strings.ReplaceAll(text, "'***'", "***")
}

func (p *InstallPlan) env(value func(EnvVar) string) (string, error) {
	var out strings.Builder
	out.WriteString("# Read by trestle beside " + config.DefaultFile + ", by systemd (EnvironmentFile=) and by a shell. Keep it to yourself.\n")
	for _, v := range p.variables() {
		line, ok := config.FormatEnvLine(v.Name, value(v))
		if !ok {
			return "", fmt.Errorf("the value of %s holds a line break", v.Name)
		}
		out.WriteString(line + "\n")
	}
	return out.String(), nil
}
