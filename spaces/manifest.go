package spaces

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// A ToolManifest is one version of the acts: all that models are offered together, as
// they are offered it. Where Acts is nil, only its name is known.
type ToolManifest struct {
	Hash string // of the acts: another one for anything about them that is other
	Acts []ToolDefinition
}

// A ToolDefinition is one act as models are offered it, with how far it is trusted and what
// it can do.
type ToolDefinition struct {
	Name    string          `json:"name"`
	Tier    ToolTier        `json:"tier"`
	Risk    ToolRisk        `json:"risk"`
	About   string          `json:"about"`
	Schema  json.RawMessage `json:"schema"`            // of its arguments
	Version string          `json:"version,omitempty"` // of what is behind it: the names of skills, each with the hash of its files
}

// NewManifest returns the version that these acts are, in the order in which models
// see them.
func NewManifest(acts []ToolDefinition) ToolManifest {
	text, err := json.Marshal(acts)
	if err != nil {
		panic("spaces: an act whose schema is no JSON: " + err.Error())
	}
	sum := sha256.Sum256(text)
	return ToolManifest{Hash: hex.EncodeToString(sum[:8]), Acts: acts}
}

// SchemaSum returns the SHA-256 of the act's schema, in hexadecimal digits.
func (o ToolDefinition) SchemaSum() string {
	sum := sha256.Sum256(o.Schema)
	return hex.EncodeToString(sum[:])
}

// A ToolArgument is one of those that an act takes.
type ToolArgument struct {
	Name string
	Must bool   // whether it has to be there
	Form string // its schema
}

// Arguments returns what the act takes, by name.
func (o ToolDefinition) Arguments() []ToolArgument {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if json.Unmarshal(o.Schema, &schema) != nil {
		return nil // no object: nothing in it has a name
	}
	var all []ToolArgument
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		all = append(all, ToolArgument{name, slices.Contains(schema.Required, name), string(schema.Properties[name])})
	}
	return all
}

// A PromptActivation says that a version of a prompt section is shown, until one that was
// activated later takes its place, or until it is rolled back.
type PromptActivation struct {
	N       int64     `json:"-"` // rising; 0 before it is stored
	Section string    `json:"section"`
	Version int       `json:"version"`
	Agent   AgentID   `json:"agent,omitempty"` // that is shown it; empty: all agents without one of their own
	By      string    `json:"by"`              // the part of the program that an operator used
	At      time.Time `json:"at"`
}
