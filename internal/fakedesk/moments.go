package fakedesk

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"vault/approvals"
	"vault/approvals/moment"
)

// Draft is an envelope in the making.
type Draft struct {
	Synopsis        string        `json:"synopsis"`
	Findings        []string      `json:"findings"`
	Recommendations []string      `json:"recommendations"`
	Offer           string        `json:"offer"`
	Question        DraftQuestion `json:"question"`
	Meta            *DraftMeta    `json:"meta,omitempty"`
}

// DraftQuestion is the question of a draft.
type DraftQuestion struct {
	Stem        string        `json:"stem"`
	Options     []DraftOption `json:"options"`
	Recommended int           `json:"recommended_idx"`
	Hatches     DraftHatches  `json:"hatches"`
}

// DraftOption is an option of a draft. Without a digest it gets that of Action.
type DraftOption struct {
	Label     string `json:"label"`
	Reasoning string `json:"reasoning"`
	Digest    string `json:"action_digest"`
	Action    string `json:"-"` // JSON, presented with it unless Unseen
	SignWith  string `json:"-"` // an action envelope
	Unseen    bool   `json:"-"`
}

// DraftHatches are the two ways out.
type DraftHatches struct {
	FreeText bool `json:"free_text"`
	Dialogue bool `json:"dialogue"`
}

// DraftMeta is the meta slot.
type DraftMeta struct {
	Class string `json:"decision_class,omitempty"`
	Note  string `json:"calibration_note,omitempty"`
}

// Moment makes the sheet of a draft: agent, session and times are the sample's. It
// panics where the draft is no envelope.
func Moment(id, agent, session string, paired time.Duration, d Draft) approvals.Sheet {
	d.Question.Options = append([]DraftOption(nil), d.Question.Options...)
	var behind []moment.Behind
	for i := range d.Question.Options {
		o := &d.Question.Options[i]
		if o.Digest == "" {
			digest, err := moment.ActionDigest([]byte(o.Action))
			if err != nil {
				panic(fmt.Sprint("fakedesk: action: ", err))
			}
			o.Digest = digest
		}
		b := moment.Behind{Option: i}
		if !o.Unseen && o.Action != "" {
			b.Action = []byte(o.Action)
		}
		if o.SignWith != "" {
			b.SignWith = []byte(o.SignWith)
		}
		if b.Action != nil || b.SignWith != nil {
			behind = append(behind, b)
		}
	}
	raw, err := json.Marshal(d)
	if err != nil {
		panic(err)
	}
	return MomentOf(id, agent, session, paired, raw, behind)
}

// MomentOf makes the sheet of an envelope as received, with what is behind its options.
func MomentOf(id, agent, session string, paired time.Duration, raw []byte, behind []moment.Behind) approvals.Sheet {
	e, err := moment.Parse(raw)
	if err != nil {
		panic(fmt.Sprint("fakedesk: envelope: ", err))
	}
	sheet, err := moment.NewSheet(e, behind)
	if err != nil {
		panic(fmt.Sprint("fakedesk: sheet: ", err))
	}
	m := &approvals.MomentSheet{Moment: "m_" + strings.TrimPrefix(e.Digest(), "sha256:"), Sheet: sheet, EnvelopeDigest: e.Digest(), ToolServer: "vault mcp",
		Addresses: map[int]string{}, Used: map[int]int64{}, Problems: map[int]string{}}
	for i, row := range sheet.Rows {
		if row.SignWith != nil {
			m.Addresses[i] = supportAddress
		}
	}
	return approvals.Sheet{ID: id, Digest: sheet.Digest(), Kind: approvals.ItemMoment, Agent: agent, Client: clients[agent], PairedAt: ago(paired), Session: session,
		Since: ago(3 * time.Minute), Merged: 1, Moment: m}
}

// clients are the ids of the sample's agents.
var clients = map[string]string{"support-sender": SupportSender, "buying-desk": BuyingDesk, "travel-desk": TravelDesk}

const days = 24 * time.Hour

// Travel is the worked example of the memo, with its two actions.
func Travel() Draft {
	return Draft{
		Synopsis: "Share the travel dates and withhold the passport number.",
		Findings: []string{
			"The booking service asks for dates and passport number.",
			"Dates are enough to hold the reservation.",
			"The passport number is only needed at check-in.",
		},
		Recommendations: []string{"Release the travel dates now.", "Withhold the passport number until check-in."},
		Offer:           "Ask for detail on any item.",
		Question: DraftQuestion{
			Stem: "What should be shared with the booking service?",
			Options: []DraftOption{
				{Label: "Share dates only", Reasoning: "Holds the booking and keeps the passport number private.", Action: `{"disclose":["travel_dates"],"recipient":"booking.example"}`},
				{Label: "Share dates and passport number", Reasoning: "Avoids a second request at check-in.", Action: `{"disclose":["passport_number","travel_dates"],"recipient":"booking.example"}`},
			},
			Hatches: DraftHatches{true, true},
		},
	}
}

// Returns has four options.
func Returns() Draft {
	return Draft{
		Synopsis:        "Refund the torn rucksack and skip the return shipment.",
		Findings:        []string{"The photograph shows a torn shoulder strap.", "The return label costs 11.20 XCR.", "The resale value of the rucksack is 9.00 XCR."},
		Recommendations: []string{"Refund in full today.", "Let the customer keep the rucksack."},
		Offer:           "Ask for the photograph or the price list.",
		Question: DraftQuestion{
			Stem: "How should order 20417 be settled?",
			Options: []DraftOption{
				{Label: "Refund in full, no return", Reasoning: "Cheapest for both: the return label costs more than the resale value.", Action: `{"order":20417,"refund":"84.00 XCR","return":"none"}`},
				{Label: "Refund in full after return", Reasoning: "Keeps to the written policy.", Action: `{"order":20417,"refund":"84.00 XCR","return":"prepaid"}`},
				{Label: "Replace the rucksack", Reasoning: "The customer keeps the trip; one is left in stock.", Action: `{"order":20417,"ship":"HL-RS-40","return":"none"}`},
				{Label: "Refund half, no return", Reasoning: "Fits the wear shown in the photograph.", Action: `{"order":20417,"refund":"42.00 XCR","return":"none"}`},
			},
			Hatches: DraftHatches{true, true},
		},
	}
}

// Totes corrects itself, has one hatch off, hidden and look-alike letters, and an action that nobody presented.
func Totes() Draft {
	return Draft{
		Synopsis:        "Reorder 400 canvas totes from M\u0456llrace today.",
		Findings:        []string{"Stock covers nine days at the current rate.", "The invoice names the payee as Millrace\u200bWeaving.", "The mill asks for payment before it ships."},
		Recommendations: []string{"Order before Friday noon.", "Pay from the stock account."},
		Offer:           "Ask for the price list.",
		Question: DraftQuestion{
			Stem: "How many totes should be ordered now?",
			Options: []DraftOption{
				{Label: "Order 400 now", Reasoning: "Keeps the price and covers the season.", Action: "{\"pay\":\"3,240.00 XCR\",\"payee\":\"M\u0456llrace\u200bWeaving\"}"},
				{Label: "Order 200 now, the rest in November", Reasoning: "Costs more per piece and ties up less money.", Action: `{"pay":"1,790.00 XCR"}`, Unseen: true},
			},
			Hatches: DraftHatches{FreeText: true},
		},
		Meta: &DraftMeta{Note: "This morning I said the price holds all month. It holds until Friday."},
	}
}

// SigningEnvelope is an action envelope for messages of the support desk.
const SigningEnvelope = `{"type":"agentenvelope.actionEnvelope","version":1,"domain":{"domainId":"support-ops","domainHash":"0x4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f80917a2ed2b917a80b1fe2a9"},"agentId":"support-bot","actionIndex":0,"operation":"send-message","resources":["channel:support","thread:customer-123"],"timeWindow":{"notBefore":null,"notAfter":1798761540000},"limits":{"maxUses":25,"enforcement":"external"},"decayPolicy":{"mode":"BOTH"}}`

// Reply has actions that would be signed: one as it stands, one whose envelope says something else, and one
// that is not the action its option names.
func Reply() Draft {
	return Draft{
		Synopsis:        "Tell customer 123 that the replacement leaves today.",
		Findings:        []string{"The replacement is packed.", "The carrier collects at 17:00.", "The customer asked twice."},
		Recommendations: []string{"Answer before noon.", "Name the carrier."},
		Offer:           "Ask for the thread.",
		Question: DraftQuestion{
			Stem: "What should customer 123 be told?",
			Options: []DraftOption{
				{Label: "It leaves today", Reasoning: "It is packed and will be collected.", Action: supportText, SignWith: SigningEnvelope},
				{Label: "It leaves this week", Reasoning: "Leaves room if the carrier is late.", Action: strings.Replace(supportText, "send-message", "post-message", 1), SignWith: SigningEnvelope},
				{Label: "Say nothing yet", Reasoning: "There is no news before 17:00.", Action: `{"wait":"17:00"}`, Digest: "sha256:" + strings.Repeat("c20fa913", 8)},
			},
			Hatches: DraftHatches{true, true},
		},
		Meta: &DraftMeta{Class: "customer message"},
	}
}

// Twins offers the same action twice under one label, in a hedged, leading way, and both hatches off.
func Twins() Draft {
	action := `{"renew":"licence-7","term":"12 months"}`
	return Draft{
		Synopsis:        "It depends on whether you want to renew.",
		Findings:        []string{"It depends on whether you want to renew."},
		Recommendations: []string{"Consider the price.", "Renew the licence."},
		Offer:           "Ask for the contract.",
		Question: DraftQuestion{
			Stem: "Shouldn't we renew the licence?",
			Options: []DraftOption{
				{Label: "Renew", Reasoning: "It ends tomorrow.", Action: action},
				{Label: "Renew", Reasoning: "The price holds.", Action: action},
			},
		},
	}
}

// Arabic reads from the right.
func Arabic() Draft {
	return Draft{
		Synopsis:        "\u0623\u0631\u0633\u0644 \u0627\u0644\u0641\u0627\u062a\u0648\u0631\u0629 41 \u0627\u0644\u064a\u0648\u0645.",
		Findings:        []string{"\u0627\u0644\u0645\u0628\u0644\u063a 3,240.00 XCR \u0645\u062a\u0641\u0642 \u0639\u0644\u064a\u0647.", "\u05d4\u05d4\u05d6\u05de\u05e0\u05d4 \u05de\u05ea\u05d0\u05d9\u05de\u05d4.", "The order was signed in March."},
		Recommendations: []string{"\u0623\u0631\u0633\u0644\u0647\u0627 \u0627\u0644\u0622\u0646.", "\u05e9\u05de\u05d5\u05e8 \u05e2\u05d5\u05ea\u05e7."},
		Offer:           "\u0627\u0633\u0623\u0644 \u0639\u0646 \u0627\u0644\u0637\u0644\u0628.",
		Question: DraftQuestion{
			Stem: "\u0645\u0627\u0630\u0627 \u0646\u0641\u0639\u0644 \u0628\u0627\u0644\u0641\u0627\u062a\u0648\u0631\u0629 41\u061f",
			Options: []DraftOption{
				{Label: "\u0623\u0631\u0633\u0644\u0647\u0627 \u0627\u0644\u064a\u0648\u0645", Reasoning: "\u0627\u0644\u0645\u0628\u0644\u063a \u0645\u062a\u0641\u0642 \u0639\u0644\u064a\u0647.", Action: "{\"send\":41,\"to\":\"\u0634\u0631\u0643\u0629 \u0627\u0644\u0646\u0642\u0644\"}"},
				{Label: "\u05dc\u05d7\u05db\u05d5\u05ea", Reasoning: "\u05d0\u05d9\u05df \u05de\u05de\u05d4\u05e8.", Action: `{"hold":41}`},
			},
			Hatches: DraftHatches{true, true},
		},
	}
}

// Deciding is a vault in use to which agents bring decisions, one open and three later, with notes.
func Deciding() *Desk {
	d := Busy()
	d.Stat.Waiting = 4
	d.Agents[0].ID, d.Agents[0].Name = SupportSender, "support-sender"
	d.Items, d.Sheets = nil, map[string]approvals.Sheet{}
	d.Put(Moment("m1", "travel-desk", "7f3a", 32*days, Travel()), true)
	d.Put(Moment("m2", "returns-desk", "55d2", 15*days, Returns()), false)
	d.Put(Moment("m3", "buying-desk", "1c90", 53*days, Totes()), false)
	reply := Moment("m4", "support-sender", "a41d", 34*days, Reply())
	reply.Moment.Used[0] = 3
	d.Put(reply, false)
	for i, draft := range []Draft{Twins(), Arabic()} {
		d.Put(Moment(fmt.Sprintf("m%d", 5+i), "buying-desk", "1c90", 53*days, draft), false)
	}
	d.Note("n1", "buying-desk", approvals.NoteSheet{Reason: "option_count", Path: "$.question.options", ToolServer: "stock tools",
		Payload: moment.Payload{Text: "I could not settle on one supplier.\nMillrace is cheaper, Northloom ships sooner."}})
	d.Note("n2", "travel-desk", approvals.NoteSheet{Reason: "already_answered", Moment: "m_1"})
	d.Ended = []approvals.AnsweredMoment{{Moment: "m_1", Client: TravelDesk, Agent: "travel-desk", Session: "7f3a", Stem: "Which seat should be booked?", Choice: moment.ChoseOption,
		Label: "The aisle seat", EnvelopeDigest: "sha256:" + strings.Repeat("7be0913c", 8), At: ago(50 * time.Minute), Seq: 1279, Repeats: 1},
		{Moment: "m_2", Client: BuyingDesk, Agent: "buying-desk", Session: "1c90", Stem: "Shall the second supplier be asked\nbefore the order goes out?", Choice: moment.ChoseDecline, Option: -1, At: ago(48 * time.Minute), Seq: 1280}}
	for i, e := range d.Log {
		switch e.Seq {
		case 1280:
			d.Log[i] = event(e.Seq, ago(48*time.Minute), "moment.declined", "buying-desk", "moment", "m_2")
		case 1279:
			d.Log[i] = event(e.Seq, ago(50*time.Minute), "moment.resolved", "travel-desk", "moment", "m_1", "choice", "option", "option", "0", "by", "click")
		}
	}
	d.Rates = []approvals.MomentRate{
		{Client: SupportSender, Agent: "support-sender", Class: "customer message", HasClass: true, Presented: 41, WithNote: 3, Options: 35, Answers: 3, Questions: 1, Declined: 2},
		{Client: SupportSender, Agent: "support-sender", Presented: 6, HatchesOff: 1, DialogueOff: 1, Options: 4, Declined: 2, Fallbacks: 1},
		{Client: BuyingDesk, Agent: "buying-desk", Class: "purchase", HasClass: true, Presented: 18, WithNote: 7, HatchesOff: 9, DialogueOff: 9, Options: 8, Questions: 6, Declined: 4},
		{Client: BuyingDesk, Agent: "buying-desk", Fallbacks: 5},
	}
	return d
}

// Put adds a moment to the Inbox.
func (d *Desk) Put(s approvals.Sheet, next bool) {
	c := s.Moment.Sheet.Envelope.Content()
	d.Items = append(d.Items, approvals.Item{ID: s.ID, Kind: approvals.ItemMoment, Agent: s.Agent, Since: s.Since, Merged: s.Merged, Next: next, Session: s.Session, Stem: c.Stem})
	d.Sheets[s.ID] = s
}

// Note adds a note to the Inbox.
func (d *Desk) Note(id, agent string, n approvals.NoteSheet) {
	d.Items = append(d.Items, approvals.Item{ID: id, Kind: approvals.ItemNote, Agent: agent, Since: ago(20 * time.Minute), Merged: 1, Session: "1c90", Reason: n.Reason})
	d.Sheets[id] = approvals.Sheet{ID: id, Kind: approvals.ItemNote, Agent: agent, Session: "1c90", Since: ago(20 * time.Minute), Merged: 1, Note: &n}
}
