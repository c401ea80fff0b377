package agreement

import (
	"encoding/json"
	"strings"

	"vault/approvals/sow"
	"vault/approvals/store"
)

// Line is a line of the list as it is kept, as JSON.
type Line struct {
	Row       Row
	Reminders []Reminder
}

// LineOf reads a line of the list; false where it is not what its row says.
func LineOf(e store.Engagement) (Line, bool) {
	var l Line
	err := json.Unmarshal(e.Row, &l)
	return l, err == nil && l.Row.ID == e.ID
}

// Listed is the row of the list that stands for an engagement.
func (h *Held) Listed() store.Engagement {
	r := h.View.Row
	texts := []string{r.SoW, r.ID}
	for _, p := range []sow.Seat{r.Provider, r.Client} {
		texts = append(texts, p.Agent, p.Owner, p.Handle, p.Organization)
	}
	for _, p := range h.View.Parties {
		texts = append(append(texts, p.Key), p.Claims...)
	}
	texts = append(append(texts, r.Offerings...), h.Docs[0].Doc.Get("disputes").Get("arbiter").Get("agent").Text())
	line, err := json.Marshal(Line{r, h.View.Reminders})
	if err != nil {
		panic(err) // text and numbers
	}
	e := store.Engagement{
		ID: r.ID, SoW: r.SoW, Kind: string(r.Kind), Role: r.Role, State: string(r.State), Offer: h.View.Offer, Waiting: int64(len(r.Waiting)), At: r.At,
		Search: strings.ToLower(strings.Join(texts, "\n")), Row: line,
	}
	next := func(at int64) {
		if at > h.Now && (e.Again == 0 || at < e.Again) {
			e.Again = at
		}
	}
	if h.InForce != nil {
		start, end, started, ended := h.InForce.Doc.Term()
		if started {
			next(start)
		}
		if ended {
			next(end)
		}
	}
	next(h.ended)
	for _, x := range h.Docs {
		next(x.View.ReviewEnds)
	}
	for _, m := range h.View.Reminders {
		next(m.At)
	}
	if len(h.View.Reminders) > 0 {
		e.Remind = h.View.Reminders[0].At
	}
	return e
}
