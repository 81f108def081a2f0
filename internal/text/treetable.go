package text

import "golang.org/x/net/html/atom"

// startTablePart takes in a start tag that is only known in tables, and adds the elements that a
// table has without their tags.
func (b *treeBuilder) startTablePart(t tag) {
	table := b.find(noBounds, atom.Table)
	if table == 0 {
		return
	}
	within := table
	switch t.atom {
	case atom.Col:
		within = b.findOrPush(table, atom.Colgroup)
	case atom.Tr:
		within = b.findOrPush(table, atom.Tbody, atom.Thead, atom.Tfoot)
	case atom.Td, atom.Th:
		if within = b.find(isTable, atom.Tr); within == 0 {
			within = b.findOrPush(b.findOrPush(table, atom.Tbody, atom.Thead, atom.Tfoot), atom.Tr)
		}
	}
	b.pop(within + 1)
	b.push(t, t.atom == atom.Col)
}

// findOrPush returns the place of the innermost element of one of these kinds in the innermost
// table. If there is none, it adds one of the first kind to the open element at place parent.
func (b *treeBuilder) findOrPush(parent int, kinds ...atom.Atom) int {
	if i := b.find(isTable, kinds...); i > 0 {
		return i
	}
	b.pop(parent + 1)
	b.push(tag{atom: kinds[0]}, false)
	return len(b.open) - 1
}
