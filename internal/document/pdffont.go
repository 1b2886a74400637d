package document

import (
	"strings"
	"unicode/utf16"

	"github.com/pdfcpu/pdfcpu/pkg/font"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// A pdfGlyph is one character as a font shows it.
type pdfGlyph struct {
	text  string  // "" when the font does not tell
	width float64 // in thousandths of the font's size
	space bool    // the single byte 32, to which word spacing applies
}

// A pdfFont tells the letters and widths of character codes (ISO 32000-2, 9.6, 9.7
// and 9.10).
type pdfFont struct {
	unicode      *pdfCMap // ToUnicode, or nil
	composite    bool
	codes        *pdfCMap          // an embedded Encoding of a composite font, or nil
	native       encoding.Encoding // of a composite font with a predefined character map, or nil
	utf16        bool
	letters      [256]string // of a simple font
	widths       map[uint32]float64
	defaultWidth float64
}

// readFont reads a font's dictionary. What is missing in it has defaults.
func (r *pdfReader) readFont(d types.Dict) *pdfFont {
	f := &pdfFont{widths: map[uint32]float64{}, composite: r.name(d["Subtype"]) == "Type0"}
	if stream, err := r.streamOf(d["ToUnicode"]); err == nil && stream != nil {
		f.unicode = parseCMap(stream)
	}
	if f.composite {
		r.readComposite(d, f)
		return f
	}
	r.readSimple(d, f)
	return f
}

// streamOf returns the content of a stream object, or nil for another object.
func (r *pdfReader) streamOf(o types.Object) ([]byte, error) {
	o, err := r.file.Dereference(o)
	if err != nil {
		return nil, err
	}
	s, ok := o.(types.StreamDict)
	if !ok {
		return nil, nil
	}
	return r.decode(&s)
}

// readComposite reads the encoding and the widths of a font of many characters.
func (r *pdfReader) readComposite(d types.Dict, f *pdfFont) {
	if content, err := r.streamOf(d["Encoding"]); err == nil && content != nil {
		f.codes = parseCMap(content)
	}
	name := r.name(d["Encoding"])
	f.utf16 = strings.Contains(name, "UTF16") || strings.Contains(name, "UCS2")
	for prefix, enc := range map[string]encoding.Encoding{
		"GBK": simplifiedchinese.GB18030, "GB-EUC": simplifiedchinese.GB18030, "90ms-RKSJ": japanese.ShiftJIS, "90msp-RKSJ": japanese.ShiftJIS,
		"EUC-": japanese.EUCJP, "ETen": traditionalchinese.Big5, "B5pc": traditionalchinese.Big5, "KSC": korean.EUCKR,
	} {
		if strings.HasPrefix(name, prefix) && !f.utf16 {
			f.native = enc
		}
	}
	f.defaultWidth = 1000
	descendants, _ := r.file.DereferenceArray(d["DescendantFonts"])
	if len(descendants) == 0 {
		return
	}
	cid := r.dict(descendants[0])
	if w, ok := r.number(cid["DW"]); ok {
		f.defaultWidth = w
	}
	r.readCIDWidths(cid["W"], f)
}

// readCIDWidths reads widths as "first [w1 w2 …]" and "first last w" (9.7.4.3).
func (r *pdfReader) readCIDWidths(o types.Object, f *pdfFont) {
	list, _ := r.file.DereferenceArray(o)
	for i := 0; i+1 < len(list); {
		first, _ := r.number(list[i])
		if widths := r.numbers(list[i+1]); widths != nil {
			for n, w := range widths {
				f.widths[uint32(first)+uint32(n)] = w
			}
			i += 2
			continue
		}
		last, _ := r.number(list[i+1])
		if i+2 >= len(list) {
			return
		}
		w, _ := r.number(list[i+2])
		for code := uint32(first); code <= uint32(last) && code < uint32(first)+65536; code++ {
			f.widths[code] = w
		}
		i += 3
	}
}

// readSimple reads the encoding and the widths of a font of at most 256 characters.
func (r *pdfReader) readSimple(d types.Dict, f *pdfFont) {
	descriptor := r.dict(d["FontDescriptor"])
	base := r.name(d["Encoding"])
	named := r.dict(d["Encoding"])
	if named != nil {
		base = r.name(named["BaseEncoding"])
	}
	table := charmap.Windows1252
	if base == "MacRomanEncoding" {
		table = charmap.Macintosh
	}
	for code := range f.letters {
		if letter := table.DecodeByte(byte(code)); code >= 32 && letter != '\ufffd' {
			f.letters[code] = string(letter)
		}
	}
	name := strings.TrimSpace(r.name(d["BaseFont"]))
	if base == "" || base == "StandardEncoding" {
		f.letters['\''], f.letters['`'] = "’", "‘"
		for code, letters := range standardLetters {
			f.letters[code] = letters
		}
	}
	if differences, _ := r.file.DereferenceArray(named["Differences"]); differences != nil {
		r.readDifferences(differences, f)
	}
	scale := 1.0
	if m := r.numbers(d["FontMatrix"]); len(m) == 6 && r.name(d["Subtype"]) == "Type3" {
		scale = m[0] * 1000
	}
	first, _ := r.number(d["FirstChar"])
	for i, w := range r.numbers(d["Widths"]) {
		f.widths[uint32(first)+uint32(i)] = w * scale
	}
	f.defaultWidth, _ = r.number(descriptor["MissingWidth"])
	if len(f.widths) > 0 {
		return
	}
	f.defaultWidth = 550
	if !font.IsCoreFont(name) {
		return
	}
	for code, letter := range f.letters {
		for _, c := range letter {
			if w, err := font.CharWidth(name, c); err == nil && w > 0 {
				f.widths[uint32(code)] = float64(w)
			}
		}
	}
}

// readDifferences reads "code name name … code name …" (9.6.5.1).
func (r *pdfReader) readDifferences(list types.Array, f *pdfFont) {
	code := 0
	for _, o := range list {
		if n, ok := r.number(o); ok {
			code = int(n)
			continue
		}
		if code >= 0 && code < len(f.letters) {
			f.letters[code] = glyphLetters(r.name(o))
		}
		code++
	}
}

// decode calls show with each character of a string.
func (f *pdfFont) decode(codes string, show func(pdfGlyph)) {
	if !f.composite {
		for i := range len(codes) {
			c := codes[i]
			g := pdfGlyph{text: f.letters[c], width: f.width(uint32(c)), space: c == 32}
			if text, ok := f.unicode.lookup(uint32(c), 1); ok {
				g.text = text
			}
			show(g)
		}
		return
	}
	for len(codes) > 0 {
		n := f.codeLength(codes)
		code := uint32(0)
		for i := range n {
			code = code<<8 | uint32(codes[i])
		}
		g := pdfGlyph{width: f.width(f.cid(code, n)), space: n == 1 && code == 32}
		if text, ok := f.unicode.lookup(code, n); ok {
			g.text = text
		} else {
			g.text = f.nativeText(codes[:n])
		}
		show(g)
		codes = codes[n:]
	}
}

func (f *pdfFont) width(code uint32) float64 {
	if w, ok := f.widths[code]; ok {
		return w
	}
	return f.defaultWidth
}

// cid returns the number of a character within its collection, by which widths are
// listed.
func (f *pdfFont) cid(code uint32, n int) uint32 {
	if f.codes != nil {
		if cid, ok := f.codes.cids[cmapCode{code, n}]; ok {
			return cid
		}
	}
	return code
}

// codeLength returns how many bytes the first code has.
func (f *pdfFont) codeLength(codes string) int {
	n := 2
	switch {
	case f.codes != nil:
		n = f.codes.codeLength(codes)
	case f.native != nil && codes[0] < 0x80:
		n = 1
	case f.utf16 && len(codes) >= 4 && codes[0] >= 0xd8 && codes[0] < 0xdc:
		n = 4
	}
	return min(n, len(codes))
}

// nativeText returns the text of a code in the encoding that names the font's
// character map, or "".
func (f *pdfFont) nativeText(code string) string {
	switch {
	case f.utf16:
		return utf16Text(code)
	case f.native != nil:
		if text, err := f.native.NewDecoder().String(code); err == nil && text != "\ufffd" {
			return text
		}
	}
	return ""
}

// utf16Text returns big-endian UTF-16 as UTF-8.
func utf16Text(text string) string {
	var units []uint16
	for i := 0; i+1 < len(text); i += 2 {
		units = append(units, uint16(text[i])<<8|uint16(text[i+1]))
	}
	return string(utf16.Decode(units))
}
