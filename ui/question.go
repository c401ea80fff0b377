package ui

import (
	"fyne.io/fyne/v2"

	"vault/ui/look"
	"vault/ui/parts"
)

// question is the one way to decide, inside a page: rows of one size, nothing
// selected, then one button named after the row.
type question struct {
	u       *UI
	gate    *gate
	group   *parts.Group
	confirm *parts.Button
	acts    map[*parts.Choice]func()
	back    func()
	changed func() // draws anew after a choice; nil refreshes the main window
	keys    parts.Keys
	above   fyne.CanvasObject // what is to be known before, or nil
	drawn   fyne.CanvasObject // as it was drawn last
}

func newQuestion(u *UI, back func()) *question {
	q := &question{u: u, gate: &gate{now: u.opts.Now}, group: &parts.Group{}, acts: map[*parts.Choice]func(){}, back: back, keys: u}
	q.confirm = parts.NewButton(parts.Primary, "", nothing, func() {
		u.touch()
		if t := q.group.Taken(); t != nil && q.gate.open() {
			q.acts[t]()
		}
	}).Least(200)
	q.confirm.Disable()
	q.confirm.Watch(u)
	q.group.Changed = func() {
		u.touch()
		if t := q.group.Taken(); t != nil {
			q.confirm.Set("Confirm: "+t.Label, true)
		} else {
			q.confirm.Set(nothing, false)
		}
		if q.changed != nil {
			q.changed()
		} else {
			u.root.Refresh()
		}
	}
	q.gate.arm()
	return q
}

// watch lets another window hear of the keys. It is called before answers are added.
func (q *question) watch(k parts.Keys) {
	q.keys = k
	q.confirm.Watch(k)
}

// add adds an answer. Blocked, if not empty, is why it is not possible.
func (q *question) add(label, why, blocked string, act func()) *parts.Choice {
	c := q.group.Add(label, label, why, q.gate.open)
	c.Watch(q.keys)
	q.acts[c] = act
	if blocked != "" {
		c.Block(blocked)
	}
	return c
}

// view is the question on a ground of its own.
func (q *question) view(u *UI) fyne.CanvasObject {
	q.drawn = parts.Sunk(look.Ground, 6, parts.Pad(14, 14, 14, 14, q.rows(u)))
	return q.drawn
}

// rows is the question where there is a ground already.
func (q *question) rows(u *UI) fyne.CanvasObject {
	objs := []fyne.CanvasObject{}
	if q.above != nil {
		objs = append(objs, q.above, parts.Space(0, 2))
	}
	for _, c := range q.group.Choices() {
		objs = append(objs, c)
	}
	line := []fyne.CanvasObject{}
	if q.back != nil {
		line = append(line, u.button(parts.Plain, "", "Back", q.back))
	}
	line = append(line, parts.Spring(), q.confirm)
	objs = append(objs, parts.Space(0, 2), parts.Row(8, line...))
	return parts.Column(8, objs...)
}

// asked draws the page with a question that was just put, and scrolls to it.
func (u *UI) asked(q *question) {
	u.rebuild()
	u.reveal(q.drawn)
}

// reveal scrolls to what was drawn on the page, or to nothing where it is nil.
func (u *UI) reveal(drawn fyne.CanvasObject) {
	if s := u.scroll[u.page]; s != nil && drawn != nil {
		s.Reveal(drawn)
	}
}
