package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// ECOSYSTEM 5: what `trestle init` writes is found by the next start, and the
// environment wins over it.
func TestEnvFileStandsBesideTheConfiguration(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		DefaultFile: "adapters: {bot: {type: telegram, token: \"${T}\"}, other: {type: telegram, token: \"${U}\"}}\n",
		EnvFile:     "# kept by me\nexport T='7:a#b'\nU=8:file\nTRESTLE_MAX_STEPS=3\nno variable\n",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	lookup, environ := environment("U=9:environment")
	c, err := Load(LoadOptions{Folder: dir, Lookup: lookup, Environ: environ})
	if err != nil || len(c.Problems) > 0 {
		t.Fatal(err, c.Problems)
	}
	if string(c.Adapters[0].Token) != "7:a#b" || string(c.Adapters[1].Token) != "9:environment" || c.SettingsFor("", "").MaxSteps != 3 {
		t.Errorf("tokens %q and %q, max_steps %d", string(c.Adapters[0].Token), string(c.Adapters[1].Token), c.SettingsFor("", "").MaxSteps)
	}
	if len(c.Warnings) != 2 || !c.Warnings[0].Serious || !strings.Contains(c.Warnings[0].Err.What, "0644") || c.Warnings[1].Err.At.Line != 5 {
		t.Errorf("warnings %+v", c.Warnings)
	}
	if !slices.Contains(c.Files(), filepath.Join(dir, EnvFile)) {
		t.Errorf("files %q", c.Files())
	}
}

// Whatever a credential holds, the line that is written for it reads as it.
func TestEnvLineIsReadAsItWasMeant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.String().Draw(t, "value")
		line, ok := FormatEnvLine("NAME", value)
		if !ok {
			return
		}
		got, bad := parseEnv("# before\n" + line + "\n")
		if len(bad) > 0 || got["NAME"] != value {
			t.Fatalf("%q is written as %s and read as %q", value, line, got["NAME"])
		}
	})
}
