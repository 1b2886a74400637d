package document

import (
	"errors"
	"os"
	"testing"
	"time"
	"unicode/utf8"
)

// Whatever a file holds, Extract returns text within its limits or an error for
// people.
func fuzzKind(f *testing.F, kind FileKind, seeds ...[]byte) {
	f.Helper()
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		out := &textWriter{limits: ExtractLimits{
			Output: 10_000, Unpacked: 8 << 20, Pages: 20, Cells: 5_000, Time: time.Minute, PDFTool: "-",
		}.withDefaults()}
		err := runExtractor(t.Context(), kind, FileSource{Data: data, Address: "https://example.com/a/b"}, out)
		if err != nil {
			var of *ExtractError
			if err = asExtractError(kind, err); !errors.As(err, &of) || err.Error() == "" {
				t.Fatalf("got %v, want an ExtractError", err)
			}
		}
		text := out.finish(kind)
		if len(text.Markdown) > 10_000 || !utf8.ValidString(text.Markdown) {
			t.Fatalf("got %d bytes, valid %v", len(text.Markdown), utf8.ValidString(text.Markdown))
		}
		for _, p := range text.Parts {
			if p.Offset > len(text.Markdown)+len(p.Label)+6 {
				t.Fatalf("part %q at %d of %d", p.Label, p.Offset, len(text.Markdown))
			}
		}
	})
}

func FuzzDOCX(f *testing.F) {
	fuzzKind(f, KindDOCX, wordFile(f, wordParagraph("a")+wordItem(0, "b")), wordFile(f, "<w:tbl><w:tr><w:tc><w:tbl/></w:tc></w:tr>"))
}
func FuzzXLSX(f *testing.F) { fuzzKind(f, KindXLSX, workbook(f)) }
func FuzzPPTX(f *testing.F) { fuzzKind(f, KindPPTX, presentation(f)) }
func FuzzODF(f *testing.F) {
	fuzzKind(f, KindODF, openDocument(f, "text", "<office:text><text:p>a</text:p>"), openDocument(f, "spreadsheet", "<office:spreadsheet><table:table>"))
}
func FuzzEPUB(f *testing.F) { fuzzKind(f, KindEPUB, book(f)) }
func FuzzHTML(f *testing.F) {
	fuzzKind(f, KindHTML, []byte(pageText), []byte("<table><tr><td colspan=20><table>"), []byte("<base href=':'><a href=%zz>x"))
}
func FuzzMail(f *testing.F)     { fuzzKind(f, KindMail, []byte(mailText)) }
func FuzzCalendar(f *testing.F) { fuzzKind(f, KindCalendar, []byte(calendarText)) }
func FuzzPlain(f *testing.F)    { fuzzKind(f, KindText, []byte("a\r\nb\xff"), []byte("\xff\xfea\x00")) }

func FuzzPDF(f *testing.F) {
	printed, err := os.ReadFile("testdata/chromium.pdf")
	if err != nil {
		f.Fatal(err)
	}
	fuzzKind(f, KindPDF, printed, pdfPages(helvetica, nil, "BT /F1 10 Tf (a) Tj [(b) -300 (c)] TJ ET", "q Q"))
}

// FuzzPDFContent drives the interpreter with content that the file's parts need not
// be mutated for.
func FuzzPDFContent(f *testing.F) {
	for _, s := range []string{"BT /F1 12 Tf 50 700 Td (First) Tj [(a) 1 <62>] TJ ET", "BI ID EI q Q /Fm1 Do", "(\\", "<", "[[[", "1 begincodespacerange <00> <ff> endcodespacerange"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, content string) {
		text, err := Extract(t.Context(), FileSource{Data: pdfPages(helvetica, nil, content)}, noTool)
		if err == nil && !utf8.ValidString(text.Markdown) {
			t.Fatal("not UTF-8")
		}
		parseCMap([]byte(content))
	})
}
