package sow

import (
	"bytes"
	"strings"

	"vault/derive/jcs"
)

// A blank of a draft is a text of this form wherever the value belongs.
const (
	blankBegin = "[fill in: "
	blankEnd   = "]"
)

// Blank is what stands in a draft for something that is to be filled in. The
// name says what, in words of ours.
func Blank(name string) string { return blankBegin + name + blankEnd }

// BlankLeft is a blank that was not filled in.
type BlankLeft struct {
	Member string // path
	Name   string // what is to be filled in
}

// Blanks lists what is left to be filled in, in the order of the document.
func Blanks(v jcs.Value) (out []BlankLeft) {
	v.Leaves(func(path string, leaf jcs.Value) {
		if name, ok := strings.CutPrefix(leaf.Text(), blankBegin); ok && strings.HasSuffix(name, blankEnd) {
			out = append(out, BlankLeft{path, strings.TrimSuffix(name, blankEnd)})
		}
	})
	return out
}

// blanks reports what is left to be filled in. A document almost never has any,
// so its leaves are looked at only where there could be one.
func (c *checker) blanks(d *Document) {
	if !bytes.Contains(d.canonical, []byte(`"`+blankBegin)) {
		return
	}
	for _, b := range Blanks(d.v.Without("signatures")) {
		c.detail("blank_left", b.Member, "It is for: "+quote(b.Name)+".")
	}
}
