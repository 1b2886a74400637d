package migrations

import (
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Steps returns the numbers of the files in an engine's folder, in order.
func Steps(files fs.FS, folder string) (all []int64) {
	names, err := fs.Glob(files, folder+"/*.sql")
	if err != nil {
		panic("migrations: a constant pattern is wrong")
	}
	for _, name := range names {
		number, _, _ := strings.Cut(path.Base(name), "_")
		if n, err := strconv.ParseInt(number, 10, 64); err == nil {
			all = append(all, n)
		}
	}
	return all
}
