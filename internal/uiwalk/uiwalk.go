// Package uiwalk finds controls in a window of package ui by what stands on them,
// for tests and pictures. It imports Fyne's test package and is linked into
// neither program.
package uiwalk

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"

	"vault/ui/parts"
)

// Walk calls f on every visible object below o, in drawing order, until f returns false.
func Walk(o fyne.CanvasObject, f func(fyne.CanvasObject) bool) bool {
	if o == nil || !o.Visible() {
		return true
	}
	if !f(o) {
		return false
	}
	switch o := o.(type) {
	case *fyne.Container:
		for _, c := range o.Objects {
			if !Walk(c, f) {
				return false
			}
		}
	case fyne.Widget:
		for _, c := range test.WidgetRenderer(o).Objects() {
			if !Walk(c, f) {
				return false
			}
		}
	}
	return true
}

// All returns every visible object of a type below o.
func All[T fyne.CanvasObject](o fyne.CanvasObject) []T {
	var out []T
	Walk(o, func(o fyne.CanvasObject) bool {
		if t, ok := o.(T); ok {
			out = append(out, t)
		}
		return true
	})
	return out
}

// Texts returns every piece of text that is drawn below o, in order.
func Texts(o fyne.CanvasObject) []string {
	var out []string
	for _, t := range All[*canvas.Text](o) {
		out = append(out, t.Text)
	}
	return out
}

// Text joins what is drawn below o with spaces.
func Text(o fyne.CanvasObject) string { return strings.Join(Texts(o), " ") }

// Button returns the first button whose label begins so, or nil.
func Button(o fyne.CanvasObject, label string) *parts.Button {
	for _, b := range All[*parts.Button](o) {
		if strings.HasPrefix(b.Label(), label) {
			return b
		}
	}
	return nil
}

// Choice returns the row of a radio group with a label, else the first whose label
// begins so, else nil.
func Choice(o fyne.CanvasObject, label string) *parts.Choice {
	for _, c := range All[*parts.Choice](o) {
		if c.Label == label {
			return c
		}
	}
	for _, c := range All[*parts.Choice](o) {
		if strings.HasPrefix(c.Label, label) {
			return c
		}
	}
	return nil
}

// Row returns the first operable row or item of the rail that holds the text, or nil.
func Row(o fyne.CanvasObject, text string) *parts.Tap {
	for _, t := range All[*parts.Tap](o) {
		if strings.Contains(Text(t), text) {
			return t
		}
	}
	return nil
}
