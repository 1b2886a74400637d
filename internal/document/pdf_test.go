package document

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

// A page that a browser has printed: composite fonts with ToUnicode, two pages.
func TestPrintedPageIsRead(t *testing.T) {
	data, err := os.ReadFile("testdata/chromium.pdf")
	testutil.OK(t, err)
	got := extract(t, FileSource{Data: data})
	testutil.Same(t, "text", "[page 1]\n\nHaushaltsplan für März\nMiete und Strom: 1.240 €. Größere Ausgaben zuerst.\n\n"+
		"Posten Betrag\nMiete 980 €\nStrom 260 €\n\n[page 2]\n\nZweite Seite: naïve façade — “quoted”.", got.Markdown)
	testutil.Same(t, "title", "Haushaltsplan", got.Title)
	testutil.Same(t, "pages", 2, got.Pages)
}

// Words, lines, columns and paragraphs are told by positions, and letters by the
// encoding of the font, as different programs write them.
func TestPDFTextIsJoinedByPosition(t *testing.T) {
	differences := "<< /Type /Font /Subtype /Type1 /BaseFont /CMR10 /FirstChar 11 /LastChar 13 /Widths [580 560 560] " +
		"/Encoding << /Differences [11 /ff /fi /adieresis 20 /uni20AC /f_f_i /Zcaron.sc] >> >>"
	ranges := func(p *pdfBuilder) string { // the first object that resources makes follows the font
		p.stream("", "1 begincodespacerange <0000> <ffff> endcodespacerange 1 beginbfchar <0003> <0020> endbfchar\n"+
			"2 beginbfrange <0010> <0012> <0041> <0020> <0021> [<00660069> <D83DDE00>] endbfrange")
		p.add("<< /Type /Font /Subtype /CIDFontType2 /DW 500 /W [16 [700 700] 32 33 600] >>")
		return ""
	}
	composite := "<< /Type /Font /Subtype /Type0 /Encoding /Identity-H /ToUnicode 3 0 R /DescendantFonts [4 0 R] >>"
	form := func(p *pdfBuilder) string {
		n := p.stream("/Type /XObject /Subtype /Form /Matrix [1 0 0 1 0 50] /Resources << /Font << /F1 2 0 R >> >>", "BT /F1 10 Tf (in a form) Tj ET")
		return fmt.Sprintf("/XObject << /Fm1 %d 0 R >>", n)
	}
	for _, c := range []struct {
		name, font string
		resources  func(*pdfBuilder) string
		content    string
		want       string
	}{
		{"moved by Td", helvetica, nil, "BT /F1 12 Tf 50 700 Td (First line) Tj 0 -14 Td (second line) Tj 0 -40 Td (new paragraph) Tj ET", "First line\nsecond line\n\nnew paragraph"},
		{"quotes and leading", helvetica, nil, "BT /F1 12 Tf 14 TL 50 700 Td (a) Tj (b) ' 0 0 (c) \" T* (d) Tj ET", "a\nb\nc\nd"},
		{"gaps in TJ", helvetica, nil, "BT /F1 12 Tf 50 700 Td [(Hel) 20 (lo) -300 (world) -4000 (12.50)] TJ ET", "Hello world\t12.50"},
		{"one letter at a time", helvetica, nil, "BT /F1 12 Tf 1 0 0 1 50 700 Tm (H) Tj 1 0 0 1 58.7 700 Tm (i) Tj 1 0 0 1 66 700 Tm (you) Tj ET", "Hi you"},
		{"drawn twice", helvetica, nil, "BT /F1 12 Tf 1 0 0 1 50 700 Tm (B) Tj 1 0 0 1 50.3 700 Tm (B) Tj ET", "B"},
		{"WinAnsi and escapes", helvetica, nil, `BT /F1 12 Tf (\374\(\337\) \200 \223x\224) Tj ET`, "ü(ß) € “x”"},
		{"scaled by the matrix", helvetica, nil, "0.1 0 0 0.1 0 0 cm BT /F1 120 Tf 500 7000 Td (ab) Tj 0 -140 Td (cd) Tj ET", "ab\ncd"},
		{"rotated", helvetica, nil, "BT /F1 12 Tf 0 1 -1 0 300 100 Tm (turned text) Tj 0 1 -1 0 314 100 Tm (next) Tj ET", "turned text\nnext"},
		{"named glyphs", differences, nil, `BT /F1 10 Tf (o\013 \014t \015 \024\025\026) Tj ET`, "off fit ä €ffiŽ"},
		{"composite", composite, ranges, "BT /F1 10 Tf <00100011000300120020> Tj <0021> Tj ET", "AB Cfi😀"},
		{"form", helvetica, form, "BT /F1 10 Tf 0 100 Td (before) Tj ET q /Fm1 Do Q", "before\n\nin a form"},
		{"inline picture", helvetica, nil, "BI /W 1 /H 1 /BPC 8 ID \x01(EI\x02 EI Q BT /F1 10 Tf (after) Tj ET", "after"},
		{"invisible text of a scan", helvetica, nil, "BT 3 Tr /F1 10 Tf (recognized) Tj ET", "recognized"},
		{"broken operators", helvetica, nil, "Q Q Tf TJ Do gs ] >> BT /F1 10 Tf (still) Tj (cut", "still"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := extract(t, FileSource{Data: pdfPages(c.font, c.resources, c.content)})
			testutil.Same(t, "text", "[page 1]\n\n"+c.want, got.Markdown)
			testutil.Same(t, "title", "Annual report", got.Title)
		})
	}
}

// What people fill in in a form is text, by the name of the field.
func TestFormFieldsAreRead(t *testing.T) {
	p := &pdfBuilder{}
	info := p.add("<< >>")
	p.add("<< /Type /Pages /Count 1 /Kids [3 0 R] >>")
	p.add("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Annots [4 0 R 5 0 R 6 0 R] >>")
	p.add("<< /Subtype /Widget /FT /Tx /T (name) /TU (Your name) /V (Maya) /Rect [0 0 1 1] >>")
	p.add("<< /Subtype /Widget /Parent 7 0 R /AS /Off /Rect [0 0 1 1] >>")
	p.add("<< /Subtype /Widget /Parent 7 0 R /AS /Yes /Rect [0 0 1 1] >>")
	p.add("<< /FT /Btn /T (Member) /V /Yes /Kids [5 0 R 6 0 R] >>")
	got := extract(t, FileSource{Data: p.finish(p.add("<< /Type /Catalog /Pages 2 0 R >>"), info)})
	testutil.Same(t, "text", "[page 1]\n\nYour name: Maya\n\nMember: Yes", got.Markdown)
}

// A file that only its owner may change is read; one that needs a password says so.
func TestProtectedPDF(t *testing.T) {
	plain := pdfPages(helvetica, nil, "BT /F1 10 Tf (salary list) Tj ET")
	for name, user := range map[string]string{"owner": "", "user": "secret"} {
		conf := model.NewAESConfiguration(user, "owner", 256)
		var b bytes.Buffer
		testutil.OK(t, api.Encrypt(bytes.NewReader(plain), &b, conf))
		got, err := Extract(t.Context(), FileSource{Data: b.Bytes()}, noTool)
		if user == "" {
			testutil.OK(t, err)
			testutil.Same(t, name, "[page 1]\n\nsalary list", got.Markdown)
		} else if !errors.Is(err, ErrEncrypted) {
			t.Errorf("%s: got %v, want ErrEncrypted", name, err)
		}
	}
}

// A font that does not tell its letters gives no wrong ones, and the error says so.
func TestFontWithoutLettersSaysSo(t *testing.T) {
	_, err := Extract(t.Context(), FileSource{Data: pdfPages("<< /Type /Font /Subtype /Type0 /Encoding /Identity-H >>", nil, "BT /F1 9 Tf <00010002> Tj ET")}, noTool)
	if !errors.Is(err, ErrNoText) || !strings.Contains(err.Error(), "fonts") {
		t.Errorf("got %v, want ErrNoText that names the fonts", err)
	}
}

// A small file that unpacks to much, a form that draws itself and a page tree that
// contains itself end at a limit.
func TestPDFBombsEndAtALimit(t *testing.T) {
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	for range 30 {
		_, err := z.Write(make([]byte, 1<<20))
		testutil.OK(t, err)
	}
	testutil.OK(t, z.Close())
	bomb := &pdfBuilder{}
	for range 10 { // each within the limit of one
		bomb.stream("/Filter /FlateDecode /Type /ObjStm /N 1 /First 4", packed.String())
	}
	loop := func(p *pdfBuilder) string {
		n := len(p.offsets) + 1
		p.stream(fmt.Sprintf("/Subtype /Form /Resources << /XObject << /Fm1 %d 0 R >> >>", n), strings.Repeat("/Fm1 Do ", 40))
		return fmt.Sprintf("/XObject << /Fm1 %d 0 R >>", n)
	}
	tree := &pdfBuilder{}
	tree.add("<< /Type /Pages /Count 5 /Kids [1 0 R 1 0 R] >>")
	limits := ExtractLimits{PDFTool: "-", Time: time.Minute} // what ends by it has no limit of its own
	for _, c := range []struct {
		name string
		data []byte
		want error
	}{
		{"streams", bomb.finish(bomb.add("<< /Type /Catalog >>"), 1), ErrTooLarge},
		{"form", pdfPages(helvetica, loop, "/Fm1 Do"), ErrNoText},
		{"tree", tree.finish(tree.add("<< /Type /Catalog /Pages 1 0 R >>"), 1), ErrDamaged},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Extract(t.Context(), FileSource{Data: c.data}, limits); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

// tool writes a program that stands for pdftotext.
func tool(t *testing.T, script string) ExtractLimits {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pdftotext")
	testutil.OK(t, os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755))
	return ExtractLimits{PDFTool: path, Time: 3 * time.Second, Output: 1000}
}

// Where pdftotext is installed, it reads: the file on its input, the pages by form
// feeds. When it fails, the library reads.
func TestTextToolIsUsed(t *testing.T) {
	src := FileSource{Data: pdfPages(helvetica, nil, "BT /F1 10 Tf (by the library) Tj ET")}
	for _, c := range []struct{ name, script, want string }{
		{"pages", `head -c 8; printf '\none\fthree words more\f'; [ "$*" = "-q -enc UTF-8 -eol unix -l 2000 - -" ] && printf 'args\f'`, "[page 1]\n\n%PDF-1.7\none\n\n[page 2]\n\nthree words more\n\n[page 3]\n\nargs"},
		{"fails", "exit 1", "[page 1]\n\nby the library"},
		{"does not run", "", "[page 1]\n\nby the library"},
		{"limits of memory", `[ "$(ulimit -v)" = 524288 ] && [ "$(ulimit -t)" = 20 ] && printf 'limited\f'`, "[page 1]\n\nlimited"},
		{"no environment of ours", `[ -z "$TRESTLE_SECRET" ] && printf 'clean\f'`, "[page 1]\n\nclean"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("TRESTLE_SECRET", "x")
			limits := tool(t, c.script)
			if c.script == "" {
				limits.PDFTool += "-missing"
			}
			got, err := Extract(t.Context(), src, limits)
			testutil.OK(t, err)
			testutil.Same(t, "text", c.want, got.Markdown)
		})
	}
	if _, err := Extract(t.Context(), src, tool(t, "echo 'Command Line Error: Incorrect password' >&2; exit 1")); !errors.Is(err, ErrEncrypted) {
		t.Errorf("password: got %v, want ErrEncrypted", err)
	}
	got, err := Extract(t.Context(), src, tool(t, "exec yes words"))
	testutil.OK(t, err)
	if !got.Cut || len(got.Markdown) > 1000 {
		t.Errorf("endless: got %d bytes, cut %v, want at most 1,000 and cut", len(got.Markdown), got.Cut)
	}
}

// A program that hangs is killed with its children at the limit of time.
func TestTextToolIsKilledAtTheLimit(t *testing.T) {
	alive := filepath.Join(t.TempDir(), "alive") // open as long as a process of the group lives
	testutil.OK(t, syscall.Mkfifo(alive, 0o600))
	limits := tool(t, `exec 3>"`+alive+`"; sleep 1000 & sleep 1000`)
	limits.Time = 2 * time.Second
	dead := make(chan error, 1)
	go func() {
		f, err := os.Open(alive)
		if err == nil {
			_, err = io.ReadAll(f)
		}
		dead <- err
	}()
	start := time.Now()
	_, err := Extract(t.Context(), FileSource{Data: pdfPages(helvetica, nil, "BT ET")}, limits)
	if !errors.Is(err, ErrTimeout) || time.Since(start) > 20*time.Second {
		t.Errorf("got %v after %v, want ErrTimeout at the limit", err, time.Since(start))
	}
	select {
	case err := <-dead:
		testutil.OK(t, err)
	case <-time.After(20 * time.Second):
		t.Error("a process of the program is still alive")
	}
}
