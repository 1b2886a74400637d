package discord

// Words returns what a reader sees of Discord's Markdown.
func Words(content string) string {
	words, _ := readMarkdown(content, mentionNames{})
	return words
}
