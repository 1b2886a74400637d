package cli

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

func packaged(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "packaging", name))
	testutil.OK(t, err)
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
		"RestartPreventExitStatus": apperr.BadConfig.String(), "CapabilityBoundingSet": "", "UMask": "0077",
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
	if _, errs, code := stage0(t).do(t, "", append(args[1:], "--help")...); code != apperr.Done {
		t.Errorf("%q is no command line: %s", said["ExecStart"][0], errs)
	}
}

// The configuration that a package installs is one that runs.
func TestPackagedConfigurationIsFine(t *testing.T) {
	c, err := config.Load(config.LoadOptions{
		Path: filepath.Join("..", "..", "..", "..", "packaging", "deb", "trestle.yaml"), Lookup: func(string) (string, bool) { return "", false },
	})
	if err != nil || len(c.Problems) > 0 {
		t.Errorf("it is %+v, %v", c, err)
	}
}

// What the image and the compose files call is there.
func TestContainersCallWhatExists(t *testing.T) {
	for file, want := range map[string][]string{"compose.yaml": {"trestle"}, "compose.many.yaml": {"trestle", "minds", "postgres", "redis"}} {
		var compose struct {
			Services map[string]struct {
				Image       string
				Command     []string
				Environment map[string]string
				ReadOnly    bool `yaml:"read_only"`
				Secrets     []string
			}
			Secrets map[string]struct{ File string }
		}
		if err := yaml.Unmarshal([]byte(packaged(t, file)), &compose); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if got := slices.Sorted(maps.Keys(compose.Services)); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Errorf("%s has %q, want %q", file, got, want)
		}
		if s := compose.Services["trestle"]; s.Environment["TRESTLE_LISTEN"] == "" || s.Environment["TRESTLE_TOKEN_FILE"] == "" {
			t.Errorf("%s: the console is %+v", file, s)
		}
		for name, s := range compose.Services {
			for _, secret := range s.Secrets {
				if compose.Secrets[secret].File == "" {
					t.Errorf("%s: the secret %s is nowhere", file, secret)
				}
			}
			if s.Image != "trestle" {
				continue
			}
			if !s.ReadOnly {
				t.Errorf("%s: %s is %+v", file, name, s)
			}
			for variable, value := range s.Environment {
				if strings.HasSuffix(variable, "_FILE") {
					handed(t, "/run/secrets/", value) // where compose mounts them
				}
			}
			runs(t, s.Command, s.Environment)
		}
	}
	runs(t, []string{"run", "--demo"}, nil)
	runs(t, []string{"status", "--check"}, nil)
	image := packaged(t, "Containerfile")
	for _, want := range []string{"FROM scratch", "ca-certificates.crt", "USER 65532", "HEALTHCHECK", `ENTRYPOINT ["/trestle"]`} {
		if !strings.Contains(image, want) {
			t.Errorf("the image lacks %s", want)
		}
	}
}

// runs sees that a command line, and what the environment sets, mean something.
func runs(t *testing.T, args []string, variables map[string]string) {
	t.Helper()
	if _, errs, code := stage0(t).do(t, "", append(slices.Clone(args), "--help")...); code != apperr.Done {
		t.Errorf("%q is no command line: %s", args, errs)
	}
	set := "TRESTLE_LISTEN=127.0.0.1:1\nTRESTLE_DATABASE=postgres://a@b/c\nTRESTLE_REDIS=redis://b:1\nTRESTLE_TOKEN=0123456789abcdef0123456789abcdef"
	lookup, environ := environment(set)
	c, err := config.Load(config.LoadOptions{Lookup: lookup, Environ: environ})
	testutil.OK(t, err)
	rows := c.Rows(config.ShowOptions{All: true})
	for name := range variables {
		from := "env " + strings.TrimSuffix(name, "_FILE")
		if !slices.ContainsFunc(rows, func(r config.ShownValue) bool { return r.Origin == from }) {
			t.Errorf("%s sets nothing", name)
		}
	}
}

// ECOSYSTEM 9: the Kustomize bases name what is beside them, one process has the
// file, and none runs as root.
func TestKustomizeBases(t *testing.T) {
	for base, want := range map[string]struct {
		kind     string
		replicas int
	}{"one": {"StatefulSet", 1}, "many": {"Deployment", 2}} {
		var k struct {
			Resources          []string
			ConfigMapGenerator []struct{ Files []string } `yaml:"configMapGenerator"`
		}
		folder := filepath.Join("kustomize", base)
		testutil.OK(t, yaml.Unmarshal([]byte(packaged(t, filepath.Join(folder, "kustomization.yaml"))), &k))
		conf := filepath.Join("..", "..", "..", "..", "packaging", folder, k.ConfigMapGenerator[0].Files[0])
		if _, err := config.Load(config.LoadOptions{Path: conf, Lookup: func(string) (string, bool) { return "", false }}); err != nil {
			t.Errorf("%s: %v", conf, err)
		}
		first, _, _ := strings.Cut(packaged(t, filepath.Join(folder, k.Resources[0])), "\n---\n")
		var r struct {
			Kind string
			Spec struct {
				Replicas int
				Template struct {
					Spec struct {
						SecurityContext struct {
							RunAsNonRoot bool `yaml:"runAsNonRoot"`
							RunAsGroup   int  `yaml:"runAsGroup"`
							FSGroup      int  `yaml:"fsGroup"`
						} `yaml:"securityContext"`
						Containers []struct {
							Args         []string
							Env          []struct{ Name, Value string }
							VolumeMounts []struct {
								Name string
								Path string `yaml:"mountPath"`
							} `yaml:"volumeMounts"`
						}
						Volumes []struct {
							Name   string
							Secret struct {
								Mode int `yaml:"defaultMode"`
							}
						}
					}
				}
			}
		}
		if err := yaml.Unmarshal([]byte(first), &r); err != nil {
			t.Fatalf("%s: %v", base, err)
		}
		pod := r.Spec.Template.Spec
		if r.Kind != want.kind || r.Spec.Replicas != want.replicas || !pod.SecurityContext.RunAsNonRoot || len(pod.Containers) != 1 {
			t.Fatalf("%s is %+v", base, r)
		}
		// Kubernetes lets the group read what the mode gives to the owner, who is root.
		if group := pod.SecurityContext; group.FSGroup != group.RunAsGroup {
			t.Errorf("%s: the process cannot read its secrets: %+v", base, group)
		}
		secrets := ""
		for _, m := range pod.Containers[0].VolumeMounts {
			for _, v := range pod.Volumes {
				if v.Name == m.Name && v.Secret.Mode != 0 {
					secrets = m.Path + "/"
					if v.Secret.Mode != 0o400 {
						t.Errorf("%s: others may read secrets: mode %#o", base, v.Secret.Mode)
					}
				}
			}
		}
		environment := map[string]string{}
		for _, e := range pod.Containers[0].Env {
			environment[e.Name] = e.Value
			if strings.HasSuffix(e.Name, "_FILE") {
				handed(t, secrets, e.Value)
			}
		}
		for _, name := range regexp.MustCompile(`\$\{file:([^}]+)\}`).FindAllStringSubmatch(packaged(t, filepath.Join(folder, k.ConfigMapGenerator[0].Files[0])), -1) {
			handed(t, secrets, name[1])
		}
		if alone := environment["TRESTLE_DATABASE_FILE"] == ""; alone != (want.replicas == 1) {
			t.Errorf("%s has the environment %v", base, environment)
		}
		runs(t, pod.Containers[0].Args, environment)
	}
}

// handed sees that a file with a credential lies where the secrets are mounted, in a
// folder whose modes are the container runtime's: the check of modes leaves it alone.
func handed(t *testing.T, secrets, file string) {
	t.Helper()
	if secrets == "" || !strings.HasPrefix(file, secrets) {
		t.Errorf("%s is not among the secrets of %q", file, secrets)
	}
	if !config.IsMountedSecret(file, "") {
		t.Errorf("a start would complain of the mode of %s", file)
	}
}
