package ui

import (
	"fmt"

	"fyne.io/fyne/v2"

	"vault/approvals"
	"vault/ui/hostile"
	"vault/ui/look"
	"vault/ui/parts"
)

// rates shows how an agent asks, per class of its decisions: shares with the counts behind them. Client
// "" means all of them.
func (u *UI) rates(client string) fyne.CanvasObject {
	widths := []float32{0, 62, 112, 112, 112, 112, 90}
	if client == "" {
		widths = append([]float32{130}, widths...)
	}
	right := func(s look.Style, ink fyne.ThemeColorName, t string) fyne.CanvasObject {
		p := look.Text(s, ink, t)
		p.Align = fyne.TextAlignTrailing
		return p
	}
	titles := []fyne.CanvasObject{look.Text(look.CaptionM, look.Ink3, "Class, as it says")}
	for _, t := range []string{"Shown", "Corrected itself", "A way out off", "Question rejected", "Declined", "Not shown"} {
		titles = append(titles, right(look.CaptionM, look.Ink3, t))
	}
	if client == "" {
		titles = append([]fyne.CanvasObject{look.Text(look.CaptionM, look.Ink3, "Agent")}, titles...)
	}
	rows := []fyne.CanvasObject{parts.Pad(2, 0, 4, 0, parts.Cells(10, widths, titles...))}
	for _, r := range u.state.Rates {
		if client != "" && r.Client != client {
			continue
		}
		class := look.Text(look.Small, look.Ink2, "no class named")
		if r.HasClass {
			class = hostile.Inline(look.Small, look.Ink, r.Class)
		}
		resolved := r.Options + r.Answers + r.Questions + r.Declined
		cells := []fyne.CanvasObject{class, right(look.Small, look.Ink, parts.Number(r.Presented))}
		for _, s := range []string{share(r.WithNote, r.Presented), share(r.HatchesOff, r.Presented), share(r.Questions, resolved), share(r.Declined, resolved), parts.Number(r.Fallbacks)} {
			cells = append(cells, right(look.Small, look.Ink, s))
		}
		if client == "" {
			cells = append([]fyne.CanvasObject{look.Text(look.Small, look.Ink, agentOf(r))}, cells...)
		}
		rows = append(rows, parts.Pad(7, 0, 7, 0, parts.Cells(10, widths, cells...)))
	}
	if len(rows) == 1 {
		return nil
	}
	return parts.Lined(rows...)
}

func agentOf(r approvals.MomentRate) string {
	if r.Agent == "" {
		return "ended agent"
	}
	return safe(r.Agent)
}

// share writes a share with the counts that it is made of.
func share(n, of int64) string {
	if of == 0 {
		return "0 of 0"
	}
	return fmt.Sprintf("%d %% · %s of %s", (n*100+of/2)/of, parts.Number(n), parts.Number(of))
}
