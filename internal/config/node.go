package config

import "github.com/goccy/go-yaml/ast"

// keyName returns the name that a plain or quoted key bears.
func keyName(key ast.MapKeyNode) (string, bool) {
	if key.IsMergeKey() {
		return "", false
	}
	return scalarText(key)
}

// scalarText returns the text of a scalar as written: what type it is follows from
// the key that it is for, never from how it looks. A null has no text.
func scalarText(node ast.Node) (string, bool) {
	switch node := node.(type) {
	case *ast.StringNode:
		return node.Value, true
	case *ast.LiteralNode:
		return node.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return node.GetToken().Value, true
	}
	return "", false
}

func describe(node ast.Node) string {
	switch node.(type) {
	case nil, *ast.NullNode:
		return "nothing"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.MergeKeyNode:
		return "a merge key (clusterd takes none)"
	case *ast.AnchorNode:
		return "an anchor (clusterd takes none)"
	case *ast.AliasNode:
		return "an alias (clusterd takes none)"
	case *ast.TagNode:
		return "a tag (clusterd takes none)"
	case *ast.MappingKeyNode:
		return "a complex key"
	case *ast.DirectiveNode:
		return "a directive"
	}
	return "a single value"
}

// start returns where a node begins. The token of a block mapping is its first
// colon, so the key before it is taken.
func start(node ast.Node) position {
	if m, ok := node.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		return start(m.Values[0].Key)
	}
	return positionOf(node.GetToken())
}

// startOr returns where a node begins, or pos for a value that is not there.
func startOr(node ast.Node, pos position) position {
	switch node.(type) {
	case nil, *ast.NullNode:
		return pos
	}
	return start(node)
}
