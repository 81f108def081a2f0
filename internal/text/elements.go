package text

import "golang.org/x/net/html/atom"

// isElement tells whether an end tag of that name is likely HTML.
func isElement(a atom.Atom) bool {
	return isBlock(a) || isInline(a) || isVoid(a) || isHidden(a)
}

// isUnmistakable tells whether a bare start tag of that name is hardly ever
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

// isBlock tells whether an element stands apart from the words around it.
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

// isInline tells whether an element is part of a line of text.
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

// isVoid tells whether an element never has content.
func isVoid(a atom.Atom) bool {
	switch a {
	case atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Hr, atom.Img,
		atom.Input, atom.Link, atom.Meta, atom.Param, atom.Source, atom.Track, atom.Wbr:
		return true
	}
	return false
}

// isHidden tells whether no reader sees what an element holds.
func isHidden(a atom.Atom) bool {
	switch a {
	case atom.Iframe, atom.Noembed, atom.Noframes, atom.Noscript, atom.Script,
		atom.Style, atom.Template:
		return true
	}
	return false
}
