package document

import (
	"archive/zip"
	"bytes"
	"io"
	"strings"
	"testing"
)

func pack(t testing.TB, all parts) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(all); i += 2 {
		method := zip.Deflate
		if all[i+1] == "" {
			method = zip.Store // for a compressor is expensive to start
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: all[i], Method: method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, all[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func relationshipsXML(all ...string) string {
	var b strings.Builder
	b.WriteString(declaration +
		`<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`)
	for i := 0; i < len(all); i += 3 {
		b.WriteString(`<Relationship Id="` + all[i] + `" Type="` + officeType + all[i+1] + `" Target="` +
			all[i+2] + `"/>`)
	}
	return b.String() + `</Relationships>`
}

func docx(body string) parts {
	return parts{
		"_rels/.rels", relationshipsXML("rId2", "extended-properties", "docProps/app.xml", "rId1",
			"officeDocument", "word/document.xml"),
		"word/document.xml", declaration +
			`<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>` +
			body + `</w:body></w:document>`,
		"docProps/core.xml", `<cp:coreProperties><dc:title>Template 7</dc:title></cp:coreProperties>`,
	}
}

func pptx(slides ...string) parts {
	list, rels, all := "", []string(nil), parts{
		"_rels/.rels",
		relationshipsXML("rId1", "officeDocument", "/ppt/presentation.xml"),
	}
	for i, s := range slides {
		number := string(rune('1' + i))
		// in reverse of the file names
		list = `<p:sldId id="25` + number + `" r:id="rId` + number + `"/>` + list
		rels = append(rels, "rId"+number, "slide", "slides/slide"+number+".xml")
		all = append(all, "ppt/slides/slide"+number+".xml", declaration+`<p:sld><p:cSld><p:spTree>`+s+
			`</p:spTree></p:cSld></p:sld>`)
	}
	return append(all,
		"ppt/presentation.xml", declaration+`<p:presentation><p:sldIdLst>`+list+
			`</p:sldIdLst></p:presentation>`,
		"ppt/_rels/presentation.xml.rels", relationshipsXML(rels...))
}

func odt(body string) parts {
	return parts{
		"mimetype", "application/vnd.oasis.opendocument.text",
		"content.xml", declaration +
			`<office:document-content><office:automatic-styles><style:style style:name="P1"/></office:automatic-styles><office:body><office:text>` +
			body + `</office:text></office:body></office:document-content>`,
	}
}

func epub(chapters ...string) parts {
	items, refs := "", ""
	all := parts{"META-INF/container.xml", declaration +
		`<container><rootfiles><rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>`}
	for i, c := range chapters {
		number := string(rune('1' + i))
		items += `<item id="c` + number + `" href="text/chapter%20` + number +
			`.xhtml" media-type="application/xhtml+xml"/>`
		refs = `<itemref idref="c` + number + `"/>` + refs // in reverse of the manifest
		all = append(all, "OEBPS/text/chapter "+number+".xhtml", c)
	}
	return append(all, "OEBPS/book.opf", declaration+
		`<package><metadata><dc:title>x</dc:title></metadata><manifest>`+items+`</manifest><spine>`+refs+
		`</spine></package>`)
}
