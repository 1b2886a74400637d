package tokens

// Count returns how many tokens text has. Its time grows with n log n for text of
// any kind, also for a word that never ends. It may be called from several
// goroutines.
func Count(text string) int {
	n := 0
	var m merger
	for text != "" {
		end := pieceEnd(text)
		if piece := text[:end]; has(piece) {
			n++
		} else {
			n += m.count(piece)
		}
		text = text[end:]
	}
	return n
}
