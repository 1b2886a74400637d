package document

import (
	"archive/zip"
	"bytes"
	"io"
	"mime"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// FileKind is what a file is, by its content where that tells, else by its name.
type FileKind string

// The kinds that [Extract] reads.
const (
	KindText     FileKind = "text"
	KindMarkdown FileKind = "markdown"
	KindCSV      FileKind = "csv"
	KindTSV      FileKind = "tsv"
	KindJSON     FileKind = "json"
	KindCode     FileKind = "code"
	KindHTML     FileKind = "html"
	KindPDF      FileKind = "pdf"
	KindDOCX     FileKind = "docx"
	KindXLSX     FileKind = "xlsx"
	KindPPTX     FileKind = "pptx"
	KindODF      FileKind = "odf" // OpenDocument text, spreadsheet or presentation
	KindEPUB     FileKind = "epub"
	KindMail     FileKind = "mail"     // a message of RFC 5322
	KindCalendar FileKind = "calendar" // iCalendar, RFC 5545
)

// Describe returns the kind in words for people.
func (k FileKind) Describe() string {
	switch k {
	case KindText, KindMarkdown, KindCode:
		return "the text file"
	case KindCSV, KindTSV:
		return "the table"
	case KindJSON:
		return "the JSON file"
	case KindHTML:
		return "the page"
	case KindPDF:
		return "the PDF"
	case KindDOCX:
		return "the Word document"
	case KindXLSX:
		return "the spreadsheet"
	case KindPPTX:
		return "the presentation"
	case KindODF:
		return "the OpenDocument file"
	case KindEPUB:
		return "the book"
	case KindMail:
		return "the mail"
	case KindCalendar:
		return "the calendar"
	default:
		return "the file"
	}
}

// byExtension has the kinds of names. What is not listed is decided by the content.
var byExtension = map[string]FileKind{
	".md": KindMarkdown, ".markdown": KindMarkdown, ".csv": KindCSV, ".tsv": KindTSV, ".tab": KindTSV,
	".json": KindJSON, ".jsonl": KindJSON, ".ndjson": KindJSON, ".geojson": KindJSON, ".ipynb": KindJSON,
	".html": KindHTML, ".htm": KindHTML, ".xhtml": KindHTML, ".eml": KindMail, ".ics": KindCalendar, ".ical": KindCalendar,
	".txt": KindText, ".text": KindText, ".log": KindText,
}

// codeExtensions are those of source code and of configuration.
var codeExtensions = strings.Fields(`.go .py .js .mjs .cjs .ts .tsx .jsx .java .kt .kts .c .h .cc .cpp .cxx .hpp .hh .cs .rs .rb .php
	.pl .pm .lua .r .jl .swift .m .mm .scala .clj .ex .exs .erl .hs .ml .fs .dart .zig .nim .v .vhd .sh .bash .zsh .fish .ps1 .bat
	.cmd .sql .css .scss .less .vue .svelte .xml .xsl .svg .yaml .yml .toml .ini .cfg .conf .env .properties .gradle .proto .graphql
	.tf .tex .bib .rst .adoc .org .diff .patch .make .mk .cmake .dockerfile .asm .s .f90 .pas .groovy .tcl .el .lisp .scm .vim`)

// byMediaType has the kinds of declared media types.
var byMediaType = map[string]FileKind{
	"text/markdown": KindMarkdown, "text/csv": KindCSV, "text/tab-separated-values": KindTSV, "application/json": KindJSON,
	"text/html": KindHTML, "application/xhtml+xml": KindHTML, "message/rfc822": KindMail, "text/calendar": KindCalendar,
	"application/xml": KindCode, "text/xml": KindCode, "application/javascript": KindCode, "text/javascript": KindCode,
	"application/x-yaml": KindCode, "application/yaml": KindCode, "application/toml": KindCode, "text/css": KindCode,
}

// DetectKind returns what a file is. The content decides where a format has a
// signature; a name or a declared type only chooses among kinds of text. It fails
// with an [ExtractError].
func DetectKind(src FileSource) (FileKind, error) {
	head := src.Data[:min(len(src.Data), 1024)]
	ext := strings.ToLower(path.Ext(src.Name))
	switch {
	case len(bytes.TrimSpace(src.Data)) == 0:
		return "", &ExtractError{Problem: ErrNoText, Hint: "it is empty"}
	case bytes.Contains(head, []byte("%PDF-")):
		return KindPDF, nil
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return archiveKind(src.Data)
	case bytes.HasPrefix(head, []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")):
		return "", oldOffice(src.Data)
	case bytes.HasPrefix(head, []byte(`{\rtf`)):
		return "", &ExtractError{Problem: ErrUnknownKind, Hint: "RTF cannot be read; save it as DOCX or PDF and send that"}
	}
	if !looksLikeText(src.Data) {
		if officeExtension(ext) {
			return "", &ExtractError{Problem: ErrDamaged}
		}
		return "", &ExtractError{Problem: ErrUnknownKind}
	}
	return textKind(head, ext, src), nil
}

// textKind returns the kind of a file that holds text.
func textKind(head []byte, ext string, src FileSource) FileKind {
	media, _, err := mime.ParseMediaType(src.MediaType)
	if err != nil {
		media, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(src.MediaType)), ";")
	}
	if k, ok := byExtension[ext]; ok && (k != KindText || media == "") {
		return k
	}
	if slices.Contains(codeExtensions, ext) {
		return KindCode
	}
	if k, ok := byMediaType[media]; ok {
		return k
	}
	start := strings.ToLower(string(bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")))
	switch {
	case ext == ".txt", media == "text/plain" && ext != "":
		return KindText
	case strings.HasPrefix(start, "<!doctype html"), strings.HasPrefix(start, "<html"):
		return KindHTML
	case strings.HasPrefix(start, "begin:vcalendar"):
		return KindCalendar
	case strings.HasSuffix(media, "+json"):
		return KindJSON
	case strings.HasSuffix(media, "+xml"):
		return KindCode
	}
	return KindText
}

func officeExtension(ext string) bool {
	switch ext {
	case ".pdf", ".docx", ".xlsx", ".pptx", ".odt", ".ods", ".odp", ".epub", ".docm", ".xlsm", ".pptm":
		return true
	}
	return false
}

// oldOffice returns the error of a compound file, which holds an encrypted office
// file or one of a format from before 2007.
func oldOffice(data []byte) error {
	name := []byte("E\x00n\x00c\x00r\x00y\x00p\x00t\x00e\x00d\x00P\x00a\x00c\x00k\x00a\x00g\x00e\x00")
	if bytes.Contains(data, name) {
		return &ExtractError{Problem: ErrEncrypted}
	}
	return &ExtractError{Problem: ErrUnknownKind, Hint: "the formats DOC, XLS, PPT and MSG cannot be read; save it as DOCX, XLSX, PPTX or PDF and send that"}
}

// archiveKind returns the kind of a ZIP archive by its entries.
func archiveKind(data []byte) (FileKind, error) {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return "", &ExtractError{Problem: ErrDamaged, cause: err}
	}
	for _, f := range r.File {
		switch {
		case f.Name == "word/document.xml":
			return KindDOCX, nil
		case f.Name == "xl/workbook.xml":
			return KindXLSX, nil
		case f.Name == "xl/workbook.bin":
			return "", &ExtractError{Problem: ErrUnknownKind, Hint: "XLSB cannot be read; save it as XLSX and send that"}
		case f.Name == "ppt/presentation.xml":
			return KindPPTX, nil
		case f.Name == "mimetype" && f.UncompressedSize64 < 200:
			if k := declaredKind(f); k != "" {
				return k, nil
			}
		}
	}
	return "", &ExtractError{Problem: ErrUnknownKind, Hint: "an archive is not unpacked; send the files themselves"}
}

// declaredKind returns the kind that the entry mimetype names, or "".
func declaredKind(f *zip.File) FileKind {
	r, err := f.Open()
	if err != nil {
		return ""
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, 200))
	switch media := strings.TrimSpace(string(text)); {
	case err != nil:
		return ""
	case media == "application/epub+zip":
		return KindEPUB
	case strings.HasPrefix(media, "application/vnd.oasis.opendocument."):
		return KindODF
	}
	return ""
}

// looksLikeText reports whether data is text in some encoding: UTF-16 with its mark,
// or bytes of which hardly any is a control character.
func looksLikeText(data []byte) bool {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return true
	}
	sample := data[:min(len(data), 64<<10)]
	odd := 0
	for _, c := range sample {
		switch {
		case c == 0:
			return false
		case c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != '\x1b':
			odd++
		}
	}
	if utf8.Valid(data[:min(len(data), 4<<10)]) {
		return odd*10 <= len(sample)
	}
	return odd*100 <= len(sample)
}
