package document

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
)

// extractPDF reads the text of each page (ISO 32000-2), by poppler's pdftotext where
// it is installed, else by a library that reads the objects of the file and an
// interpreter of their text operators. Scanned pages have no text unless the scanner
// has recognized it.
func extractPDF(ctx context.Context, src FileSource, out *textWriter) error {
	tool := out.limits.PDFTool
	if tool == "" {
		tool = FindTool()
	}
	if tool != "" && tool != "-" {
		text, err := runTextTool(ctx, tool, src.Data, out.limits)
		switch {
		case errors.Is(err, ErrEncrypted):
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			writeToolPages(text, out)
			return nil
		}
	}
	return extractPDFObjects(ctx, src, out)
}

// extractPDFObjects reads a file without a program.
func extractPDFObjects(ctx context.Context, src FileSource, out *textWriter) error {
	if at := bytes.Index(src.Data[:min(len(src.Data), 1024)], []byte("%PDF-")); at > 0 {
		src.Data = src.Data[at:] // offsets count from the signature
	}
	if err := checkStreams(ctx, src.Data, out); err != nil {
		return err
	}
	file, err := pdfcpu.ReadWithContext(ctx, bytes.NewReader(src.Data), pdfSettings(out))
	switch {
	case errors.Is(err, pdfcpu.ErrWrongPassword):
		return fmt.Errorf("%w: %w", ErrEncrypted, err)
	case err != nil:
		return err
	}
	if err := file.EnsurePageCount(); err != nil {
		return err
	}
	r := &pdfReader{ctx: ctx, file: file.XRefTable, out: out, fonts: map[types.IndirectRef]*pdfFont{}, drawing: map[types.IndirectRef]bool{}}
	if file.Info != nil {
		if info, err := file.DereferenceDict(*file.Info); err == nil && info != nil {
			if title, err := file.DereferenceText(info["Title"]); err == nil {
				out.setTitle(title)
			}
		}
	}
	out.pages = file.PageCount
	for n := 1; n <= file.PageCount && !out.full(); n++ {
		if err := r.writePage(n); err != nil {
			return err
		}
	}
	switch {
	case out.said:
	case r.unreadable > 0:
		return fmt.Errorf("%w: %w", ErrDamaged, r.pageError)
	case r.unmapped > 0:
		return &ExtractError{Problem: ErrNoText, Hint: "its fonts do not tell which letters they show, so its text cannot be read; send the document it was made of"}
	}
	return nil
}

// pdfSettings returns settings of the library that need no files, call nobody and
// hold the limits.
func pdfSettings(out *textWriter) *model.Configuration {
	limits := model.DefaultResourceLimits()
	limits.MaxStreamBytes = int64(out.limits.Input)
	limits.MaxDecodeBytes = min(32<<20, out.limits.Unpacked)
	limits.MaxObjectCount, limits.MaxXRefEntries, limits.MaxObjectStreamCount = 500_000, 500_000, 10_000
	limits.MaxRecursionDepth = min(limits.MaxRecursionDepth, out.limits.Depth)
	return &model.Configuration{
		Reader15: true, DecodeAllStreams: false, ValidationMode: model.ValidationRelaxed, Offline: true, Limits: limits,
		Cmd: model.EXTRACTCONTENT,
	}
}

// A pdfReader reads the pages of one file.
type pdfReader struct {
	ctx        context.Context //nolint:containedctx // of one call of Extract
	file       *model.XRefTable
	out        *textWriter
	fonts      map[types.IndirectRef]*pdfFont
	drawing    map[types.IndirectRef]bool // forms that are being run
	operators  int                        // that were run, in all pages
	unreadable int                        // pages
	pageError  error                      // of the last of them
	unmapped   int                        // characters of fonts that do not tell their letters
}

// maxOperators bounds the operators of one file: a form may be drawn by many others.
const maxOperators = 20_000_000

// writePage writes the text of a page and of the forms that are filled in on it. A
// page that cannot be read is marked, and does not end the document.
func (r *pdfReader) writePage(n int) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	if !r.out.beginPart(fmt.Sprintf("page %d", n)) {
		return nil
	}
	layout := &pdfLayout{}
	page, _, inherited, err := r.file.PageDict(n, false)
	if err == nil {
		err = r.runPage(page, inherited, n, layout)
	}
	switch {
	case r.ctx.Err() != nil:
		return r.ctx.Err()
	case errors.Is(err, ErrTooLarge):
		return err
	case err != nil && layout.text() == "":
		r.unreadable, r.pageError = r.unreadable+1, err
		r.out.add("(this page cannot be read)")
	}
	r.out.writeBlock(layout.text())
	return nil
}

// runPage runs the content of a page and of its annotations.
func (r *pdfReader) runPage(page types.Dict, inherited *model.InheritedPageAttrs, n int, layout *pdfLayout) error {
	resources := r.dict(page["Resources"])
	if resources == nil && inherited != nil {
		resources = inherited.Resources
	}
	content, err := r.file.PageContent(page, n)
	if err != nil && !errors.Is(err, model.ErrNoContent) {
		return err
	}
	if err := r.out.takeUnpacked(int64(len(content))); err != nil {
		return err
	}
	if err := r.run(content, resources, identityMatrix, layout, 0); err != nil {
		return err
	}
	annotations, _ := r.file.DereferenceArray(page["Annots"])
	for _, a := range annotations {
		if err := r.runAnnotation(r.dict(a), layout); err != nil {
			return err
		}
	}
	return nil
}

// runAnnotation runs the appearance of a text box on the page, and writes what is
// filled in in a form field.
func (r *pdfReader) runAnnotation(a types.Dict, layout *pdfLayout) error {
	switch kind := r.name(a["Subtype"]); {
	case kind == "Widget":
		r.writeField(a, layout)
		return nil
	case kind != "FreeText":
		return nil
	}
	looks := r.dict(a["AP"])
	normal, _ := r.file.Dereference(looks["N"])
	form, ok := normal.(types.StreamDict)
	if !ok {
		return nil
	}
	at := identityMatrix
	if box := r.numbers(a["Rect"]); len(box) == 4 {
		at[4], at[5] = min(box[0], box[2]), min(box[1], box[3])
	}
	return r.runForm(form, nil, at, layout, 0)
}

// writeField writes the name and the value of a form field (ISO 32000-2, 12.7). A
// field inherits what its widget does not say.
func (r *pdfReader) writeField(widget types.Dict, layout *pdfLayout) {
	label, value, kind := "", "", ""
	for d, depth := widget, 0; d != nil && depth < 16; d, depth = r.dict(d["Parent"]), depth+1 {
		for _, key := range []string{"TU", "T"} {
			if text, err := r.file.DereferenceText(d[key]); err == nil && label == "" {
				label = text
			}
		}
		if kind == "" {
			kind = r.name(d["FT"])
		}
		if value == "" && d["V"] != nil {
			value = r.fieldValue(d["V"])
		}
	}
	if state := r.name(widget["AS"]); kind == "Btn" {
		value = state // of this button among those of the field
	}
	if value != "" && value != "Off" {
		layout.writeLine(label + ": " + value)
	}
}

// fieldValue returns the value of a field as text.
func (r *pdfReader) fieldValue(o types.Object) string {
	o, _ = r.file.Dereference(o)
	switch v := o.(type) {
	case types.Name:
		return v.Value()
	case types.Array:
		var all []string
		for _, item := range v {
			if text, err := r.file.DereferenceText(item); err == nil {
				all = append(all, text)
			}
		}
		return strings.Join(all, ", ")
	case types.StringLiteral, types.HexLiteral:
		text, _ := r.file.DereferenceText(v)
		return text
	}
	return ""
}

// maxForms is how deep forms may be drawn within each other.
const maxForms = 12

// runForm runs the content of a form, which may have resources of its own.
func (r *pdfReader) runForm(form types.StreamDict, resources types.Dict, at pdfMatrix, layout *pdfLayout, depth int) error {
	if depth > maxForms {
		return nil
	}
	content, err := r.decode(&form)
	if err != nil {
		return err
	}
	if own := r.dict(form.Dict["Resources"]); own != nil {
		resources = own
	}
	if m := r.numbers(form.Dict["Matrix"]); len(m) == 6 {
		at = pdfMatrix(m).multiply(at)
	}
	return r.run(content, resources, at, layout, depth+1)
}

// decode returns the bytes of a stream, and counts them.
func (r *pdfReader) decode(s *types.StreamDict) ([]byte, error) {
	known := s.Content != nil
	if err := s.DecodeWithLimit(min(32<<20, r.out.limits.Unpacked)); err != nil {
		return nil, err
	}
	if !known {
		if err := r.out.takeUnpacked(int64(len(s.Content))); err != nil {
			return nil, err
		}
	}
	return s.Content, nil
}

// dict returns an object as a dictionary, or nil.
func (r *pdfReader) dict(o types.Object) types.Dict {
	if o == nil {
		return nil
	}
	switch d, _ := r.file.Dereference(o); d := d.(type) {
	case types.Dict:
		return d
	case types.StreamDict:
		return d.Dict
	}
	return nil
}

// name returns an object as a name, or "".
func (r *pdfReader) name(o types.Object) string {
	o, _ = r.file.Dereference(o)
	n, _ := o.(types.Name)
	return n.Value()
}

// number returns an object as a number.
func (r *pdfReader) number(o types.Object) (float64, bool) {
	o, _ = r.file.Dereference(o)
	switch n := o.(type) {
	case types.Integer:
		return float64(n.Value()), true
	case types.Float:
		return n.Value(), true
	}
	return 0, false
}

// numbers returns an object as an array of numbers, or nil.
func (r *pdfReader) numbers(o types.Object) []float64 {
	o, _ = r.file.Dereference(o)
	a, _ := o.(types.Array)
	var found []float64
	for _, item := range a {
		n, ok := r.number(item)
		if !ok {
			return nil
		}
		found = append(found, n)
	}
	return found
}
