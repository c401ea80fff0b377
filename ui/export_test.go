package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/storage"
)

// Drop drops files on the window, as the system does; the driver of the tests has no hand for it.
func (u *UI) Drop(paths ...string) {
	var list []fyne.URI
	for _, p := range paths {
		list = append(list, storage.NewFileURI(p))
	}
	u.dropped(fyne.NewPos(0, 0), list)
}
