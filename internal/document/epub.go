package document

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"strings"
)

// extractEPUB reads the chapters of a book (EPUB 2 and 3) in the order of its spine.
func extractEPUB(ctx context.Context, src FileSource, out *textWriter) error {
	a, err := openArchive(ctx, src.Data, out)
	if err != nil {
		return err
	}
	if _, protected := a.entries["META-INF/rights.xml"]; protected {
		return ErrEncrypted
	}
	opf := ""
	err = a.walkXML("META-INF/container.xml", func(t xml.Token) error {
		if e, ok := t.(xml.StartElement); ok && e.Name.Local == "rootfile" && opf == "" {
			opf = xmlAttribute(e, "full-path")
		}
		return nil
	})
	if err != nil {
		return err
	}
	chapters, err := bookChapters(a, opf)
	if err != nil {
		return err
	}
	out.pages = len(chapters)
	for i, name := range chapters {
		data, err := a.readAll(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if !out.beginPart(fmt.Sprintf("chapter %d", i+1)) {
			break
		}
		if err := extractHTML(ctx, FileSource{Data: data}, out); err != nil {
			return err
		}
	}
	return nil
}

// bookChapters returns the entries of a package document's spine, and sets the title.
func bookChapters(a *fileArchive, opf string) ([]string, error) {
	items := map[string]string{}
	var spine []string
	title, inTitle := "", false
	err := a.walkXML(opf, func(t xml.Token) error {
		switch e := t.(type) {
		case xml.StartElement:
			inTitle = e.Name.Local == "title" && title == ""
			switch e.Name.Local {
			case "item":
				if href, err := url.PathUnescape(xmlAttribute(e, "href")); err == nil {
					items[xmlAttribute(e, "id")] = path.Join(path.Dir(opf), href)
				}
			case "itemref":
				spine = append(spine, xmlAttribute(e, "idref"))
			}
		case xml.EndElement:
			inTitle = false
		case xml.CharData:
			if inTitle {
				title += string(e)
			}
		}
		return nil
	})
	a.out.setTitle(strings.TrimSpace(title))
	var names []string
	for _, id := range spine {
		if items[id] != "" {
			names = append(names, items[id])
		}
	}
	return names, err
}
