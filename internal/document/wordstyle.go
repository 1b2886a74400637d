package document

import (
	"encoding/xml"
	"errors"
	"io/fs"
	"strconv"
	"strings"
)

// A wordStyle says what a paragraph style of a word file means for its text.
type wordStyle struct {
	heading int    // 1 to 9, 0 for no heading
	list    string // id of the list that its paragraphs belong to
}

// readWordStyles returns the styles of a word file by their ids. Ids are translated
// by localised programs ("berschrift1"), names are not ("heading 1").
func readWordStyles(a *fileArchive) (map[string]wordStyle, error) {
	styles := map[string]wordStyle{}
	id, style := "", wordStyle{}
	err := a.walkXML("word/styles.xml", func(t xml.Token) error {
		switch e := t.(type) {
		case xml.StartElement:
			switch value := xmlAttribute(e, "val"); e.Name.Local {
			case "style":
				id, style = xmlAttribute(e, "styleId"), wordStyle{}
			case "name":
				if level, ok := headingLevel(value); ok {
					style.heading = level
				}
			case "outlineLvl":
				if n, err := strconv.Atoi(value); err == nil && n < 9 && style.heading == 0 {
					style.heading = n + 1
				}
			case "numId":
				style.list = value
			}
		case xml.EndElement:
			if e.Name.Local == "style" && id != "" {
				styles[id] = style
				id = ""
			}
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return styles, err
}

// headingLevel returns the level that the name of a style means.
func headingLevel(name string) (int, bool) {
	name = strings.ToLower(name)
	if name == "title" {
		return 1, true
	}
	rest, ok := strings.CutPrefix(name, "heading ")
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(rest)
	return n, err == nil && n >= 1 && n <= 9
}

// readWordLists returns the number formats of each list's levels, by its id.
func readWordLists(a *fileArchive) (map[string][]string, error) {
	abstract := map[string][]string{}
	lists := map[string][]string{}
	inAbstract, number, level := "", "", 0
	err := a.walkXML("word/numbering.xml", func(t xml.Token) error {
		switch e := t.(type) {
		case xml.StartElement:
			value := xmlAttribute(e, "val")
			switch e.Name.Local {
			case "abstractNum":
				inAbstract = xmlAttribute(e, "abstractNumId")
			case "lvl":
				level, _ = strconv.Atoi(xmlAttribute(e, "ilvl"))
			case "numFmt":
				if formats := abstract[inAbstract]; inAbstract != "" && level == len(formats) && level < 9 {
					abstract[inAbstract] = append(formats, value)
				}
			case "num":
				number = xmlAttribute(e, "numId")
			case "abstractNumId":
				lists[number] = abstract[value]
			}
		case xml.EndElement:
			if e.Name.Local == "abstractNum" {
				inAbstract = ""
			}
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return lists, err
}
