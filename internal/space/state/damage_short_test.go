//go:build !long

package state_test

// Every so many bytes and bits; with the build tag long, all of them.
const cutStride, bitStride = 41, 311
