package pinyin

// How often letters occur, in ten thousandths, from a to z; at least 1, so that what is not
// expected at all can be measured too.
type frequencies [26]int

// initials are those of pinyin syllables: of the characters of all words of gse's
// dictionary, by the frequencies it gives to the words. A test counts them.
var initials = frequencies{
	49, 469, 463, 658, 59, 319, 565, 451, 1, 802, 194, 513, 382,
	180, 4, 127, 358, 241, 920, 343, 1, 1, 358, 612, 901, 1032,
}

// english are those of English text: P. Norvig, "English Letter Frequency Counts: Mayzner
// Revisited", 2012.
var english = frequencies{
	804, 148, 334, 382, 1249, 240, 187, 505, 757, 16, 54, 407, 251,
	723, 764, 214, 12, 628, 651, 928, 273, 105, 168, 23, 166, 9,
}
