package ui

import (
	"fmt"

	"fyne.io/fyne/v2"

	"vault/approvals/sow"
	"vault/approvals/sow/page"
	"vault/ui/hostile"
	"vault/ui/look"
	"vault/ui/parts"
)

// drawn is a document's page as rows for a [virtual] column, with the places
// of its clauses and the long texts, which live as long as the window.
type drawn struct {
	rows    []func() fyne.CanvasObject
	clauses []place
	blocks  map[string]*hostile.Block
	watch   func(*hostile.Block)
}

// place is where a heading of the index begins.
type place struct {
	title string
	grade string // shown in the index, "" for none
	row   int
}

// runs are the runs of a piece of the page. Text from outside goes through
// package hostile; what is longer than a line or a few is shown by a block.
func runs(style look.Style, ink fyne.ThemeColorName, spans []page.Span) []look.Run {
	var out []look.Run
	for _, s := range spans {
		switch {
		case !s.Outside:
			out = append(out, look.Run{Text: s.Text, Style: style, Color: ink})
		case s.Code:
			m := look.MonoS.Box(style.Line)
			if style.Bold {
				m = look.MonoSB.Box(style.Line)
			}
			out = append(out, hostile.Runs(m, ink, s.Text)...)
		default:
			st := style
			st.Medium = false
			out = append(out, hostile.Runs(st, ink, s.Text)...)
		}
	}
	return out
}

func (d *drawn) add(make func() fyne.CanvasObject) { d.rows = append(d.rows, make) }

// long are the texts of a row that a line cannot show.
func (d *drawn) long(key string, spans ...[]page.Span) []fyne.CanvasObject {
	var out []fyne.CanvasObject
	for i, list := range spans {
		for j, s := range list {
			if !s.Outside || !hostile.Long(s.Text) {
				continue
			}
			k := fmt.Sprintf("%s %d %d", key, i, j)
			b := d.blocks[k]
			if b == nil {
				b = hostile.NewBlock(s.Text, s.Code, 4, 14)
				if d.watch != nil {
					d.watch(b)
				}
				d.blocks[k] = b
			}
			out = append(out, parts.Space(0, 6), b)
		}
	}
	return out
}

// gradeSign is a grade at the right edge: shape, word, and what is earned
// where that is less.
func gradeSign(g *page.Grade) fyne.CanvasObject {
	if g == nil {
		return parts.Space(0, 0)
	}
	right := func(p *look.Paragraph) *look.Paragraph { p.Align = fyne.TextAlignTrailing; return p }
	if !g.Known {
		return right(look.Para(append(hostile.Runs(look.MonoS, look.Warn, g.Stated), look.Run{Text: " is no grade", Style: look.Caption, Color: look.Warn})...))
	}
	ink := gradeInk(g.Shown())
	list := []fyne.CanvasObject{parts.Row(7, parts.Spring(), parts.Pad(2, 0, 0, 0, look.NewIcon(g.Shown(), 11, ink)), look.Word(look.SmallM.Box(20), ink, page.Word(g.Shown())))}
	switch {
	case g.Differs():
		list = append(list, right(look.Text(look.Caption, look.Warn, "earned: "+page.Word(g.Earned))))
	case g.Implied:
		list = append(list, right(look.Text(look.Caption, look.Ink3, "not stated")))
	}
	return parts.Column(0, list...)
}

func gradeInk(grade string) fyne.ThemeColorName {
	switch grade {
	case sow.Enforced:
		return look.Enforced
	case sow.Evidence:
		return look.Evidence
	}
	return look.Recorded
}

// Widths of a clause's line at 100 percent.
const (
	clauseTitle = 128
	clauseGrade = 104
	clauseName  = 190
)

// clauseLine is one line of a clause: its title on the first line only.
func clauseLine(title string, body, grade fyne.CanvasObject) fyne.CanvasObject {
	return parts.Cells(0, []float32{clauseTitle, 0, clauseGrade}, parts.Pad(0, 12, 0, 0, look.Text(look.SmallB.Box(20), look.Ink, title)), body, grade)
}

// drawPage makes the rows of a page. Below the remark on its contract language stands what below gives, if it is not nil.
func drawPage(p *page.Page, watch func(*hostile.Block), below func() fyne.CanvasObject) *drawn {
	d := &drawn{blocks: map[string]*hostile.Block{}, watch: watch}
	d.add(func() fyne.CanvasObject {
		return parts.Pad(0, 0, 16, 0, parts.Equal(12, partyBox(p.Parties[0]), partyBox(p.Parties[1])))
	})
	d.add(func() fyne.CanvasObject { return parts.Pad(0, 0, 20, 0, gradientBar(p.Bar)) })
	d.add(func() fyne.CanvasObject { return parts.Pad(0, 0, 18, 0, figures(p.Figures)) })
	var later []page.Notice
	for _, n := range p.Notices {
		if n.Tone == page.Calm && n.Member != "language" {
			later = append(later, n)
			continue
		}
		d.add(func() fyne.CanvasObject {
			strip := noticeStrip(n)
			if n.Member == "language" && n.Tone == page.Calm && below != nil {
				strip = parts.Column(6, strip, below())
			}
			return parts.Pad(0, 0, 8, 0, strip)
		})
	}
	group := ""
	for i, c := range p.Clauses {
		if c.Group != group {
			group = c.Group
			at := place{title: group, row: len(d.rows)}
			if g := c.Counts(); g != nil {
				at.grade = g.Shown()
			}
			d.clauses = append(d.clauses, at)
		}
		d.clause(fmt.Sprint(i), c)
	}
	if len(later) > 0 {
		d.clauses = append(d.clauses, place{title: "Remarks", row: len(d.rows)})
		d.add(func() fyne.CanvasObject { return parts.Column(0, parts.Hair(), parts.Space(0, 14)) })
		for i, n := range later {
			title := ""
			if i == 0 {
				title = "Remarks of the vault"
			}
			d.add(func() fyne.CanvasObject {
				return parts.Pad(0, 0, 8, 0, clauseLine(title, parts.Column(0, look.Para(runs(look.Body, look.Ink, n.What)...), look.Para(runs(look.Small, look.Ink3, n.More)...)), parts.Space(0, 0)))
			})
		}
	}
	if len(p.Records) > 0 {
		d.clauses = append(d.clauses, place{title: "Signatures", row: len(d.rows)})
		for i, r := range p.Records {
			d.add(func() fyne.CanvasObject { return recordLine(r, i == 0) })
		}
	}
	if t := p.Language.Text; t != "" {
		d.clauses = append(d.clauses, place{title: "Contract language", row: len(d.rows)})
		b := hostile.NewBlock(t, false, 4, 16)
		if watch != nil {
			watch(b)
		}
		d.blocks["language"] = b
		d.add(func() fyne.CanvasObject {
			return parts.Pad(14, 0, 0, 0, parts.Column(8, section("The text of the contract language, as it was brought"), b))
		})
	}
	d.add(func() fyne.CanvasObject {
		return parts.Pad(14, 0, 24, 0, parts.Column(14, parts.Hair(), parts.Note("info", look.Ink3, page.LegalStatus())))
	})
	return d
}

// clause adds the rows of a clause. Rows of access stand in one box.
func (d *drawn) clause(key string, c page.Clause) {
	title := c.Title
	first := true
	line := func(last bool, body func() fyne.CanvasObject, grade *page.Grade) {
		t, g := title, grade
		top, bottom := float32(0), float32(6)
		if first {
			top = 14
			if g == nil {
				g = c.Grade
			}
		} else {
			t = ""
		}
		if last {
			bottom = 14
		}
		head := first
		first = false
		d.add(func() fyne.CanvasObject {
			o := fyne.CanvasObject(parts.Pad(top, 0, bottom, 0, clauseLine(t, body(), gradeSign(g))))
			if head {
				return parts.Column(0, parts.Hair(), o)
			}
			return o
		})
	}
	if len(c.Rows) == 0 {
		line(true, func() fyne.CanvasObject { return parts.Space(0, 20) }, nil)
		return
	}
	for i := 0; i < len(c.Rows); {
		r := c.Rows[i]
		if r.Kind == page.Access {
			j := i + 1
			for j < len(c.Rows) && j-i < 12 && inBox(c.Rows[j]) {
				j++
			}
			group := c.Rows[i:j]
			line(j == len(c.Rows), func() fyne.CanvasObject { return accessBox(group) }, nil)
			i = j
			continue
		}
		k := fmt.Sprint(key, ".", i)
		i++
		// The first row's own grade would hide the clause's.
		if first && r.Grade != nil && c.Grade != nil {
			line(false, func() fyne.CanvasObject { return parts.Space(0, 0) }, nil)
		}
		line(i == len(c.Rows), func() fyne.CanvasObject { return d.row(k, r) }, r.Grade)
	}
}

// inBox says that a row belongs to the access above it.
func inBox(r page.Row) bool {
	return r.Kind == page.Access || r.Kind == page.Fact && len(r.Name) == 1 && r.Name[0].Text == "where it is" || r.Kind == page.Nothing && len(r.Name) == 1 && r.Name[0].Text == "for how long"
}

// row is the body of one row.
func (d *drawn) row(key string, r page.Row) fyne.CanvasObject {
	ink, more := look.Ink, look.Ink2
	switch r.Kind {
	case page.Remark:
		ink = look.Ink2
	case page.Nothing:
		ink = look.Ink3
	}
	if r.Warn {
		more = look.Warn
	}
	var o fyne.CanvasObject
	switch {
	case len(r.Name) == 0 && r.Warn:
		o = parts.RowTop(8, parts.Pad(3, 0, 0, 0, look.NewIcon("warning", 14, look.Warn)), parts.Grow(look.Para(runs(look.Body, look.Ink, r.Value)...)))
	case len(r.Name) == 0:
		o = look.Para(runs(look.Body, ink, r.Value)...)
	case r.Kind == page.Amount:
		n := look.Para(runs(look.Body, look.Ink, r.Value)...)
		n.Align = fyne.TextAlignTrailing
		tail := look.Para(runs(look.Body, more, r.More)...)
		o = parts.Cells(8, []float32{clauseName, 92, 0}, look.Para(runs(look.Body, look.Ink, r.Name)...), n, tail)
	default:
		value := runs(look.Body, ink, r.Value)
		if len(r.More) > 0 {
			value = append(append(value, look.Run{Text: "  ", Style: look.Body, Color: more}), runs(look.Body, more, r.More)...)
		}
		o = parts.Cells(8, []float32{clauseName, 0}, look.Para(runs(look.Body, look.Ink2, r.Name)...), look.Para(value...))
	}
	list := []fyne.CanvasObject{o}
	if len(r.Says) > 0 {
		list = append(list, parts.Space(0, 2), parts.Quote(look.Para(runs(look.Body, look.Ink, r.Says)...)))
	}
	list = append(list, d.long(key, r.Name, r.Value, r.More)...)
	if len(list) == 1 {
		return o
	}
	return parts.Column(0, list...)
}

// accessBox is what somebody is let in to, in a box of its own.
func accessBox(rows []page.Row) fyne.CanvasObject {
	var list []fyne.CanvasObject
	for i, r := range rows {
		if i > 0 && r.Kind == page.Access {
			list = append(list, parts.Hair())
		}
		if r.Kind != page.Access {
			list = append(list, parts.Pad(0, 12, 7, 12, parts.Cells(10, []float32{150, 0}, look.Para(runs(look.Small, look.Ink2, r.Name)...), look.Para(runs(look.Small, look.Ink2, r.Value)...))))
			continue
		}
		more := fyne.CanvasObject(look.Para(runs(look.Body, look.Ink, r.More)...))
		if r.Warn {
			more = parts.RowTop(6, parts.Pad(3, 0, 0, 0, look.NewIcon("warning", 14, look.Warn)), parts.Grow(more))
		}
		var line fyne.CanvasObject = parts.Cells(10, []float32{150, 104, 0}, look.Para(runs(look.Strong, look.Ink, r.Name)...), look.Para(runs(look.Body, look.Ink, r.Value)...), more)
		if r.Grade != nil {
			line = parts.Column(2, line, parts.Row(8, gradeSign(r.Grade), parts.Spring()))
		}
		if len(r.Says) > 0 {
			line = parts.Column(4, line, parts.Quote(look.Para(runs(look.Body, look.Ink, r.Says)...)))
		}
		list = append(list, parts.Pad(7, 12, 7, 12, line))
	}
	return parts.Over(look.NewBox(look.Paper, look.Edge, 6), parts.Column(0, list...))
}

// partyBox is one seat.
func partyBox(p page.Party) fyne.CanvasObject {
	role := map[string]string{sow.Provider: "Provider", sow.Client: "Client"}[p.Role]
	head := []look.Run{{Text: role + ", " + p.Duty, Style: look.Caption, Color: look.Ink3}}
	tagged := p.Ours && look.Scale() < 1.3 && len(page.String(p.Owner))+len(p.Seat) < 60
	if p.Ours && !tagged {
		head = append(head, look.Run{Text: "  " + p.Seat, Style: look.CaptionB, Color: look.Ink})
	}
	list := []fyne.CanvasObject{look.Para(head...), parts.Space(0, 2)}
	name := look.Text(look.Strong.Box(22), look.Ink3, "The seat is open")
	if !p.Blank {
		name = look.Para(runs(look.Strong.Box(22), look.Ink, p.Owner)...)
	}
	if tagged {
		tag := parts.Over(look.NewBox(look.Paper, look.Edge, 4), parts.Middle(20, parts.Pad(0, 8, 0, 8, look.Word(look.CaptionM, look.Ink, p.Seat))))
		list = append(list, parts.Row(8, name.OneLine(), tag, parts.Spring()))
	} else {
		list = append(list, name)
	}
	for _, s := range [][]page.Span{p.Handle, p.Org} {
		if len(s) > 0 {
			list = append(list, look.Para(runs(look.Small, look.Ink2, s)...))
		}
	}
	ink := look.Ink2
	if p.Warn {
		ink = look.Warn
	}
	line := []fyne.CanvasObject{}
	if p.Key != "" {
		line = append(line, parts.Chip("", short(p.Key)))
	}
	known := look.Text(look.Caption, ink, p.Known)
	if p.Warn {
		line = append(line, look.NewIcon("warning", 12, look.Warn))
	}
	list = append(list, parts.Space(0, 6), parts.Row(8, append(line, parts.Grow(known))...))
	if p.Person != "" {
		list = append(list, parts.Space(0, 2), look.Text(look.Caption, look.Ink3, p.Person))
	}
	return parts.Over(look.NewBox(look.Paper, look.Line, 6), parts.Pad(12, 16, 12, 16, parts.Column(0, list...)))
}

// gradientBar counts the clauses by what holds them.
func gradientBar(b page.Bar) fyne.CanvasObject {
	var cells []fyne.CanvasObject
	cell := func(n int, grade string) {
		ink := gradeInk(grade)
		for range n {
			var o fyne.CanvasObject
			switch grade {
			case sow.Enforced:
				o = parts.Over(look.NewBox(ink, "", 2), parts.Space(0, 14))
			case sow.Evidence:
				o = parts.Over(look.NewBox(look.Paper, ink, 2), parts.Column(0, parts.Space(0, 7), parts.Sunk(ink, 0, parts.Space(0, 7))))
			default:
				o = parts.Over(look.NewBox(look.Paper, ink, 2), parts.Space(0, 14))
			}
			cells = append(cells, o)
		}
	}
	cell(b.Enforced, sow.Enforced)
	cell(b.Evidence, sow.Evidence)
	cell(b.Recorded, sow.Recorded)
	key := func(n int, grade, means string) fyne.CanvasObject {
		ink := gradeInk(grade)
		return parts.Row(8, parts.Pad(2, 0, 0, 0, look.NewIcon(grade, 11, ink)), look.Word(look.SmallM, ink, fmt.Sprintf("%d %s", n, grade)), look.Word(look.Caption, look.Ink2, means))
	}
	list := []fyne.CanvasObject{}
	if len(cells) > 0 {
		list = append(list, parts.Cells(3, make([]float32, len(cells)), cells...))
	}
	list = append(list, parts.Flow(28, 4, key(b.Enforced, sow.Enforced, page.EnforcedMeans), key(b.Evidence, sow.Evidence, page.EvidenceMeans), key(b.Recorded, sow.Recorded, page.RecordedMeans)))
	if b.Differs {
		list = append(list, look.Text(look.Caption, look.Warn, fmt.Sprintf("Earned, as you say the deployment is: %d enforced, %d evidence, %d recorded", b.EarnedEnforced, b.EarnedEvidence, b.EarnedRecorded)))
	}
	return parts.Column(8, list...)
}

// figures are the three facts that decide.
func figures(f [3]page.Figure) fyne.CanvasObject {
	var cols []fyne.CanvasObject
	for i, x := range f {
		ink := look.Ink2
		if x.Warn {
			ink = look.Warn
		}
		col := parts.Column(2, look.Text(look.Caption, look.Ink3, x.Caption), look.Para(runs(look.Figure, look.Ink, x.Value)...), look.Para(runs(look.Small, ink, x.More)...))
		if i == 0 {
			cols = append(cols, parts.Pad(0, 20, 0, 0, col))
			continue
		}
		right := float32(20)
		if i == len(f)-1 {
			right = 0
		}
		cols = append(cols, parts.Sunk(look.Line, 0, parts.Pad(0, 0, 0, 1, parts.Sunk(look.Paper, 0, parts.Pad(0, right, 0, 19, col)))))
	}
	return parts.Equal(0, cols...)
}

// noticeStrip is a remark of the vault about the whole.
func noticeStrip(n page.Notice) fyne.CanvasObject {
	fill, ink, icon := look.Well, look.Ink, "info"
	switch n.Tone {
	case page.Warn:
		fill, ink, icon = look.WarnTint, look.Warn, "warning"
	case page.Alarm:
		fill, ink, icon = look.DangerTint, look.Danger, "error"
	}
	head := look.Strong
	if n.Tone == page.Calm {
		head = look.Body
	}
	text := parts.Column(2, look.Para(runs(head, look.Ink, n.What)...), look.Para(runs(look.Caption, look.Ink2, n.More)...))
	return parts.Sunk(fill, 6, parts.Pad(9, 14, 10, 14, parts.RowTop(12, parts.Pad(2, 0, 0, 0, look.NewIcon(icon, 16, ink)), parts.Grow(text))))
}

// recordLine is a signature record beside the document.
func recordLine(r page.Record, first bool) fyne.CanvasObject {
	title, top := "", float32(0)
	if first {
		title, top = "Signatures", 14
	}
	icon, ink := "proven", look.Ink
	if !r.Counts {
		icon, ink = "cross", look.Warn
	}
	body := parts.Cells(8, []float32{18, 84, 0}, parts.Middle(20, look.NewIcon(icon, 13, ink)), look.Para(runs(look.Body, look.Ink, r.Role)...),
		parts.Column(2, look.Para(runs(look.Body, look.Ink, r.Key)...), look.Para(append(runs(look.Small, look.Ink2, r.SignedAt), look.Run{Text: ", by its own clock; " + r.Words, Style: look.Small, Color: look.Ink2})...)))
	o := fyne.CanvasObject(parts.Pad(top, 0, 10, 0, clauseLine(title, body, parts.Space(0, 0))))
	if first {
		return parts.Column(0, parts.Hair(), o)
	}
	return o
}
