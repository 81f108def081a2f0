package capped

import "slices"

// most is how many items are in a block.
const most = 256

// A list is items in an order, in blocks, none of which is empty. A query reads neighbours that
// stand together, and an insertion moves no more than a block.
type list [][]item

// A place is where an item is in a list, or where it would be put; at the end of the list, that is
// behind its last block.
type place struct{ block, at int }

// search returns the place of the first item that is not before a key.
func (l list) search(k *key) place {
	low, high := 0, len(l)
	for low < high {
		middle := (low + high) / 2
		if block := l[middle]; k.isBehind(&block[len(block)-1]) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	p := place{block: low}
	if low == len(l) {
		return p
	}
	for low, high = 0, len(l[p.block])-1; low < high; {
		middle := (low + high) / 2
		if k.isBehind(&l[p.block][middle]) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	p.at = low
	return p
}

// insert puts an item at a place.
func (l *list) insert(p place, it item) {
	switch {
	case len(*l) == 0:
		*l = append(*l, []item{it})
		return
	case p.block == len(*l):
		p.block--
		p.at = len((*l)[p.block])
	}
	block := slices.Insert((*l)[p.block], p.at, it)
	(*l)[p.block] = block
	if half := len(block) / 2; len(block) > most {
		*l = slices.Insert(*l, p.block+1, slices.Clone(block[half:]))
		(*l)[p.block] = block[:half]
	}
}

// remove removes the item at a place, and a block that is then small enough to be part of the next.
func (l *list) remove(p place) {
	block := slices.Delete((*l)[p.block], p.at, p.at+1)
	(*l)[p.block] = block
	if p.block+1 < len(*l) && len(block)+len((*l)[p.block+1]) <= most/2 {
		(*l)[p.block] = append(block, (*l)[p.block+1]...)
		p.block++
	} else if len(block) > 0 {
		return
	}
	*l = slices.Delete(*l, p.block, p.block+1)
}

// next returns the item at a place, nil at the end, and goes on to the next one.
func (l list) next(p *place) *item {
	if p.block == len(l) {
		return nil
	}
	it := &l[p.block][p.at]
	if p.at++; p.at == len(l[p.block]) {
		p.block, p.at = p.block+1, 0
	}
	return it
}

// previous goes back to the item before a place, and returns it; nil at the beginning.
func (l list) previous(p *place) *item {
	if p.at == 0 {
		if p.block == 0 {
			return nil
		}
		p.block--
		p.at = len(l[p.block])
	}
	p.at--
	return &l[p.block][p.at]
}
