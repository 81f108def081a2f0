//go:build long

package check

// Long reports whether tests go through all that they could, even where it takes long.
const Long = true
