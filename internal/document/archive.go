package document

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"golang.org/x/net/html/charset"
)

// Entries that are larger than this when unpacked may not be compressed further than
// maxRatio: deflate reaches 1,032 on bytes that repeat, office files rarely 100.
const (
	ratioFrom = 4 << 20
	maxRatio  = 250
)

// A fileArchive reads the entries of a ZIP archive within the limits of a writer.
type fileArchive struct {
	ctx     context.Context //nolint:containedctx // of one call of Extract
	entries map[string]*zip.File
	out     *textWriter
}

// openArchive opens data, and fails for an archive that is not worth it.
func openArchive(ctx context.Context, data []byte, out *textWriter) (*fileArchive, error) {
	if n := bytes.Count(data, []byte("PK\x01\x02")); n > out.limits.Entries {
		return nil, fmt.Errorf("%w: %d entries", ErrTooLarge, n)
	}
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	a := &fileArchive{ctx: ctx, entries: map[string]*zip.File{}, out: out}
	for _, f := range r.File {
		if f.UncompressedSize64 > ratioFrom && f.UncompressedSize64/maxRatio > f.CompressedSize64 {
			return nil, fmt.Errorf("%w: an entry of %d bytes in %d", ErrTooLarge, f.UncompressedSize64, f.CompressedSize64)
		}
		if f.Flags&1 != 0 {
			return nil, ErrEncrypted
		}
		a.entries[strings.TrimPrefix(f.Name, "/")] = f
	}
	return a, nil
}

// unpackedSize returns the bytes of all entries together. The reader of an entry
// fails when it has more than it claims.
func (a *fileArchive) unpackedSize() int64 {
	total := int64(0)
	for _, f := range a.entries {
		total += int64(min(f.UncompressedSize64, 1<<40))
	}
	return total
}

// open returns the reader of an entry; fs.ErrNotExist when there is none.
func (a *fileArchive) open(name string) (io.ReadCloser, error) {
	f := a.entries[strings.TrimPrefix(path.Clean(name), "/")]
	if f == nil {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	return &countedReader{ReadCloser: r, archive: a}, nil
}

// A countedReader counts what is unpacked, and ends with its context.
type countedReader struct {
	io.ReadCloser
	archive *fileArchive
}

// Read implements [io.Reader].
func (r *countedReader) Read(p []byte) (int, error) {
	if err := r.archive.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.ReadCloser.Read(p)
	if tooMany := r.archive.out.takeUnpacked(int64(n)); tooMany != nil {
		return 0, tooMany
	}
	return n, err
}

// readAll returns the bytes of an entry.
func (a *fileArchive) readAll(name string) ([]byte, error) {
	r, err := a.open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// errStop ends a walk early without being a failure.
var errStop = errors.New("stop")

// walkXML calls visit with each token of an entry. Elements nested deeper than the
// limit make it fail; entities that a document declares are never expanded.
func (a *fileArchive) walkXML(name string, visit func(xml.Token) error) error {
	r, err := a.open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	return walkTokens(r, a.out.limits.Depth, visit)
}

// walkTokens calls visit with each token of an XML document.
func walkTokens(r io.Reader, deepest int, visit func(xml.Token) error) error {
	d := xml.NewDecoder(r)
	d.CharsetReader = charset.NewReaderLabel
	for depth := 0; ; {
		t, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch t.(type) {
		case xml.StartElement:
			if depth++; depth > deepest {
				return fmt.Errorf("%w: elements are nested deeper than %d", ErrTooLarge, deepest)
			}
		case xml.EndElement:
			depth--
		}
		switch err := visit(t); {
		case errors.Is(err, errStop):
			return nil
		case err != nil:
			return err
		}
	}
}

// xmlAttribute returns an attribute by its local name, or "".
func xmlAttribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// relations returns the targets of the relationships of a part, by their ids, with
// the names that entries have; targets outside the file stay addresses.
func (a *fileArchive) relations(part string) (map[string]string, error) {
	targets := map[string]string{}
	name := path.Join(path.Dir(part), "_rels", path.Base(part)+".rels")
	err := a.walkXML(name, func(t xml.Token) error {
		e, ok := t.(xml.StartElement)
		if !ok || e.Name.Local != "Relationship" {
			return nil
		}
		target := xmlAttribute(e, "Target")
		switch {
		case strings.EqualFold(xmlAttribute(e, "TargetMode"), "External"):
		case strings.HasPrefix(target, "/"):
			target = strings.TrimPrefix(target, "/")
		default:
			target = path.Join(path.Dir(part), target)
		}
		targets[xmlAttribute(e, "Id")] = target
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return targets, err
}

// readTitle sets the title from the properties of an office file.
func (a *fileArchive) readTitle(name string) error {
	in, title := false, ""
	err := a.walkXML(name, func(t xml.Token) error {
		switch t := t.(type) {
		case xml.StartElement:
			in = t.Name.Local == "title"
		case xml.EndElement:
			in = false
		case xml.CharData:
			if in {
				title += string(t)
			}
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	a.out.setTitle(title)
	return err
}
