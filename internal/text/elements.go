package text

import "golang.org/x/net/html/atom"

// isElement reports whether an end tag of that name is likely HTML.
func isElement(a atom.Atom) bool {
	return isBlock(a) || isInline(a) || isVoid(a) || isHidden(a)
}

// isUnmistakable reports whether a bare start tag of that name is hardly ever
// anything else than HTML.
func isUnmistakable(a atom.Atom) bool {
	switch a {
	case atom.Blockquote, atom.Body, atom.Br, atom.Dd, atom.Div, atom.Dl, atom.Dt,
		atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Hr, atom.Html,
		atom.Li, atom.Ol, atom.P, atom.Pre, atom.Script, atom.Style,
		atom.Tbody, atom.Td, atom.Tfoot, atom.Th, atom.Thead, atom.Tr, atom.Ul, atom.Wbr:
		return true
	}
	return false
}

// isBlock reports whether an element stands apart from the words around it.
func isBlock(a atom.Atom) bool {
	switch a {
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Br,
		atom.Caption, atom.Center, atom.Dd, atom.Details, atom.Dialog, atom.Div,
		atom.Dl, atom.Dt, atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer,
		atom.Form, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Head,
		atom.Header, atom.Hgroup, atom.Hr, atom.Html, atom.Legend, atom.Li, atom.Main,
		atom.Menu, atom.Nav, atom.Ol, atom.Optgroup, atom.Option, atom.P, atom.Pre,
		atom.Section, atom.Select, atom.Summary, atom.Table, atom.Tbody, atom.Td,
		atom.Textarea, atom.Tfoot, atom.Th, atom.Thead, atom.Title, atom.Tr, atom.Ul:
		return true
	}
	return false
}

// isInline reports whether an element is part of a line of text.
func isInline(a atom.Atom) bool {
	switch a {
	case atom.A, atom.Abbr, atom.Acronym, atom.Audio, atom.B, atom.Bdi, atom.Bdo,
		atom.Big, atom.Button, atom.Canvas, atom.Cite, atom.Code, atom.Del, atom.Dfn,
		atom.Em, atom.Font, atom.I, atom.Ins, atom.Kbd, atom.Label, atom.Mark, atom.Nobr,
		atom.Object, atom.Picture, atom.Q, atom.Ruby, atom.Rp, atom.Rt, atom.S,
		atom.Samp, atom.Small, atom.Span, atom.Strike, atom.Strong, atom.Sub, atom.Sup,
		atom.Svg, atom.Time, atom.Tt, atom.U, atom.Var, atom.Video:
		return true
	}
	return false
}

// isVoid reports whether an element never has content.
func isVoid(a atom.Atom) bool {
	switch a {
	case atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Hr, atom.Img,
		atom.Input, atom.Link, atom.Meta, atom.Param, atom.Source, atom.Track, atom.Wbr:
		return true
	}
	return false
}

// isHidden reports whether no reader sees what an element holds.
func isHidden(a atom.Atom) bool {
	switch a {
	case atom.Iframe, atom.Noembed, atom.Noframes, atom.Noscript, atom.Script,
		atom.Style, atom.Template:
		return true
	}
	return false
}

// The rest is what the HTML standard says of elements in "tree construction", and is named as
// there where it has names.

// isSpecial reports whether an element ends only with a tag of its own, whatever other end tags
// are in it.
func isSpecial(a atom.Atom) bool {
	switch a {
	case atom.Address, atom.Applet, atom.Area, atom.Article, atom.Aside, atom.Base, atom.Blockquote,
		atom.Body, atom.Br,
		atom.Button, atom.Caption, atom.Center, atom.Col, atom.Colgroup, atom.Dd, atom.Details, atom.Dir,
		atom.Div,
		atom.Dl, atom.Dt, atom.Embed, atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Form,
		atom.H1,
		atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Head, atom.Header, atom.Hgroup, atom.Hr,
		atom.Html,
		atom.Iframe, atom.Img, atom.Input, atom.Li, atom.Link, atom.Listing, atom.Main, atom.Marquee,
		atom.Menu,
		atom.Meta, atom.Nav, atom.Object, atom.Ol, atom.P, atom.Param, atom.Plaintext, atom.Pre,
		atom.Section,
		atom.Select, atom.Source, atom.Summary, atom.Table, atom.Tbody, atom.Td, atom.Template,
		atom.Textarea,
		atom.Tfoot, atom.Th, atom.Thead, atom.Title, atom.Tr, atom.Track, atom.Ul, atom.Wbr, atom.Xmp:
		return true
	}
	return false
}

// isFormatting reports whether an element stays in force after the block in which it was opened.
func isFormatting(a atom.Atom) bool {
	switch a {
	case atom.A, atom.B, atom.Big, atom.Code, atom.Em, atom.Font, atom.I, atom.Nobr, atom.S,
		atom.Small,
		atom.Strike, atom.Strong, atom.Tt, atom.U:
		return true
	}
	return false
}

func isHeading(a atom.Atom) bool {
	switch a {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return true
	}
	return false
}

// endsParagraph reports whether a paragraph ends where such an element begins.
func endsParagraph(a atom.Atom) bool {
	switch a {
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Center, atom.Details,
		atom.Dialog, atom.Dir,
		atom.Div, atom.Dl, atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Header,
		atom.Hgroup, atom.Main,
		atom.Menu, atom.Nav, atom.Ol, atom.P, atom.Section, atom.Summary, atom.Ul, atom.Pre, atom.Listing,
		atom.Li,
		atom.Dd, atom.Dt, atom.Plaintext, atom.Xmp, atom.Hr, atom.Table:
		return true
	}
	return isHeading(a)
}

// isIgnored reports whether a tag is passed over.
func isIgnored(a atom.Atom) bool { return a == atom.Head || a == atom.Frame || a == atom.Frameset }

// isLeftOut reports whether what an element holds is no text, or none that is seen in the page.
func isLeftOut(a atom.Atom) bool {
	switch a {
	case atom.Script, atom.Style, atom.Noscript, atom.Iframe, atom.Noembed, atom.Noframes, atom.Svg,
		atom.Title:
		return true
	}
	return false
}

// isTablePart reports whether an element is known only in tables.
func isTablePart(a atom.Atom) bool {
	return isTableFrame(a) && a != atom.Table || isCell(a) || a == atom.Col || a == atom.Colgroup
}

// isTableFrame reports whether an element of a table holds neither text nor elements but parts of
// tables.
func isTableFrame(a atom.Atom) bool {
	switch a {
	case atom.Table, atom.Tbody, atom.Thead, atom.Tfoot, atom.Tr:
		return true
	}
	return false
}

func isCell(a atom.Atom) bool { return a == atom.Td || a == atom.Th || a == atom.Caption }

// These are bounds beyond which open elements are not looked for.

func noBounds(atom.Atom) bool { return false }

func isTable(a atom.Atom) bool { return a == atom.Table }

func isMarker(a atom.Atom) bool {
	return isCell(a) || a == atom.Applet || a == atom.Marquee || a == atom.Object || a == atom.Template
}

func isScope(a atom.Atom) bool { return isMarker(a) || a == atom.Table }

func isButtonScope(a atom.Atom) bool { return isScope(a) || a == atom.Button }
