package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/trestle-bridge/trestle/internal/config"
)

func packaged(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "packaging", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// ECOSYSTEM 9, rule 2: what the unit must say for the service to be shut in, to
// be watched, and to stay down when its configuration is wrong.
func TestUnitShutsTheServiceIn(t *testing.T) {
	said := map[string][]string{}
	for line := range strings.Lines(packaged(t, "trestle.service")) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(line, "#") {
			said[key] = append(said[key], value)
		}
	}
	for key, want := range map[string]string{
		"Type": "notify", "DynamicUser": "yes", "StateDirectory": "trestle", "ProtectSystem": "strict", "NoNewPrivileges": "yes",
		"RestartPreventExitStatus": exitConfig.String(), "CapabilityBoundingSet": "", "UMask": "0077",
		"LoadCredential": "secrets:/etc/trestle/secrets",
	} {
		if got := said[key]; len(got) != 1 || got[0] != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	if len(said["WatchdogSec"]) != 1 {
		t.Errorf("nobody watches: %q", said["WatchdogSec"])
	}
	args := strings.Fields(said["ExecStart"][0])
	if _, errs, code := stage0(t).do(t, "", append(args[1:], "--help")...); code != exitDone {
		t.Errorf("%q is no command line: %s", said["ExecStart"][0], errs)
	}
}

// The configuration that a package installs is one that runs.
func TestPackagedConfigurationIsFine(t *testing.T) {
	c, err := config.Load(config.Source{
		Path: filepath.Join("..", "..", "packaging", "deb", "trestle.yaml"), Lookup: func(string) (string, bool) { return "", false },
	})
	if err != nil || len(c.Problems) > 0 {
		t.Errorf("it is %+v, %v", c, err)
	}
}

// What the image and the compose file call is there.
func TestContainerCallsWhatExists(t *testing.T) {
	var compose struct {
		Services map[string]struct {
			Command     []string
			Environment map[string]string
			ReadOnly    bool `yaml:"read_only"`
			Secrets     []string
		}
		Secrets map[string]struct{ File string }
	}
	if err := yaml.Unmarshal([]byte(packaged(t, "compose.yaml")), &compose); err != nil {
		t.Fatal(err)
	}
	s := compose.Services["trestle"]
	if !s.ReadOnly || s.Environment["TRESTLE_LISTEN"] == "" || s.Environment["TRESTLE_TOKEN_FILE"] == "" {
		t.Errorf("the service is %+v", s)
	}
	for _, name := range s.Secrets {
		if compose.Secrets[name].File == "" {
			t.Errorf("the secret %s is nowhere", name)
		}
	}
	for _, args := range [][]string{s.Command, {"run", "--demo"}, {"status", "--check"}} {
		if _, errs, code := stage0(t).do(t, "", append(args, "--help")...); code != exitDone {
			t.Errorf("%q is no command line: %s", args, errs)
		}
	}
	image := packaged(t, "Containerfile")
	for _, want := range []string{"FROM scratch", "ca-certificates.crt", "USER 65532", "HEALTHCHECK", `ENTRYPOINT ["/trestle"]`} {
		if !strings.Contains(image, want) {
			t.Errorf("the image lacks %s", want)
		}
	}
}
