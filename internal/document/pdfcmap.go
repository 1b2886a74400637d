package document

// A cmapCode is a character code and its length in bytes.
type cmapCode struct {
	code  uint32
	bytes int
}

// A pdfCMap maps character codes to text or to numbers of characters (ISO 32000-2,
// 9.7.5 and 9.10.3).
type pdfCMap struct {
	text   map[cmapCode]string
	cids   map[cmapCode]uint32
	spaces []cmapSpace
}

// A cmapSpace is a range of codes of one length.
type cmapSpace struct {
	low, high string
}

// maxCMapEntries bounds what the ranges of one map expand to.
const maxCMapEntries = 1 << 17

// parseCMap reads a character map. What it does not understand, it leaves out.
func parseCMap(content []byte) *pdfCMap {
	m := &pdfCMap{text: map[cmapCode]string{}, cids: map[cmapCode]uint32{}}
	lex := &pdfLexer{data: content}
	var args []pdfOperand
	for {
		o, ok := lex.next()
		if !ok {
			return m
		}
		if o.kind != operandKeyword {
			if o.kind != operandMark && len(args) < 1<<16 {
				args = append(args, o)
			}
			continue
		}
		switch o.text {
		case "endcodespacerange":
			for ; len(args) >= 2; args = args[2:] {
				if low, high := args[0].text, args[1].text; low != "" && len(low) == len(high) && len(low) <= 4 {
					m.spaces = append(m.spaces, cmapSpace{low, high})
				}
			}
		case "endbfchar":
			for ; len(args) >= 2; args = args[2:] {
				m.addText(codeOf(args[0].text), args[1])
			}
		case "endbfrange":
			for ; len(args) >= 3; args = args[3:] {
				m.addTextRange(codeOf(args[0].text), codeOf(args[1].text), args[2])
			}
		case "endcidchar":
			for ; len(args) >= 2; args = args[2:] {
				m.addCIDs(codeOf(args[0].text), codeOf(args[0].text), args[1])
			}
		case "endcidrange":
			for ; len(args) >= 3; args = args[3:] {
				m.addCIDs(codeOf(args[0].text), codeOf(args[1].text), args[2])
			}
		}
		args = args[:0]
	}
}

func codeOf(text string) cmapCode {
	code := uint32(0)
	for i := range min(len(text), 4) {
		code = code<<8 | uint32(text[i])
	}
	return cmapCode{code, min(len(text), 4)}
}

// addText maps a code to text, which may also be named as a glyph.
func (m *pdfCMap) addText(code cmapCode, to pdfOperand) {
	if len(m.text) >= maxCMapEntries || code.bytes == 0 {
		return
	}
	switch to.kind {
	case operandString:
		m.text[code] = utf16Text(to.text)
	case operandName:
		m.text[code] = glyphLetters(to.text)
	default: // a map has no others
	}
}

// addTextRange maps codes to texts: each to one of an array, or each to the text of
// the one before with its last byte increased.
func (m *pdfCMap) addTextRange(low, high cmapCode, to pdfOperand) {
	for i := uint32(0); low.code+i <= high.code && i < 1<<16; i++ {
		code := cmapCode{low.code + i, low.bytes}
		switch {
		case to.kind == operandArray && int(i) < len(to.items):
			m.addText(code, to.items[i])
		case to.kind == operandString && len(to.text) >= 2:
			text := []byte(to.text)
			last := uint32(text[len(text)-2])<<8 | uint32(text[len(text)-1])
			last += i
			text[len(text)-2], text[len(text)-1] = byte(last>>8), byte(last)
			m.addText(code, pdfOperand{kind: operandString, text: string(text)})
		default:
			return
		}
	}
}

func (m *pdfCMap) addCIDs(low, high cmapCode, to pdfOperand) {
	for i := uint32(0); low.code+i <= high.code && i < 1<<16 && len(m.cids) < maxCMapEntries; i++ {
		m.cids[cmapCode{low.code + i, low.bytes}] = uint32(to.number) + i
	}
}

// lookup returns the text of a code. A map may write a code with more bytes than the
// font, or with fewer.
func (m *pdfCMap) lookup(code uint32, bytes int) (string, bool) {
	if m == nil {
		return "", false
	}
	for _, n := range []int{bytes, 2, 1} {
		if text, ok := m.text[cmapCode{code, n}]; ok {
			return text, text != ""
		}
	}
	return "", false
}

// codeLength returns the length of the first code of a string by the ranges of codes.
func (m *pdfCMap) codeLength(codes string) int {
	for n := 1; n <= min(4, len(codes)); n++ {
		for _, s := range m.spaces {
			if len(s.low) == n && inSpace(codes[:n], s) {
				return n
			}
		}
	}
	if len(m.spaces) > 0 {
		return len(m.spaces[0].low)
	}
	return 2
}

// inSpace reports whether each byte of a code is within the range's.
func inSpace(code string, s cmapSpace) bool {
	for i := range len(code) {
		if code[i] < s.low[i] || code[i] > s.high[i] {
			return false
		}
	}
	return true
}
