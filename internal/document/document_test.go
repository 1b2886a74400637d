package document

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

// noTool has the library read PDF files whatever is installed.
var noTool = ExtractLimits{PDFTool: "-"}

func extract(t *testing.T, src FileSource) ExtractedText {
	t.Helper()
	text, err := Extract(t.Context(), src, noTool)
	testutil.OK(t, err)
	return text
}

// Each kind keeps what its reader is asked about: headings, numbers of points, cells,
// addresses, the order of parts.
func TestEveryKindBecomesText(t *testing.T) {
	word := wordFile(t, `<w:p><w:pPr><w:pStyle w:val="berschrift1"/></w:pPr><w:r><w:t>Ruhe</w:t></w:r></w:p>`+
		wordItem(0, "Nach 22 Uhr")+wordItem(1, "auch am Sonntag")+wordItem(0, "Kein Grillen")+
		`<w:p><w:r><w:t xml:space="preserve">See </w:t></w:r><w:hyperlink r:id="rId1"><w:r><w:t>the plan</w:t></w:r></w:hyperlink>`+
		`<w:del><w:r><w:delText>old</w:delText></w:r></w:del><w:r><w:footnoteReference w:id="2"/></w:r></w:p>`+
		`<w:tbl><w:tr><w:tc>`+wordParagraph("Day")+`</w:tc><w:tc>`+wordParagraph("Who")+`</w:tc></w:tr><w:tr><w:tc>`+wordParagraph("Mon")+
		`</w:tc><w:tc>`+wordParagraph("a")+wordParagraph("b")+`</w:tc></w:tr></w:tbl>`,
		"word/footnotes.xml", `<w:footnotes><w:footnote w:type="separator" w:id="0">`+wordParagraph("x")+`</w:footnote><w:footnote w:id="2">`+wordParagraph("since 2019")+`</w:footnote></w:footnotes>`)
	odt := openDocument(t, "text", `<office:text><text:h text:outline-level="2">Duties</text:h><text:p>Sweep<text:s text:c="2"/>the <text:a xlink:href="https://example.com/y">yard</text:a>`+
		`<text:note><text:note-body><text:p>on Fridays</text:p></text:note-body></text:note></text:p><text:list><text:list-item><text:p>broom</text:p></text:list-item></text:list></office:text>`)
	ods := openDocument(t, "spreadsheet", `<office:spreadsheet><table:table table:name="Plan"><table:table-row><table:table-cell><text:p>A</text:p></table:table-cell>`+
		`<table:table-cell table:number-columns-repeated="2"><text:p>B</text:p></table:table-cell><table:table-cell table:number-columns-repeated="16000"/></table:table-row>`+
		`<table:table-row table:number-rows-repeated="1048000"><table:table-cell/></table:table-row></table:table></office:spreadsheet>`)
	for _, c := range []struct {
		name string
		src  FileSource
		kind FileKind
		want string
	}{
		{"text", FileSource{Name: "note.txt", Data: []byte("one\r\ntwo\x07\n")}, KindText, "one\ntwo"},
		{"Markdown", FileSource{Name: "a.md", Data: []byte("# A\n\n- b\n")}, KindMarkdown, "# A\n\n- b"},
		{"CSV", FileSource{Name: "a.csv", Data: []byte("\xef\xbb\xbfa;b\n1;2\n")}, KindCSV, "a;b\n1;2"},
		{"JSON", FileSource{MediaType: "application/json; charset=utf-8", Data: []byte(`{"a": 1}`)}, KindJSON, `{"a": 1}`},
		{"code", FileSource{Name: "main.go", MediaType: "text/plain", Data: []byte("package main\n\tx\n")}, KindCode, "package main\n\tx"},
		{
			"page",
			FileSource{Name: "x", MediaType: "text/html", Data: []byte(pageText), Address: "https://example.com/docs/boiler"},
			KindHTML,
			"# Boiler manual\n\nPress **reset** for five seconds. See [the questions](https://example.com/docs/faq.html#x), or this.\n\n" +
				"| Code | Meaning |\n|------|---------|\n| E1   | no gas  |\n\n- one\n- two\n\n```\nmake all\n  test\n```",
		},
		{"DOCX", FileSource{Name: "h.docx", Data: word}, KindDOCX, "# Ruhe\n\n1. Nach 22 Uhr\n  - auch am Sonntag\n2. Kein Grillen\n\nSee [the plan](https://example.com/plan)[footnote 2]\n\n" +
			"| Day | Who |\n| --- | --- |\n| Mon | a b |\n\n## Footnotes\n- [footnote 2] since 2019"},
		{"XLSX", FileSource{Data: workbook(t)}, KindXLSX, "[sheet Costs]\n\n| Item | Paid on | Share |\n| --- | --- | --- |\n| Rent \\| flat | 2026-03-01 | 75.50% |\n| Last row |\n\n" +
			"[sheet Old (hidden)]\n\n| draft |\n| --- |"},
		{"PPTX", FileSource{Data: presentation(t)}, KindPPTX, "[slide 1]\n\n## Welcome\n- To all\n\n[slide 2]\n\n## Costs\n- Rent went up\n\nNotes: Mention the heating"},
		{"ODT", FileSource{Data: odt}, KindODF, "## Duties\n\nSweep  the [yard](https://example.com/y) [note: on Fridays]\n- broom"},
		{"ODS", FileSource{Data: ods}, KindODF, "[sheet Plan]\n\n| A | B | B |\n| --- | --- | --- |"},
		{"EPUB", FileSource{Data: book(t)}, KindEPUB, "[chapter 1]\n\n# Preface\n\nTo the reader\n\n[chapter 2]\n\n# Economy\n\nWhen I wrote the following pages"},
		{"mail", FileSource{Name: "m.eml", Data: []byte(mailText)}, KindMail, "From: Jürgen <j@example.com>\nTo: ada@example.com\nDate: Tue, 3 Mar 2026 10:00:00 +0100\nSubject: Übersicht\n\n" +
			"Grüße aus Köln\n\n[attachment: plan.pdf]"},
		{"calendar", FileSource{Name: "c.ics", Data: []byte(calendarText)}, KindCalendar, "## Chimney sweep, second visit\n- starts: Mon 2026-03-09 08:15 Europe/Berlin\n- repeats: FREQ=YEARLY\n" +
			"- attendees: Maya: B <maya@example.com>\n- about: Please open the cellar.\nAnd the attic."},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := extract(t, c.src)
			testutil.Same(t, "kind", c.kind, got.Kind)
			testutil.Same(t, "text", c.want, got.Markdown)
			if got.Cut {
				t.Error("it says that it is cut")
			}
		})
	}
}

// The content of a page is found where the page does not mark it, and scripts do not
// count as its length.
func TestContentOfAnUnmarkedPage(t *testing.T) {
	line := "<p>The boiler has two circuits, one for the rooms, and one for the bath, which are filled apart from each other.</p>"
	links := "<div class=side-menu>" + strings.Repeat("<a href=/x>Another page of ours</a> ", 30) + "</div>"
	data := "<title>Boiler</title><body>" + links + "<script>" + strings.Repeat("var unused = 1; ", 50_000) + "</script><!-- " + strings.Repeat("x", 100_000) +
		" --><div class=text><h2>Circuits</h2>" + strings.Repeat(line, 12) + "</div>" + links
	got, err := Extract(t.Context(), FileSource{Name: "a.html", Data: []byte(data)}, ExtractLimits{Output: 20_000})
	testutil.OK(t, err)
	if strings.Contains(got.Markdown, "Another page") || strings.Count(got.Markdown, "two circuits") != 12 || !strings.Contains(got.Markdown, "Circuits\n") || got.Cut {
		t.Errorf("got %q, cut %v, want the text alone, whole", got.Markdown, got.Cut)
	}
	// A page of links is not an article: all of it stays.
	list := "<title>Index</title><body><h1>Index</h1><ul>" + strings.Repeat("<li><a href=/x>A part</a></li>", 40) + "</ul>"
	if got := extract(t, FileSource{Name: "a.html", Data: []byte(list)}); strings.Count(got.Markdown, "A part") != 40 {
		t.Errorf("got %q, want all links", got.Markdown)
	}
}

// A title and the places of parts are given beside the text.
func TestPartsAndTitleAreTold(t *testing.T) {
	got := extract(t, FileSource{Data: presentation(t)})
	testutil.Same(t, "title", "Welcome", got.Title)
	testutil.Same(t, "pages", 2, got.Pages)
	for _, p := range got.Parts {
		if !strings.HasPrefix(got.Markdown[p.Offset:], "["+p.Label+"]\n") {
			t.Errorf("at %d: got no marker of %q", p.Offset, p.Label)
		}
	}
	testutil.Same(t, "part", "slide 2", got.PartAt(strings.Index(got.Markdown, "heating")))
	testutil.Same(t, "title of a book", "Walden", extract(t, FileSource{Data: book(t)}).Title)
	testutil.Same(t, "title of a page", "Boiler manual", extract(t, FileSource{Name: "a.html", Data: []byte(pageText)}).Title)
}

// Text in other encodings is read: by its mark, by what was declared, or by its bytes.
func TestEncodingsAreRead(t *testing.T) {
	var wide []byte
	for _, u := range utf16.Encode([]rune("Grüße 😀")) {
		wide = append(wide, byte(u), byte(u>>8))
	}
	for _, c := range []struct {
		name, want string
		src        FileSource
	}{
		{"UTF-16", "Grüße 😀", FileSource{Name: "a.txt", Data: append([]byte("\xff\xfe"), wide...)}},
		{"Latin-1", "Grüße", FileSource{Name: "a.csv", Data: []byte("Gr\xfc\xdfe")}},
		{"declared", "Привет", FileSource{MediaType: "text/plain; charset=koi8-r", Data: []byte("\xf0\xd2\xc9\xd7\xc5\xd4")}},
		{"in the page", "Привет", FileSource{Name: "a.html", Data: []byte("<meta charset=windows-1251><p>\xcf\xf0\xe8\xe2\xe5\xf2")}},
		{"wrongly declared", "Grüße", FileSource{MediaType: "text/html; charset=iso-8859-1", Data: []byte("<p>Grüße")}},
		{"UTF-16 page", "Grüße 😀", FileSource{Name: "a.html", Data: append([]byte("\xff\xfe"), wide...)}},
	} {
		testutil.Same(t, c.name, c.want, extract(t, c.src).Markdown)
	}
}

// What cannot be read says why, in words for people that quote nothing of the file.
func TestUnreadableFilesSayWhy(t *testing.T) {
	word := wordFile(t, wordParagraph("x"))
	old := []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 W\x00o\x00r\x00d")
	locked := []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 E\x00n\x00c\x00r\x00y\x00p\x00t\x00e\x00d\x00P\x00a\x00c\x00k\x00a\x00g\x00e\x00")
	for _, c := range []struct {
		name  string
		src   FileSource
		want  error
		words string
	}{
		{"picture", FileSource{Name: "a.png", Data: []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")}, ErrUnknownKind, "the file: it is of a kind"},
		{"binary as text", FileSource{Name: "a.txt", Data: []byte("MZ\x90\x00\x03\x00")}, ErrUnknownKind, "the file"},
		{"old format", FileSource{Name: "a.doc", Data: old}, ErrUnknownKind, "save it as DOCX"},
		{"password", FileSource{Name: "a.docx", Data: locked}, ErrEncrypted, "protected by a password"},
		{"archive", FileSource{Name: "a.zip", Data: zipOf(t, "a.txt", "x")}, ErrUnknownKind, "an archive is not unpacked"},
		{"cut off", FileSource{Name: "a.docx", Data: word[:len(word)/2]}, ErrDamaged, "damaged"},
		{"wrong bytes", FileSource{Name: "a.pdf", Data: []byte("\x00\x01\x02 not a PDF")}, ErrDamaged, "damaged"},
		{"broken XML", FileSource{Data: wordFile(t, "<w:p></w:q & >")}, ErrDamaged, "the Word document: it is damaged"},
		{"nothing", FileSource{Name: "a.txt", Data: []byte(" \n")}, ErrNoText, "it is empty"},
		{"no text", FileSource{Data: wordFile(t, "<w:p/>")}, ErrNoText, "the Word document: there is no text"},
		{"PDF without text", FileSource{Data: pdfPages(helvetica, nil, "0 0 100 100 re f", "")}, ErrNoText, "the PDF: there is no text"},
		{"cut PDF", FileSource{Data: pdfPages(helvetica, nil, "BT ET")[:60]}, ErrDamaged, "the PDF: it is damaged"},
		{"encrypted ODT", FileSource{Data: zipOf(t, "mimetype", "application/vnd.oasis.opendocument.text", "META-INF/manifest.xml", "<m:encryption-data/>")}, ErrEncrypted, "password"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Extract(t.Context(), c.src, noTool)
			var of *ExtractError
			if !errors.Is(err, c.want) || !errors.As(err, &of) || !strings.Contains(err.Error(), c.words) {
				t.Errorf("got %v, want %v with %q", err, c.want, c.words)
			}
		})
	}
}

// Bombs end at a limit: what they claim does not count, only what they cost.
func TestBombsEndAtALimit(t *testing.T) {
	deep := strings.Repeat("<w:sdt>", 300) + wordParagraph("x") + strings.Repeat("</w:sdt>", 300)
	large := wordFile(t, wordParagraph(strings.Repeat(" ", 70<<20)))
	laughs := `<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>`
	var many []string
	for range 10_001 {
		many = append(many, "word/document.xml", "")
	}
	for _, c := range []struct {
		name string
		data []byte
		want error
	}{
		{"nested", wordFile(t, deep), ErrTooLarge},
		{"unpacked", large, ErrTooLarge},
		{"entries", zipOf(t, many...), ErrTooLarge},
		{"entities", zipOf(t, "word/document.xml", laughs+`<w:document><w:p><w:t>&b;</w:t></w:p></w:document>`), ErrDamaged},
		{"sheet", zipOf(t, "xl/workbook.xml", "<workbook/>", "xl/worksheets/sheet1.xml", strings.Repeat("<row/>", 12<<20)), ErrTooLarge},
		{"input", make([]byte, 33<<20), ErrTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Extract(t.Context(), FileSource{Data: c.data}, noTool); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
	small := ExtractLimits{Unpacked: 1 << 20}
	if _, err := Extract(t.Context(), FileSource{Data: wordFile(t, wordParagraph(strings.Repeat(" ", 2<<20)))}, small); !errors.Is(err, ErrTooLarge) {
		t.Errorf("2 MB of 1 MB: got %v, want ErrTooLarge", err)
	}
}

// A long text is cut at a character, and says so.
func TestLongTextIsCut(t *testing.T) {
	limits := ExtractLimits{Output: 100, PDFTool: "-"}
	for name, src := range map[string]FileSource{
		"text":  {Name: "a.txt", Data: []byte(strings.Repeat("ü", 80))},
		"DOCX":  {Data: wordFile(t, strings.Repeat(wordParagraph("größer"), 40))},
		"page":  {Name: "a.html", Data: []byte(strings.Repeat("<p>größer</p>", 40))},
		"table": {Data: openDocument(t, "spreadsheet", `<office:spreadsheet><table:table>`+strings.Repeat(`<table:table-row><table:table-cell><text:p>ü</text:p></table:table-cell></table:table-row>`, 80))},
		"PDF":   {Data: pdfPages(helvetica, nil, "BT /F1 12 Tf 0 700 Td ("+strings.Repeat("some words ", 30)+") Tj ET")},
	} {
		got, err := Extract(t.Context(), src, limits)
		testutil.OK(t, err)
		if !got.Cut || len(got.Markdown) > 100 || !utf8.ValidString(got.Markdown) {
			t.Errorf("%s: got %d bytes, cut %v, want at most 100 of UTF-8 and cut", name, len(got.Markdown), got.Cut)
		}
	}
	got, err := Extract(t.Context(), FileSource{Data: presentation(t)}, ExtractLimits{Pages: 1})
	testutil.OK(t, err)
	if !got.Cut || got.Pages != 2 || strings.Contains(got.Markdown, "Costs") {
		t.Errorf("one slide: got %+v, want the first of two and cut", got)
	}
	got, err = Extract(t.Context(), FileSource{Data: workbook(t)}, ExtractLimits{Cells: 3})
	testutil.OK(t, err)
	if !got.Cut || strings.Contains(got.Markdown, "Rent") {
		t.Errorf("three cells: got %q, want the first row and cut", got.Markdown)
	}
}

// The caller's context and the limit of time end an extraction, each with its error.
func TestExtractionEndsInTime(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Extract(ctx, FileSource{Data: presentation(t)}, noTool); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v, want context.Canceled", err)
	}
	limits := ExtractLimits{Time: time.Nanosecond, PDFTool: "-"}
	for name, data := range map[string][]byte{"slides": presentation(t), "PDF": pdfPages(helvetica, nil, "BT ET"), "sheet": workbook(t)} {
		if _, err := Extract(t.Context(), FileSource{Data: data}, limits); !errors.Is(err, ErrTimeout) {
			t.Errorf("%s: got %v, want ErrTimeout", name, err)
		}
	}
}

// A panic of a library is an error for the caller.
func TestPanicIsAnError(t *testing.T) {
	old := extractors[KindText]
	t.Cleanup(func() { extractors[KindText] = old })
	extractors[KindText] = func(context.Context, FileSource, *textWriter) error { panic("index out of range") }
	_, err := Extract(t.Context(), FileSource{Name: "a.txt", Data: []byte("secret words")}, noTool)
	if !errors.Is(err, ErrDamaged) || strings.Contains(err.Error(), "index") {
		t.Errorf("got %v, want ErrDamaged without the panic's words", err)
	}
}
