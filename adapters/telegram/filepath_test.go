package telegram

import "testing"

// A server that names a place on its own disk, or out of its folder, is not asked.
func TestPathOfAFileStaysInItsFolder(t *testing.T) {
	for path, want := range map[string]string{
		"photos/file_1.jpg": "photos/file_1.jpg", "documents/a b.pdf": "documents/a%20b.pdf", "f": "f",
		"": "", "/var/lib/telegram/x": "", "../../x": "", "a/../b": "", "a//b": "", "a\\b": "", "a?x=1": "", "a#b": "", "***": "",
	} {
		got, err := filePath(path)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v", path, got, err)
		}
	}
}
