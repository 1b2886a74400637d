package config

import (
	"embed"
	"strings"
)

//go:embed personas/*.md
var personaTexts embed.FS

// personas are the built-in personas by the name that stands for them
// (PRD-5.5-A3).
var personas = map[string]string{
	"friendly":     readPersona("friendly.v1"),
	"professional": readPersona("professional.v1"),
	"technical":    readPersona("technical.v1"),
}

func readPersona(name string) string {
	text, err := personaTexts.ReadFile("personas/" + name + ".md")
	if err != nil {
		panic("config: persona is not built in: " + err.Error())
	}
	return strings.TrimSpace(string(text))
}
