package sow_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"vault/approvals/sow"
)

// TestMembers: what is wrong is blamed on the member that is wrong, all of it at
// once, and what cannot be read is not blamed on what can.
func TestMembers(t *testing.T) {
	for _, c := range []struct {
		rule     int
		base     string
		path, to string
		want     []string // every error and warning, code@member
	}{
		{11, fixedFee, "term_months", `6`, nil},
		{13, fixedFee, "surprise", `{}`, []string{"unknown_top_level_member@surprise"}},
		{21, fixedFee, "scope.offerings", ``, []string{"scope_offerings@scope.offerings"}},
		{21, fixedFee, "scope.offerings", `[]`, []string{"scope_offerings@scope.offerings"}},
		{21, fixedFee, "scope.offerings", `["reconcile-supplier-statement",7]`, []string{"scope_offerings@scope.offerings[1]"}},
		{21, fixedFee, "scope.offerings", `["reconcile-supplier-statement",7,"third"]`,
			[]string{"scope_offerings@scope.offerings[1]", "offering_unpriced@scope.offerings[2]"}},
		{29, open, "inputs[1].name", `"[2001:db8::7]:443"`, []string{"input_binding_published@inputs[1].name"}},
		{29, open, "inputs[1].description", `"at fe80:0:0:0:1:2:3:4"`, []string{"input_binding_published@inputs[1].description"}},
		{29, open, "inputs[1].description", `"between 9:00 and 17:00"`, nil},
		{29, open, "inputs[1]", `{"name":"x","kind":"shared_resource","access":"read","via":"mcp","when":"standing","grade":"enforced","a.b":"c"}`,
			[]string{`input_binding_published@inputs[1]["a.b"]`}},
		{34, fixedFee, "deliverables.per_task[0]", `{}`,
			[]string{"deliverable_shape@deliverables.per_task[0].name", "deliverable_shape@deliverables.per_task[0].media_type"}},
		{34, fixedFee, "deliverables.per_task[0]", `"report"`, []string{"deliverable_shape@deliverables.per_task[0]"}},
		{34, fixedFee, "deliverables.interim[0]", `"report"`, []string{"deliverable_shape@deliverables.interim[0]"}},
		{35, fixedFee, "deliverables.interim[0].recurrence.due_by_day", `32`,
			[]string{"interim_recurrence@deliverables.interim[0].recurrence.due_by_day"}},
		{35, fixedFee, "deliverables.interim[0].recurrence", `{}`, []string{
			"interim_recurrence@deliverables.interim[0].recurrence.every", "interim_recurrence@deliverables.interim[0].recurrence.due_by_day"}},
		{35, fixedFee, "deliverables.interim[0].recurrence", `"monthly"`, []string{"interim_recurrence@deliverables.interim[0].recurrence"}},
		{43, fixedFee, "revisions.included", `{"count":0}`,
			[]string{"revisions_included@revisions.included.count", "revisions_included@revisions.included.window_days"}},
		{43, fixedFee, "revisions.included", `[1,14]`, []string{"revisions_included@revisions.included"}},
		{43, fixedFee, "revisions.flat", `{"model":"flat","amount_micro":-1,"currency":"xcr"}`,
			[]string{"revisions_flat@revisions.flat.amount_micro", "revisions_flat@revisions.flat.currency"}},
		{43, open, "revisions.steps[1]", `{"id":" ","price":{"model":"free","amount_micro":0,"currency":"XCR"}}`,
			[]string{"revision_step_price@revisions.steps[1].id", "revision_step_price@revisions.steps[1].price.model"}},
		{43, open, "revisions.steps[1].price", `5`, []string{"revision_step_price@revisions.steps[1].price"}},
		{43, open, "revisions.steps[1]", `5`, []string{"revision_step_price@revisions.steps[1]"}},
		{58, fixedFee, "price.rates", ``, []string{"fixed_fee_rates_missing@price.rates"}},
		{58, fixedFee, "price.rates[1].offering", `""`, []string{"rate_offering@price.rates[1].offering"}},
		{58, fixedFee, "price.rates[1]", `{"offering":"other","per_task":0.5}`, []string{"rate_per_task@price.rates[1].per_task",
			"rate_offering_out_of_scope@price.rates[1].offering", "offering_unpriced@scope.offerings[1]"}},
		{77, free, "price", `{"arrangement":"no_charge","grade":"enforced","a.b":1,"":2}`,
			[]string{`no_charge_extra_member@price["a.b"]`, `no_charge_extra_member@price[""]`}},
		{90, fixedFee, "volume", `{"per_day":8,"per day":9,"grade":"enforced"}`, []string{`volume_windows@volume["per day"]`}},
		{133, metered, "service_floors.floors[0]", `{"id":"turnaround","each_task_within":"PT1H","up time":"99"}`,
			[]string{`floor_unknown_kind@service_floors.floors[0]["up time"]`}},
	} {
		t.Run(fmt.Sprintf("rule %d %s=%s", c.rule, c.path, c.to), func(t *testing.T) {
			var to any = drop{}
			if c.to != "" {
				to = json.RawMessage(c.to)
			}
			_, f := sow.Read(edit(t, doc(t, c.base), c.path, to), sow.Options{})
			expect(t, f, c.want)
		})
	}
}

// TestOddNames: a member whose name is not plain stands in a finding as it does
// on the page, so that it is not taken for another member, or for the whole.
func TestOddNames(t *testing.T) {
	for name, member := range map[string]string{"": `[""]`, "parties.provider": `["parties.provider"]`, "x-y_z": "x-y_z", "ф": `["ф"]`} {
		var tree map[string]any
		if err := json.Unmarshal(doc(t, fixedFee), &tree); err != nil {
			t.Fatal(err)
		}
		tree[name] = true
		raw, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		_, f := sow.Read(raw, sow.Options{})
		expect(t, f, []string{"unknown_top_level_member@" + member})
	}
}

// TestDeclaredWithoutScope: with the manifest at hand, a scope that cannot be
// read says nothing of the meters.
func TestDeclaredWithoutScope(t *testing.T) {
	agent, _ := good(t, metered).Party(sow.Provider)
	m := &sow.Manifest{Agent: agent.Agent, Offerings: []sow.Offering{{ID: "classify-goods"}}}
	_, f := sow.Read(edit(t, doc(t, metered), "scope.offerings", json.RawMessage(`["classify-goods",null]`)), sow.Options{Manifest: m})
	expect(t, f, []string{"scope_offerings@scope.offerings[1]"})
	_, f = sow.Read(edit(t, doc(t, metered), "price.schedule", json.RawMessage(`[{"meter":"items","unit":"x","per_unit":1}]`)),
		sow.Options{Manifest: &sow.Manifest{Agent: agent.Agent, Offerings: []sow.Offering{{ID: "classify-goods"}, {ID: "draft-entry-summary"}}}})
	expect(t, f, []string{"schedule_meter_undeclared@price.schedule[0].meter"})
}

// expect compares every error and warning, in any order.
func expect(t *testing.T, f sow.Findings, want []string) {
	t.Helper()
	var got []string
	for _, x := range f {
		if x.Severity != sow.Info {
			got = append(got, string(x.Code)+"@"+x.Member)
		}
	}
	slices.Sort(got)
	want = slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// TestOfferedReservation: the window of an offer is longer than its months only
// where no start would do (rule 69).
func TestOfferedReservation(t *testing.T) {
	raw := edit(t, doc(t, open), "revisions", drop{})
	raw = edit(t, raw, "price", json.RawMessage(good(t, metered).Get("price").Raw()))
	for _, c := range []struct {
		months, days int64
		want         []string
	}{
		{1, 31, nil}, {1, 32, []string{"reservation_beyond_term@price.reservation.window_days"}},
		{2, 62, nil}, {2, 63, []string{"reservation_beyond_term@price.reservation.window_days"}},
		{12, 366, nil}, {12, 367, []string{"reservation_beyond_term@price.reservation.window_days"}},
		{9007199254740991, 366, nil}, {1, 9007199254740991, []string{"reservation_beyond_term@price.reservation.window_days"}},
	} {
		offer := edit(t, edit(t, raw, "term_months", c.months), "price.reservation.window_days", c.days)
		_, f := sow.Read(offer, sow.Options{})
		expect(t, f, c.want)
		// One that names an end says nothing by its months.
		_, f = sow.Read(edit(t, edit(t, offer, "term_months", drop{}), "ends_at", "2027-06-01T00:00:00Z"), sow.Options{})
		expect(t, f, nil)
	}
}
