// Package document turns files that people post into text: notes, tables, source
// code, pages, mail, calendars, PDF and office files become Markdown that a model
// can read and a search can index.
//
// Files come from strangers. [Extract] bounds what a file may cost whatever it
// claims about itself: bytes before and after decompression, entries, nesting,
// pages, cells and time. It writes nothing to disk, opens no network connection and
// loads nothing that a file refers to. A panic of a library becomes an error.
//
// The package imports no other package of the module.
package document

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime/debug"
	"time"
)

// A FileSource is a file to read. Extract does not change Data and keeps no
// reference to it, except that a read which exceeds its time may still hold it for a
// moment.
type FileSource struct {
	Data      []byte
	Name      string // of the file, with its extension; may be empty
	MediaType string // as declared by who sent it, with a charset if it has one; may be empty
	Address   string // absolute URL of a page, for its relative links; may be empty
}

// ExtractLimits bound one call of [Extract]. A zero field has its default.
type ExtractLimits struct {
	Input    int           // bytes of the file; default 32 MB
	Unpacked int64         // bytes of all parts of the file that are decompressed; default 64 MB
	Output   int           // bytes of text; default 2 MB
	Entries  int           // parts of an archive; default 10,000
	Depth    int           // elements of XML within each other; default 256
	Pages    int           // pages, slides, sheets or chapters; default 2,000
	Cells    int           // cells of tables; default 200,000
	Time     time.Duration // default 20 s
	// PDFTool is the path of poppler's pdftotext; empty means the one in PATH, "-"
	// means none. See [FindTool].
	PDFTool string
}

func (l ExtractLimits) withDefaults() ExtractLimits {
	set := func(n *int, to int) {
		if *n <= 0 {
			*n = to
		}
	}
	set(&l.Input, 32<<20)
	set(&l.Output, 2<<20)
	set(&l.Entries, 10_000)
	set(&l.Depth, 256)
	set(&l.Pages, 2_000)
	set(&l.Cells, 200_000)
	if l.Unpacked <= 0 {
		l.Unpacked = 64 << 20
	}
	if l.Time <= 0 {
		l.Time = 20 * time.Second
	}
	return l
}

// ExtractedText is what a file says.
type ExtractedText struct {
	Kind FileKind
	// Title is the title that the file gives itself, or "".
	Title string
	// Markdown is the text, valid UTF-8 without control characters other than line
	// feed and tab. Tables, CSV, JSON and source code stay as they are written in
	// the file. Each part begins with a line such as "[page 3]".
	Markdown string
	// Parts are the pages, slides, sheets or chapters in order; empty for a kind
	// without them. A text can contain a line that looks like a marker: Parts alone
	// tells where one begins.
	Parts []TextPart
	// Pages is how many parts the file has, read or not.
	Pages int
	// Cut reports that Markdown ends before the file does.
	Cut bool
}

// A TextPart is a page, slide, sheet or chapter.
type TextPart struct {
	Label  string // "page 3", "sheet Costs"
	Offset int    // in bytes of Markdown, of its marker
}

// PartAt returns the label of the part that holds the byte at offset of Markdown, or
// "" when the text has no parts there.
func (t ExtractedText) PartAt(offset int) string {
	label := ""
	for _, p := range t.Parts {
		if p.Offset > offset {
			break
		}
		label = p.Label
	}
	return label
}

// FindTool returns the path of poppler's pdftotext, or "" where it is not installed.
// It reads more PDF files, and reads columns better, than the library that is used
// without it.
func FindTool() string {
	path, err := exec.LookPath("pdftotext")
	if err != nil {
		return ""
	}
	return path
}

// An extractor reads one kind. It writes to out until out is full, and looks at ctx
// wherever the work grows with the file.
type extractor func(ctx context.Context, src FileSource, out *textWriter) error

// extractors has a row for each kind.
var extractors = map[FileKind]extractor{
	KindText: extractPlain, KindMarkdown: extractPlain, KindCSV: extractPlain, KindTSV: extractPlain,
	KindJSON: extractPlain, KindCode: extractPlain, KindHTML: extractHTML, KindPDF: extractPDF,
	KindDOCX: extractDOCX, KindPPTX: extractPPTX, KindXLSX: extractXLSX, KindODF: extractODF,
	KindEPUB: extractEPUB, KindMail: extractMail, KindCalendar: extractCalendar,
}

// Extract returns the text of a file. Its errors are an [ExtractError], whose words
// can be shown to a person, or the error of ctx. It is safe for concurrent use; a
// call needs memory of a few times the size of the file and of its text.
func Extract(ctx context.Context, src FileSource, limits ExtractLimits) (ExtractedText, error) {
	limits = limits.withDefaults()
	if len(src.Data) > limits.Input {
		return ExtractedText{}, &ExtractError{Problem: ErrTooLarge}
	}
	kind, err := DetectKind(src)
	if err != nil {
		return ExtractedText{}, err
	}
	bounded, cancel := context.WithTimeout(ctx, limits.Time)
	defer cancel()
	out := &textWriter{limits: limits}
	// A library may loop where it does not look at the context, so the caller does not
	// wait for it beyond the limit.
	done := make(chan error, 1)
	go func() { done <- runExtractor(bounded, kind, src, out) }()
	select {
	case err = <-done:
	case <-bounded.Done():
		err = bounded.Err()
	}
	switch {
	case ctx.Err() != nil:
		return ExtractedText{}, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return ExtractedText{}, &ExtractError{Kind: kind, Problem: ErrTimeout}
	case err != nil:
		return ExtractedText{}, asExtractError(kind, err)
	}
	if !out.said {
		return ExtractedText{}, &ExtractError{Kind: kind, Problem: ErrNoText}
	}
	return out.finish(kind), nil
}

// runExtractor calls the extractor of a kind. A panic, which a damaged file can cause
// in a library, becomes an error; so does one by reading past the time.
func runExtractor(ctx context.Context, kind FileKind, src FileSource, out *textWriter) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &ExtractError{Kind: kind, Problem: ErrDamaged, cause: fmt.Errorf("%v\n%s", p, debug.Stack())}
			if ctx.Err() != nil {
				err = ctx.Err()
			}
		}
	}()
	return extractors[kind](ctx, src, out)
}
