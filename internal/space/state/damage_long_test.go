//go:build long

package state_test

const cutStride, bitStride = 1, 1
