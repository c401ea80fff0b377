package sow_test

import (
	"slices"
	"testing"

	"vault/approvals/sow"
	"vault/derive/jcs"
)

// TestGrades: what is stated and what is earned, by deployment.
func TestGrades(t *testing.T) {
	members := func(d *sow.Document, dep sow.Deployment) (out []string) {
		for _, g := range d.Grades(dep) {
			if g.Unavailable {
				out = append(out, g.Member)
			}
			if g.Earned == "" || g.Stated != "" && g.Unavailable != (g.Stated == sow.Enforced && g.Earned != sow.Enforced) {
				t.Errorf("%+v", g)
			}
			if g.Stated == sow.Recorded && g.Earned != sow.Recorded || g.Stated == sow.Evidence && g.Earned == sow.Enforced {
				t.Errorf("more is earned than stated: %+v", g)
			}
		}
		return out
	}
	for _, name := range samples {
		if got := members(good(t, name), everything); len(got) != 0 {
			t.Errorf("%s: with everything kept %v is unavailable", name, got)
		}
		if f := good(t, name).CheckGrades(everything, false); len(f) != 0 {
			t.Errorf("%s: %v", name, f)
		}
	}
	want := []string{"scope", "deliverables", "revisions", "volume", "change_control", "termination", "price",
		"inputs[0]", "inputs[1]", "inputs[2]", "confidentiality.transport", "confidentiality.retention"}
	if got := members(good(t, fixedFee), sow.Deployment{}); !slices.Equal(got, want) {
		t.Errorf("with nothing known %q is unavailable", got)
	}
	// One thing missing makes one clause unavailable.
	for name, c := range map[string]struct {
		doc    string
		change func(*sow.Deployment)
		want   []string
	}{
		"a charge that is not refused":   {free, func(d *sow.Deployment) { d.RefusesCharge = false }, []string{"price"}},
		"meters only one side counts":    {metered, func(d *sow.Deployment) { d.ClientMeters = false }, []string{"price"}},
		"meters under a fixed fee":       {fixedFee, func(d *sow.Deployment) { d.ClientMeters = false }, nil},
		"an unverified counterparty":     {directedOffer, func(d *sow.Deployment) { d.VerifiesCounterparty = false }, []string{"parties.offered_to"}},
		"conditions nobody checks":       {open, func(d *sow.Deployment) { d.ChecksFormation = false }, []string{"qualifications[0]", "qualifications[1]", "qualifications[2]"}},
		"no reversal, no claim about it": {fixedFee, func(d *sow.Deployment) { d.ClearingReverses = false }, nil},
	} {
		dep := everything
		c.change(&dep)
		if got := members(good(t, c.doc), dep); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
	implied := map[string]string{}
	for _, g := range good(t, metered).Grades(sow.Deployment{OperatorQuotes: true}) {
		if g.Stated == "" {
			implied[g.Member] = g.Earned
		}
	}
	if len(implied) != 4 || implied["price.reservation"] != sow.Evidence || implied["price.operator_fee"] != sow.Recorded ||
		implied["change_control.approval"] != sow.Evidence || implied["ends_at"] != sow.Evidence {
		t.Errorf("implied grades are %v", implied)
	}
}

func TestAmendment(t *testing.T) {
	inForce, next := good(t, fixedFee), good(t, "amendment-v2-proposal")
	if f := sow.CheckAmendment(inForce, next, false); len(f) != 0 {
		t.Errorf("a good amendment: %v", f)
	}
	if f := sow.CheckVersion(next, 1, inForce); f != nil {
		t.Errorf("a higher version: %v", f)
	}
	if f := sow.CheckVersion(inForce, 1, document(t, inForce.Value().Canonical())); f != nil {
		t.Errorf("the same bytes in another spelling: %v", f)
	}
	if f := sow.CheckCountersign(next, sign(t, next, sow.Client, "owner/saltmarsh")); f != nil {
		t.Errorf("the bytes proposed: %v", f)
	}
	end, ok := sow.ReviewEnds(inForce, 5)
	if !ok || sow.CheckReview(inForce, 5, end-1) != nil || sow.CheckReview(inForce, 5, end) == nil {
		t.Error("the review window ends elsewhere")
	}
	agreed := sign(t, next, sow.Client, "owner/saltmarsh").VerifySignatures(pins(t))
	if !agreed.Agreed() || sow.CheckApplied(agreed, sow.Client) != nil || sow.CheckApplied(agreed, sow.Provider) != nil {
		t.Errorf("countersigned it is not agreed: %v", agreed.Findings)
	}
}

// TestApprovalNotOurs: a record under our key counts only if we made it.
func TestApprovalNotOurs(t *testing.T) {
	ours := []string{pins(t).Client}
	for name, c := range map[string]struct {
		o       sow.Options
		refused bool
	}{
		"made here":     {sow.Options{Ours: ours, Made: func(a jcs.Value) bool { return a.Get("act").Text() == "formation" }}, false},
		"not made here": {sow.Options{Ours: ours, Made: func(jcs.Value) bool { return false }}, true},
		"nobody knows":  {sow.Options{Ours: ours}, true},
		"another's":     {sow.Options{Ours: []string{pins(t).Provider}}, false},
	} {
		if got := good(t, fixedFee).Validate(c.o).Refused("approval_not_ours"); got != c.refused {
			t.Errorf("%s: refused %v", name, got)
		}
	}
}

func TestCounterparties(t *testing.T) {
	d := good(t, fixedFee)
	wren := "UCPY6WISSARF4RVIYT2UKDQLYFNTPJ5JJCJIC3TCB7SINGFDEQP6E3MS"
	for name, c := range map[string]struct {
		book sow.Book
		want int
	}{
		"nothing remembered": {sow.Book{}, 0},
		"the same key":       {sow.Book{Handles: map[string]string{"Wren.recon@copperline.example": wren}}, 0},
		"another key":        {sow.Book{Handles: map[string]string{"Wren.recon@copperline.example": "U"}}, 1},
		"its agent blocked":  {sow.Book{Blocked: []string{wren}}, 1},
		"its owner blocked":  {sow.Book{Blocked: []string{pins(t).Provider}}, 1},
	} {
		if f := c.book.CheckCounterparties(d); len(f) != c.want {
			t.Errorf("%s: %v", name, f)
		}
	}
}
