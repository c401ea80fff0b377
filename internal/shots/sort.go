package main

import (
	"cmp"
	"image/color"
	"slices"
)

// sortByCount puts the most frequent colours first, in an order that is the same each time.
func sortByCount(keys []color.NRGBA, count map[color.NRGBA]int) {
	slices.SortFunc(keys, func(a, b color.NRGBA) int {
		return cmp.Or(count[b]-count[a], int(number(a))-int(number(b)))
	})
}

func number(c color.NRGBA) uint32 { return uint32(c.R)<<16 | uint32(c.G)<<8 | uint32(c.B) }

func less(a, b color.NRGBA) bool { return number(a) < number(b) }
