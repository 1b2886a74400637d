package config

import (
	"fmt"
	"strings"
)

// generated returns the generated part of docs/configuration.md of that name: a
// section of the file, or "settings".
func generated(name string) (text string, ok bool) {
	if name == "settings" {
		return settingsPage(), true
	}
	if name == "top" {
		return keysPage(topKeys), true
	}
	for _, k := range topKeys {
		if k.name == name && len(k.form.of) > 0 {
			return keysPage(k.form.of), true
		}
	}
	return "", false
}

func keysPage(keys []keyRow) string {
	var out strings.Builder
	out.WriteString("| key | default | meaning |\n| --- | --- | --- |\n")
	for _, k := range keys {
		fmt.Fprintf(&out, "| `%s` | %s | %s |\n", k.name, inCode(k.fallback), k.meaning)
	}
	return out.String()
}

func settingsPage() string {
	var out strings.Builder
	out.WriteString("| key | default | meaning |\n| --- | --- | --- |\n")
	for _, k := range settingKeys {
		meaning := k.description()
		if k.value.kind == oneWord {
			meaning += ": `" + strings.Join(k.value.words, "`, `") + "`"
		}
		fmt.Fprintf(&out, "| `%s` | `%s` | %s |\n", k.name, k.fallback, meaning)
	}
	return out.String()
}

// inCode sets a default as code, but not one that is a phrase.
func inCode(fallback string) string {
	if fallback == "" || strings.ContainsAny(fallback, " `") {
		return fallback
	}
	return "`" + fallback + "`"
}
