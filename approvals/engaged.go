package approvals

import (
	"errors"
	"maps"
	"strings"

	"vault/approvals/agreement"
	"vault/approvals/journal"
	"vault/approvals/permit"
	"vault/approvals/sow"
	"vault/approvals/store"
)

// Codes about engagements, beside those of findings and of package agreement.
const (
	CodeUnknownEngagement = "unknown_engagement"
	CodeUnknownSeat       = "unknown_seat"
	CodeExportTooLong     = "export_too_long" // more than one bundle holds
)

// Names of notes that the desk alone reads; the others are package agreement's.
const (
	factBlocked = "blocked" // of no engagement; key: key; value: why
	factIntent  = "intent"  // an agent's artefact; key: agreement.IntentKey; value: signature
)

// held is an engagement as it was judged, at one turn of what is kept of it.
type held struct {
	*agreement.Held
	turn uint64 // see Desk.sowTurn
}

// held reads what store and log say of an engagement, and has it judged. It blocks on the disk.
func (d *Desk) held(id string) (*held, error) {
	if d.db() == nil {
		return nil, refuse(CodeUnknownEngagement)
	}
	now := d.clock.Now()
	d.mu.Lock()
	turn := d.sowTurn[id]
	d.mu.Unlock()
	rows, err := d.sowRows(id)
	if err != nil {
		return nil, err
	}
	papers := agreement.Read(id, rows)
	if len(papers.Edited) > 0 {
		d.rowEdited("document " + papers.Edited[0])
	}
	if len(papers.Docs) == 0 {
		return nil, refuse(CodeUnknownEngagement)
	}
	known, err := d.sowKnown(papers)
	if err != nil {
		return nil, err
	}
	known.Now = now
	return &held{papers.Judge(known), turn}, nil
}

// sowRows reads an engagement's own rows.
func (d *Desk) sowRows(id string) (rows agreement.Rows, err error) {
	db := d.db()
	if rows.Copies, err = db.SoWCopies(id); err != nil {
		return rows, err
	}
	if rows.Facts, err = db.SoWFacts(id); err != nil {
		return rows, err
	}
	if rows.Records, err = db.SoWRecords(id); err != nil {
		return rows, err
	}
	if rows.Moves, err = db.SoWMoves(id); err != nil {
		return rows, err
	}
	rows.Asks, err = db.SoWAsksOpen(id)
	return rows, err
}

// sowKnown answers what a judgement asks beyond the engagement's own rows.
func (d *Desk) sowKnown(p *agreement.Papers) (k agreement.Known, err error) {
	q := p.Questions()
	k = agreement.Known{Log: d.sowLog(p, q), Texts: d.o.Languages, Handles: map[string]string{}, Languages: map[string]agreement.Named{}, Arbiters: map[string][]agreement.Row{}}
	k.Deployment, k.OwnDeployment = d.deployment(p.ID)
	k.Allowed = d.allowances()
	for _, handle := range q.Handles {
		was, err := d.remembered(handle)
		if err != nil {
			return k, err
		}
		if was != "" {
			k.Handles[handle] = was
		}
	}
	for _, key := range q.Languages {
		if k.Languages[key], err = d.firstUnder(p, key); err != nil {
			return k, err
		}
	}
	for _, agent := range q.Arbiters {
		rows, _, err := d.db().Engagements(store.EngagementQuery{Text: strings.ToLower(agent), Kind: string(agreement.KindEngagement), Limit: MaxPage})
		if err != nil {
			return k, err
		}
		for _, row := range rows {
			if x, ok := agreement.LineOf(row); ok {
				k.Arbiters[agent] = append(k.Arbiters[agent], x.Row)
			}
		}
	}
	if q.Offer != "" {
		k.Offer, err = d.db().SoWCopies(q.Offer)
	}
	return k, err
}

// remembered is the agent for which a handle is remembered, or empty: the one that was pinned under it last. A note without a MAC says it
// where no pin does, as in a vault that was restored: it can make a handle doubtful, and no doubtful one good.
func (d *Desk) remembered(handle string) (agent string, err error) {
	d.mu.Lock()
	at := int64(0)
	for _, p := range d.led.pins {
		if p.permit.Handle == clip(handle, 1024) && p.permit.MadeAt >= at {
			agent, at = p.permit.Agent, p.permit.MadeAt
		}
	}
	d.mu.Unlock()
	if agent != "" {
		return agent, nil
	}
	was, err := d.db().SoWFactsNamed(agreement.FactHandle, handle)
	if err != nil || len(was) == 0 {
		return "", err
	}
	return was[0].Value, nil
}

// firstUnder is a document that named a contract language in a version: one that this vault has signed, else the first that came. Its Doc
// is nil where there is none.
func (d *Desk) firstUnder(p *agreement.Papers, key string) (agreement.Named, error) {
	first, err := d.db().SoWFactsNamed(agreement.FactLanguage, key)
	if err != nil || len(first) == 0 {
		return agreement.Named{}, err
	}
	d.mu.Lock()
	logged, _ := d.led.state.SoWDocument("0x" + first[0].Value)
	d.mu.Unlock()
	signed := logged.Role != ""
	if x := p.By(first[0].Value); x != nil {
		return agreement.Named{Doc: x.Doc, Signed: signed}, nil
	}
	c, err := d.db().SoWCopyOf(first[0].Value)
	if err != nil {
		return agreement.Named{}, ignoreMissing(err)
	}
	doc, _ := sow.Parse(c.Raw) // an edited row names no language
	return agreement.Named{Doc: doc, Signed: signed}, nil
}

// sowLog reads what the log says of an engagement.
func (d *Desk) sowLog(p *agreement.Papers, q agreement.Questions) agreement.Log {
	id, offer := p.ID, ""
	if _, digest, formed := p.Formed(); formed {
		offer = "0x" + digest
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	st := d.led.state
	l := agreement.Log{
		Documents: st.SoWEngagement(id), Seats: st.Seats(), Pins: map[string]permit.Pin{}, Terminated: st.SoWTerminated(id), Over: st.SoWOver(id), Blocked: map[string]bool{},
		Approved: map[string]bool{}, Intents: map[string]journal.IntentState{}, Settled: maps.Clone(d.led.settled[id]), Floor: sow.Authority(d.policy().SoWFloor), Passkeys: d.public.Passkeys,
	}
	if d.public.Vault == "" {
		l.Passkeys = -1 // the vault has not been opened since the start: it is not known
	}
	asked := q.Keys
	for _, a := range q.Agents {
		if p, ok := d.led.pins[a]; ok {
			l.Pins[a] = p.permit
			asked = append(asked, p.permit.Key)
		}
	}
	for _, s := range l.Documents {
		asked = append(asked, s.Key, s.Counterparty)
	}
	for _, s := range l.Seats {
		asked = append(asked, s.Key)
	}
	for _, key := range asked {
		if st.SoWBlocked(key) {
			l.Blocked[key] = true
		}
	}
	for _, sha256 := range q.Approvals {
		if st.SoWApproval(sha256, id, offer) {
			l.Approved[sha256] = true
		}
	}
	for _, digest := range q.Digests {
		for _, act := range []string{"formation", "amendment"} {
			if i, ok := st.SoWIntent("0x"+digest, act); ok {
				l.Intents[agreement.IntentKey(digest, act)] = i
			}
		}
	}
	return l
}

// allowances are the pre-authorisations whose rows are there.
func (d *Desk) allowances() (out []agreement.Allowance) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.led.state.Preauthorisations() {
		if row, ok := d.led.allowed[p.ID]; ok {
			_, refusal := d.led.client(p.Client)
			out = append(out, agreement.Allowance{State: p, Permit: row.permit, Gone: refusal != nil})
		}
	}
	return out
}

// rowEdited tells the owner of a row that was edited in the store, and is not used.
func (d *Desk) rowEdited(what string) {
	d.mu.Lock()
	told := d.trouble != nil
	if d.badRow == nil {
		d.badRow = &Trouble{Code: CodeRowEdited, Detail: what}
	}
	if !told {
		d.trouble = d.badRow
	}
	d.mu.Unlock()
	if !told {
		d.changed()
	}
}

func ignoreMissing(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}
