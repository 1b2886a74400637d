package document

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/xuri/excelize/v2"
)

// extractXLSX reads the sheets of a workbook as tables. A cell is shown as its number
// format shows it, a formula as the value that was last computed.
func extractXLSX(ctx context.Context, src FileSource, out *textWriter) error {
	a, err := openArchive(ctx, src.Data, out)
	if err != nil {
		return err
	}
	// The library keeps every entry in memory, and would write large ones to disk.
	if err := out.takeUnpacked(a.unpackedSize()); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	f, err := excelize.OpenReader(bytes.NewReader(src.Data), excelize.Options{
		UnzipSizeLimit: out.limits.Unpacked + 1, UnzipXMLSizeLimit: out.limits.Unpacked + 1,
		ShortDatePattern: "yyyy-mm-dd", // that of the file depends on where it is opened
	})
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	if p, err := f.GetDocProps(); err == nil {
		out.setTitle(p.Title)
	}
	names := f.GetSheetList()
	out.pages = len(names)
	for _, name := range names {
		label := "sheet " + name
		if visible, err := f.GetSheetVisible(name); err == nil && !visible {
			label += " (hidden)"
		}
		if !out.beginPart(label) {
			break
		}
		if err := writeSheet(ctx, f, name, out); err != nil {
			return err
		}
	}
	return nil
}

// maxColumns bounds the columns of one sheet that are read.
const maxColumns = 512

// writeSheet writes the rows of a sheet. Empty ones are left out.
func writeSheet(ctx context.Context, f *excelize.File, name string, out *textWriter) error {
	rows, err := f.Rows(name)
	if notTable := new(excelize.ErrSheetNotExist); errors.As(err, notTable) {
		return nil // a chart or a dialog
	}
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // nothing was written
	first := true
	for n := 0; rows.Next(); n++ {
		if n%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		cells, err := rows.Columns()
		if err != nil {
			return fmt.Errorf("sheet row %d: %w", n+1, err)
		}
		if len(cells) > maxColumns {
			cells, out.cut = cells[:maxColumns], true
		}
		if strings.TrimSpace(strings.Join(cells, "")) == "" {
			if !out.takeCells(1) {
				return nil
			}
			continue
		}
		if !out.writeRow(cells, first) {
			return nil
		}
		first = false
	}
	return rows.Error()
}
