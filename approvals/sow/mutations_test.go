package sow_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"vault/approvals/sow"
)

// The complete documents mutations start from.
const (
	fixedFee      = "fixed-fee-engagement"
	metered       = "time-and-materials-engagement"
	free          = "no-charge-engagement"
	open          = "standing-proposal"
	directedOffer = "directed-standing-proposal"
)

// A mutation is one edit of a good document and the finding it must cause. No
// other error may appear.
type mutation struct {
	base, path string
	to         string // JSON, "" to drop the member
	code       sow.Code
	severity   sow.Severity // when reading, "" for error
}

var (
	long65  = fmt.Sprintf("%q", strings.Repeat("x", 65))
	long121 = fmt.Sprintf("%q", strings.Repeat("x", 121))
	long129 = fmt.Sprintf("%q", strings.Repeat("x", 129))
	long301 = fmt.Sprintf("%q", strings.Repeat("x", 301))
	eleven  = `["a","b","c","d","e","f","g","h","i","j","k"]`
)

func times(n int, entry string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = strings.ReplaceAll(entry, "#", fmt.Sprint(i))
	}
	return "[" + strings.Join(list, ",") + "]"
}

var mutations = []mutation{
	// The whole document.
	{fixedFee, "sow", `"v2"`, "sow_version_unknown", ""},
	{fixedFee, "sow", ``, "sow_version_unknown", ""},
	{fixedFee, "sow", `1`, "sow_version_unknown", ""},
	{fixedFee, "id", ``, "id_missing", ""},
	{fixedFee, "id", `""`, "id_missing", ""},
	{fixedFee, "id", `7`, "id_missing", ""},
	{fixedFee, "version", `0`, "version", ""},
	{fixedFee, "version", `1.5`, "version", ""},
	{fixedFee, "version", `"1"`, "version", ""},
	{fixedFee, "version", `9007199254740992`, "version", ""},
	{fixedFee, "language", ``, "language", ""},
	{fixedFee, "language.sha256", `"abc"`, "language", ""},
	{fixedFee, "language.version", `0`, "language", ""},
	{fixedFee, "language.id", `" "`, "language", ""},
	{fixedFee, "starts_at", ``, "starts_at", ""},
	{fixedFee, "starts_at", `"2026-13-45T00:00:00Z"`, "starts_at", ""},
	{fixedFee, "starts_at", `1790812800`, "starts_at", ""},
	{fixedFee, "ends_at", ``, "ends_at", ""},
	{fixedFee, "ends_at", `null`, "ends_at", ""},
	{fixedFee, "ends_at", `"2027-02-29T00:00:00Z"`, "ends_at", ""},
	{fixedFee, "ends_at", `"2026-10-01T00:00:00Z"`, "term_empty", ""},
	{fixedFee, "ends_at", `"2020-10-01T00:00:00Z"`, "term_empty", ""},
	{open, "term_months", `0`, "term_months", ""},
	{open, "term_months", `"6"`, "term_months", ""},
	{open, "term_months", ``, "term_unstated", sow.Warning},
	{directedOffer, "term_months", ``, "term_unstated", sow.Warning},
	{fixedFee, "term_months", `7`, "term_months_differ", sow.Warning},
	{fixedFee, "surprise", `{}`, "unknown_top_level_member", sow.Warning},
	// Parties.
	{fixedFee, "parties", ``, "party_not_object", ""},
	{fixedFee, "parties", `[]`, "party_not_object", ""},
	{fixedFee, "parties.provider", ``, "party_not_object", ""},
	{fixedFee, "parties.client", ``, "party_not_object", ""},
	{fixedFee, "parties.client", `"UCGE"`, "party_not_object", ""},
	{fixedFee, "parties.provider.agent", ``, "party_agent", ""},
	{fixedFee, "parties.provider.agent", `"  "`, "party_agent", ""},
	{fixedFee, "parties.client.owner", ``, "party_owner", ""},
	{fixedFee, "parties.client.owner", `3`, "party_owner", ""},
	{fixedFee, "parties.client.handle", `3`, "party_handle", ""},
	{fixedFee, "parties.client.organization", `"saltmarshfinch"`, "party_organization", ""},
	{fixedFee, "parties.client.organization", `"org_"`, "party_organization", ""},
	{fixedFee, "parties.grade", `"enforced"`, "parties_grade", ""},
	{fixedFee, "parties.grade", `"recorded"`, "parties_grade", sow.Info},
	{fixedFee, "parties.grade", ``, "grade_missing", ""},
	{fixedFee, "parties.client.agent", `"UCPY6WISSARF4RVIYT2UKDQLYFNTPJ5JJCJIC3TCB7SINGFDEQP6E3MS"`, "same_agent_both_seats", sow.Warning},
	// Scope.
	{fixedFee, "scope", ``, "scope_offerings", ""},
	{fixedFee, "scope.offerings", `[]`, "scope_offerings", ""},
	{fixedFee, "scope.offerings", `"all"`, "scope_offerings", ""},
	{fixedFee, "scope.offerings[+]", `" "`, "scope_offerings", ""},
	{fixedFee, "scope.offerings[+]", `"flag-duplicate-invoices"`, "scope_duplicate_offering", ""},
	{fixedFee, "scope.examples", `"none"`, "scope_examples", ""},
	{fixedFee, "scope.examples.in_scope", `"one"`, "scope_examples", ""},
	{fixedFee, "scope.examples.out_of_scope", `[1]`, "scope_examples", ""},
	{fixedFee, "scope.grade", `"evidence"`, "scope_grade", sow.Info},
	{fixedFee, "scope.grade", `"certain"`, "grade_unknown", ""},
	{fixedFee, "scope.grade", ``, "grade_missing", ""},
	// Inputs.
	{fixedFee, "inputs", `{}`, "inputs_not_list", ""},
	{fixedFee, "inputs[+]", `"ledger"`, "inputs_not_list", ""},
	{fixedFee, "inputs[0].name", ``, "input_name", ""},
	{fixedFee, "inputs[1].name", `"supplier-statement"`, "input_duplicate", ""},
	{fixedFee, "inputs[0].when", `"sometimes"`, "input_when", ""},
	{fixedFee, "inputs[0].media_type", ``, "input_media_type", ""},
	{fixedFee, "inputs[2].access", ``, "input_access", ""},
	{fixedFee, "inputs[2].kind", `"database"`, "input_kind", sow.Warning},
	{fixedFee, "inputs[2].kind", `null`, "input_kind", ""},
	{fixedFee, "inputs[2].kind", `["shared_resource"]`, "input_kind", ""},
	{fixedFee, "inputs[2].kind", `" "`, "input_kind", ""},
	{fixedFee, "inputs[2].location", `7`, "input_location", sow.Warning},
	{fixedFee, "derived_from", `"sow_7h3c9k2m5q8t1w4x"`, "derived_from", sow.Warning},
	{fixedFee, "derived_from.version", `1.5`, "derived_from", sow.Warning},
	{fixedFee, "inputs[0].via", `"link"`, "input_via_on_file", sow.Warning},
	{fixedFee, "inputs[2].via", `" "`, "input_via", ""},
	{fixedFee, "inputs[2].via", `"carrier-pigeon"`, "input_via_unknown", sow.Info},
	{fixedFee, "inputs[2].via", ``, "input_via_unsaid", sow.Info},
	{fixedFee, "inputs[0].grade", ``, "grade_missing", ""},
	{fixedFee, "inputs[0].grade", `"hoped"`, "grade_unknown", ""},
	{open, "inputs[1].location", `"brand assets"`, "input_binding_published", ""},
	{open, "inputs[1].token", `"abc"`, "input_binding_published", ""},
	{open, "inputs[1].access", `"https://files.example/brand"`, "input_binding_published", ""},
	{open, "inputs[1].name", `"/srv/brand"`, "input_binding_published", ""},
	{open, "inputs[2].via", `"C:\\facts"`, "input_binding_published", ""},
	{open, "inputs[0].description", `"write to brief@inkwell.example"`, "input_binding_published", ""},
	// Deliverables, rights, acceptance.
	{fixedFee, "deliverables", `[]`, "deliverable_shape", ""},
	{fixedFee, "deliverables.per_task", `{}`, "deliverable_shape", ""},
	{fixedFee, "deliverables.interim", `{}`, "deliverable_shape", ""},
	{fixedFee, "deliverables.per_task[0].name", ``, "deliverable_shape", ""},
	{fixedFee, "deliverables.per_task[0].media_type", ``, "deliverable_shape", ""},
	{fixedFee, "deliverables.grade", `"evidence"`, "deliverables_grade", sow.Info},
	{fixedFee, "deliverables.interim[0].due", `"2026-12-15T17:00:00Z"`, "interim_due_xor_recurrence", ""},
	{fixedFee, "deliverables.interim[1].due", ``, "interim_due_xor_recurrence", ""},
	{fixedFee, "deliverables.interim[1].due", `"15 December"`, "interim_due", ""},
	{fixedFee, "deliverables.interim[0].recurrence.every", `"week"`, "interim_recurrence", ""},
	{fixedFee, "deliverables.interim[0].recurrence.due_by_day", `32`, "interim_recurrence", ""},
	{fixedFee, "deliverables.interim[0].recurrence.due_by_day", `0`, "interim_recurrence", ""},
	{free, "deliverables.per_task[0].rights.exclusivity", `"sole"`, "rights_exclusivity", ""},
	{free, "deliverables.per_task[0].rights.modify", `"yes"`, "rights_modify", ""},
	{free, "deliverables.per_task[0].rights.redistribute", ``, "rights_redistribute", ""},
	{free, "deliverables.per_task[0].rights.self_operable", `null`, "rights_self_operable", ""},
	{free, "deliverables.per_task[0].rights.grade", `"enforced"`, "rights_grade", ""},
	{free, "deliverables.per_task[0].rights.grade", `"evidence"`, "rights_grade", ""},
	{directedOffer, "deliverables.per_task[0].acceptance", `"good"`, "acceptance_not_object", ""},
	{directedOffer, "deliverables.per_task[0].acceptance.test_set.digest", `"7666f7f3"`, "acceptance_digest", ""},
	{directedOffer, "deliverables.per_task[0].acceptance.test_set.withheld", ``, "acceptance_ref", ""},
	{directedOffer, "deliverables.per_task[0].acceptance.test_set.withheld", `false`, "acceptance_ref", ""},
	{directedOffer, "deliverables.per_task[0].acceptance.measure", `""`, "acceptance_measure", ""},
	{directedOffer, "deliverables.per_task[0].acceptance.threshold", ``, "acceptance_threshold", ""},
	{directedOffer, "deliverables.per_task[0].acceptance.deemed_accepted_after_days", `1.5`, "acceptance_days", ""},
	{directedOffer, "deliverables.per_task[0].acceptance.grade", `"enforced"`, "acceptance_grade", ""},
	// Revisions.
	{fixedFee, "revisions", `true`, "revisions_included", ""},
	{fixedFee, "revisions.included.count", `0`, "revisions_included", ""},
	{fixedFee, "revisions.included.window_days", ``, "revisions_included", ""},
	{fixedFee, "revisions.steps", `[{"id":"a","price":{"model":"flat","amount_micro":1,"currency":"XCR"}}]`, "revisions_steps_and_flat", ""},
	{fixedFee, "revisions.flat.model", `"hourly"`, "revisions_flat", ""},
	{fixedFee, "revisions.flat.amount_micro", `0.5`, "revisions_flat", ""},
	{fixedFee, "revisions.grade", `"recorded"`, "revisions_grade", sow.Info},
	{open, "revisions.steps", `[]`, "revision_step_price", ""},
	{open, "revisions.steps[0].price", ``, "revision_step_price", ""},
	{open, "revisions.steps[0].id", `7`, "revision_step_price", ""},
	{open, "revisions.steps[1].id", `"write-the-script"`, "revision_step_duplicate", ""},
	{metered, "revisions", `{"included":{"count":1,"window_days":5},"grade":"enforced"}`, "revisions_under_time_and_materials", sow.Warning},
	{free, "revisions.flat", `{"model":"flat","amount_micro":5,"currency":"XCR"}`, "revisions_priced_under_no_charge", sow.Warning},
	// Price: fixed fee.
	{fixedFee, "price", ``, "price_not_object", ""},
	{fixedFee, "price", `[]`, "price_not_object", ""},
	{fixedFee, "price.arrangement", ``, "price_arrangement_missing", ""},
	{fixedFee, "price.arrangement", `"retainer"`, "price_arrangement_unknown", ""},
	{fixedFee, "price.arrangement", `null`, "price_arrangement_unknown", ""},
	{fixedFee, "price.grade", ``, "price_grade", ""},
	{fixedFee, "price.grade", `"maybe"`, "price_grade", ""},
	{fixedFee, "price.currency", `"xcr"`, "price_currency", ""},
	{fixedFee, "price.currency", ``, "price_currency", ""},
	{fixedFee, "price.rates", ``, "fixed_fee_rates_missing", ""},
	{fixedFee, "price.rates", `{}`, "fixed_fee_rates_missing", ""},
	{fixedFee, "price.rates[+]", `7`, "rate_not_object", ""},
	{fixedFee, "price.rates[+]", `{"per_task":1}`, "rate_offering", ""},
	{fixedFee, "price.rates[+]", `{"offering":"flag-duplicate-invoices","per_task":1}`, "rate_duplicate_offering", ""},
	{fixedFee, "price.rates[0].per_task", `-1`, "rate_per_task", ""},
	{fixedFee, "price.rates[0].per_task", `1.5`, "rate_per_task", ""},
	{fixedFee, "price.rates[0].per_task", `"1800000"`, "rate_per_task", ""},
	{fixedFee, "price.ceiling", `5`, "ceiling_not_object", ""},
	{fixedFee, "price.ceiling.amount", `0`, "ceiling_amount", ""},
	{fixedFee, "price.ceiling.period", `"year"`, "ceiling_period", ""},
	{fixedFee, "price.schedule", `[]`, "fixed_fee_schedule", ""},
	{fixedFee, "price.cap", `{"amount":1}`, "fixed_fee_cap", ""},
	{fixedFee, "price.rates[+]", `{"offering":"paint","per_task":1}`, "rate_offering_out_of_scope", sow.Warning},
	{fixedFee, "scope.offerings[+]", `"paint"`, "offering_unpriced", sow.Warning},
	// Price: time and materials.
	{metered, "price.schedule", ``, "schedule_missing", ""},
	{metered, "price.schedule", `[]`, "schedule_missing", ""},
	{metered, "price.schedule[+]", `"items"`, "schedule_line_not_object", ""},
	{metered, "price.schedule[0].meter", `"Tokens Out"`, "schedule_meter", ""},
	{metered, "price.schedule[0].meter", `"items"`, "schedule_duplicate_meter", ""},
	{metered, "price.schedule[0].unit", ``, "schedule_unit", ""},
	{metered, "price.schedule[0].per", `0`, "schedule_per", ""},
	{metered, "price.schedule[0].per", `1000.5`, "schedule_per", ""},
	{metered, "price.schedule[0].per_unit", `-2`, "schedule_per_unit", ""},
	{metered, "price.schedule[0].per_unit", ``, "schedule_per_unit", ""},
	{metered, "price.schedule[4].pass_through", `false`, "schedule_pass_through", ""},
	{metered, "price.cap", ``, "cap_missing", ""},
	{metered, "price.cap", `1250000`, "cap_not_object", ""},
	{metered, "price.cap.amount", `0`, "cap_amount", ""},
	{metered, "price.cap.amount", `9007199254740993`, "not_i_json", ""},
	{metered, "price.reservation", ``, "reservation_missing", ""},
	{metered, "price.reservation", `90`, "reservation_not_object", ""},
	{metered, "price.reservation.window_days", `0`, "reservation_window_days", ""},
	{metered, "price.rates", `[]`, "tm_rates", ""},
	{metered, "price.ceiling", `{"amount":1,"period":"month"}`, "tm_ceiling", ""},
	{metered, "price.reservation.window_days", `120`, "reservation_beyond_term", ""},
	// Price: no charge.
	{free, "price.currency", `"XCR"`, "no_charge_extra_member", ""},
	{free, "price.minimum", `{"amount":1}`, "no_charge_extra_member", ""},
	{free, "price.grade", ``, "price_grade", ""},
	// Volume, change control, termination.
	{fixedFee, "volume", `{"grade":"enforced"}`, "volume_windows", ""},
	{fixedFee, "volume.per_hour", `0`, "volume_windows", ""},
	{fixedFee, "volume.per_week", `9`, "volume_windows", ""},
	{fixedFee, "volume.grade", `"evidence"`, "volume_grade", sow.Info},
	{fixedFee, "change_control", ``, "change_control_missing", ""},
	{fixedFee, "change_control.review_window_days", `0`, "review_window_days", ""},
	{fixedFee, "change_control.grade", `"recorded"`, "change_control_grade", sow.Info},
	{fixedFee, "change_control.approval", `"person"`, "approval_authority", ""},
	{fixedFee, "change_control.approval.formation", `"owner"`, "approval_authority", ""},
	{fixedFee, "change_control.approvals", `{}`, "approvals_not_list", ""},
	{fixedFee, "change_control.approvals[0].act", `"renewal"`, "approval_act", ""},
	{fixedFee, "change_control.approvals[0].authority", `"owner"`, "approval_authority", ""},
	{fixedFee, "change_control.approvals[0].key", `""`, "approval_key", ""},
	{fixedFee, "change_control.approvals[0].approved_at", `"2026-09-31T10:15:42Z"`, "approval_approved_at", ""},
	{fixedFee, "change_control.approvals[0].mandate", `"saltmarsh"`, "approval_mandate", ""},
	{fixedFee, "change_control.approvals[0].authority", `"agent"`, "approval_mandate_on_agent", ""},
	{fixedFee, "termination.convenience_notice_hours", `-1`, "termination", ""},
	{fixedFee, "termination.convenience_notice_hours", ``, "termination", ""},
	{fixedFee, "termination.grade", ``, "grade_missing", ""},
	// Disputes.
	{fixedFee, "disputes", `"none"`, "disputes_not_object", ""},
	{fixedFee, "disputes.posture", `"mediation"`, "disputes_posture", ""},
	{fixedFee, "disputes.grade", `"enforced"`, "disputes_grade", ""},
	{fixedFee, "disputes.grade", `"recorded"`, "disputes_grade", ""},
	{metered, "disputes.arbiter", ``, "arbiter_terms_missing", ""},
	{metered, "disputes.posture", `"none"`, "arbiter_unexpected", ""},
	{metered, "disputes.arbiter.role", `" "`, "arbiter_role", ""},
	{metered, "disputes.arbiter.role", long65, "arbiter_role", ""},
	{metered, "disputes.arbiter.agent", `""`, "arbiter_agent", ""},
	{metered, "disputes.arbiter.independence_days", `0`, "arbiter_independence_days", ""},
	{metered, "disputes.arbiter.deadline_days", `14.5`, "arbiter_deadline_days", ""},
	{metered, "disputes.arbiter.fee", `"loser_pays"`, "arbiter_fee", ""},
	{metered, "disputes.arbiter.fallback", `"arbiter"`, "arbiter_fallback", ""},
	// Confidentiality.
	{fixedFee, "confidentiality.grade", `"recorded"`, "confidentiality_merged", sow.Warning},
	{fixedFee, "confidentiality", `"sealed"`, "confidentiality_not_object", ""},
	{fixedFee, "confidentiality.transport", `true`, "confidentiality_not_object", ""},
	{fixedFee, "confidentiality.transport.sealed", `"yes"`, "transport_sealed", ""},
	{fixedFee, "confidentiality.transport.grade", `"recorded"`, "transport_grade", ""},
	{fixedFee, "confidentiality.retention.max_days", `2.5`, "retention_max_days", ""},
	{fixedFee, "confidentiality.retention.grade", `"evidence"`, "retention_grade", ""},
	{fixedFee, "confidentiality.promises.no_training", `false`, "promise_not_true", ""},
	{fixedFee, "confidentiality.promises.grade", `"enforced"`, "promises_grade", ""},
	{fixedFee, "confidentiality.processors", `"all"`, "processors_not_list", ""},
	{fixedFee, "confidentiality.processors", times(17, `{"service":"s#"}`), "processors_too_many", ""},
	{fixedFee, "confidentiality.processors[0].service", `" "`, "processor_service", ""},
	{fixedFee, "confidentiality.processors[0].service", long121, "processor_service", ""},
	{fixedFee, "confidentiality.processors[0].domain", `""`, "processor_domain", ""},
	{fixedFee, "confidentiality.processors[0].purpose", long301, "processor_purpose", ""},
	{fixedFee, "confidentiality.processors[+]", `{"service":"Plainscan OCR","domain":"plainscan.example"}`, "processor_duplicate", ""},
	{fixedFee, "confidentiality.processors[0].processed_in", `["us"]`, "processor_processed_in_not_subset", ""},
	{fixedFee, "confidentiality.processed_in", `"eu"`, "processed_in_shape", ""},
	{fixedFee, "confidentiality.processors[1].processed_in", `[7]`, "processed_in_shape", ""},
	{metered, "confidentiality.dpa", `"yes"`, "dpa_not_object", ""},
	{metered, "confidentiality.dpa.digest", `"sha256:ADAF"`, "dpa_digest", ""},
	{metered, "confidentiality.dpa.ref", ``, "dpa_ref", sow.Warning},
	{metered, "confidentiality.dpa.ref", `null`, "dpa_ref", ""},
	{metered, "confidentiality.dpa.title", `7`, "dpa_title", sow.Warning},
	{directedOffer, "deliverables.per_task[0].acceptance.threshold.min_fraction", `1.01`, "acceptance_threshold", ""},
	{directedOffer, "deliverables.per_task[0].acceptance.threshold.min_fraction", `-0.5`, "acceptance_threshold", ""},
	{directedOffer, "deliverables.per_task[0].acceptance.threshold.min_fraction", `"0.95"`, "acceptance_threshold", ""},
	{directedOffer, "deliverables.per_task[0].acceptance.threshold.max_errors", `null`, "acceptance_threshold", ""},
	// Reporting.
	{metered, "reporting", `"check_ins"`, "reporting_not_object", ""},
	{fixedFee, "reporting.level", `2`, "reporting_level", ""},
	{metered, "reporting.grade", `"recorded"`, "reporting_grade", ""},
	{metered, "reporting.every", ``, "reporting_every_missing", ""},
	{fixedFee, "reporting.every", `"P1W"`, "reporting_every_unexpected", ""},
	{metered, "reporting.every", `"P1M"`, "duration", ""},
	{metered, "reporting.additions", `"weekly"`, "additions_not_list", ""},
	{metered, "reporting.additions", `[]`, "additions_empty", ""},
	{metered, "reporting.additions", eleven, "additions_too_many", ""},
	{metered, "reporting.additions[0]", `"   "`, "addition", ""},
	{metered, "reporting.additions[0]", long301, "addition", ""},
	// Liability and service floors.
	{metered, "liability", `"capped"`, "liability_not_object", ""},
	{metered, "liability.cap", ``, "liability_cap_missing", ""},
	{metered, "liability.cap.multiple_of_fees", `2`, "liability_cap_both", ""},
	{metered, "liability.cap", `{}`, "liability_cap_neither", ""},
	{fixedFee, "liability.cap.multiple_of_fees", `1.5`, "liability_multiple", ""},
	{metered, "liability.cap.amount", `0`, "liability_amount", ""},
	{metered, "liability.cap.amount", ``, "liability_amount", ""},
	{metered, "liability.cap.currency", `"euros"`, "liability_currency", ""},
	{metered, "liability.carve_outs", `"none"`, "carve_outs_not_list", ""},
	{metered, "liability.carve_outs", `[]`, "carve_outs_empty", ""},
	{metered, "liability.carve_outs", eleven, "carve_outs_too_many", ""},
	{metered, "liability.carve_outs[0]", `7`, "carve_outs_entry", ""},
	{metered, "liability.indemnification", `[]`, "indemnification_not_object", ""},
	{metered, "liability.indemnification", `{}`, "indemnification_empty", ""},
	{metered, "liability.indemnification.by_client", `"all"`, "indemnification_not_list", ""},
	{metered, "liability.indemnification.by_client", eleven, "indemnification_too_many", ""},
	{metered, "liability.indemnification.by_provider[0]", `" "`, "indemnification_entry", ""},
	{metered, "liability.grade", `"evidence"`, "liability_grade", ""},
	{metered, "service_floors", `"fast"`, "service_floors_not_object", ""},
	{metered, "service_floors.floors", `[]`, "floors_missing", ""},
	{metered, "service_floors.floors", times(11, `{"id":"f#","each_task_within":"PT1H"}`), "floors_too_many", ""},
	{metered, "service_floors.floors[0].id", `"Turn_Around"`, "floor_id", ""},
	{metered, "service_floors.floors[1].id", `"turnaround"`, "floor_duplicate_id", ""},
	{metered, "service_floors.floors[0].each_task_within", `4`, "floor_each_task_within", ""},
	{metered, "service_floors.floors[0].each_task_within", `"PT0S"`, "duration", ""},
	{metered, "service_floors.floors[0].uptime_percent", `99`, "floor_unknown_kind", sow.Warning},
	{metered, "service_floors.breach", ``, "breach_missing", ""},
	{metered, "service_floors.breach.misses", `0`, "breach_misses", ""},
	{metered, "service_floors.breach.within", `30`, "breach_within", ""},
	{metered, "service_floors.breach.remedy", `"fine"`, "breach_remedy", ""},
	{metered, "service_floors.grade", `"enforced"`, "service_floors_grade", ""},
	// Subcontracting.
	{metered, "subcontracting", `"none"`, "subcontracting_not_object", ""},
	{metered, "subcontracting.posture", `"anyone"`, "subcontracting_posture", ""},
	{metered, "subcontracting.grade", `"enforced"`, "subcontracting_grade", ""},
	{metered, "subcontracting.posture", `"none"`, "subcontractors_under_none", ""},
	{metered, "subcontracting.subcontractors", `{}`, "subcontractors_not_list", ""},
	{metered, "subcontracting.subcontractors", `[]`, "subcontractors_empty", ""},
	{metered, "subcontracting.subcontractors", times(17, `{"handle":"h#","scope":"s"}`), "subcontractors_too_many", ""},
	{metered, "subcontracting.subcontractors[1].role", ``, "subcontractor_names_nobody", ""},
	{metered, "subcontracting.subcontractors[+]", `"pell/tariffs"`, "subcontractor_names_nobody", ""},
	{metered, "subcontracting.subcontractors[0].agent", long65, "subcontractor_agent", ""},
	{metered, "subcontracting.subcontractors[0].handle", long121, "subcontractor_handle", ""},
	{metered, "subcontracting.subcontractors[1].role", `" "`, "subcontractor_role", ""},
	{metered, "subcontracting.subcontractors[1].scope", ``, "subcontractor_scope", ""},
	{metered, "subcontracting.subcontractors[0].engagement", long129, "subcontractor_engagement", ""},
	{metered, "subcontracting.subcontractors[+]", `{"agent":"UBNKWIWKJUJE6VRO34PSCGOWWKGTDUZSCDCLNTLVGHPQ22GUKDKJ26UW","scope":"x"}`, "subcontractor_duplicate_agent", ""},
	{metered, "subcontracting.subcontractors[+]", `{"handle":"pell/tariffs","scope":"x"}`, "subcontractor_duplicate_handle", ""},
	// Offers.
	{fixedFee, "starts_at", `null`, "client_seat_not_blank", ""},
	{open, "starts_at", `"2026-10-01T00:00:00Z"`, "starts_at_not_null", ""},
	{open, "qualifications", `{}`, "qualifications_not_list", ""},
	{open, "qualifications", times(11, `{"id":"c#","kind":"asserted","statement":"x","grade":"evidence"}`), "qualifications_too_many", ""},
	{open, "qualifications[+]", `"licensed"`, "qualification_not_object", ""},
	{open, "qualifications[0].id", `"Mesh Registered!"`, "qualification_id", ""},
	{open, "qualifications[0].kind", `"holds_licence"`, "qualification_kind", ""},
	{open, "qualifications[0].statement", ``, "qualification_statement", ""},
	{open, "qualifications[0].statement", long301, "qualification_statement", ""},
	{open, "qualifications[0].grade", ``, "qualification_grade", ""},
	{open, "qualifications[1].offering", ``, "qualification_offering", ""},
	{open, "qualifications[0].offering", `"x"`, "qualification_offering_unexpected", ""},
	{open, "qualifications[0].id", `"has-account"`, "qualification_duplicate_id", ""},
	{open, "qualifications[3].grade", `"enforced"`, "qualification_asserted_enforced", ""},
	{fixedFee, "assertions", `["b","a"]`, "assertions_unsorted", ""},
	{fixedFee, "assertions", `["a","a"]`, "assertions_unsorted", ""},
	{fixedFee, "assertions", `"a"`, "assertions_unsorted", ""},
	{directedOffer, "parties.offered_to", `[]`, "offered_to_list", ""},
	{directedOffer, "parties.offered_to", `"UB6M"`, "offered_to_party_not_object", ""},
	{directedOffer, "parties.offered_to.agent", ``, "offered_to_party_agent", ""},
	{directedOffer, "parties.offered_to.owner", ``, "offered_to_party_owner", ""},
	{directedOffer, "parties.offered_to.handle", `7`, "offered_to_party_handle", ""},
	{directedOffer, "parties.offered_to.organization", `"brackwater"`, "offered_to_party_organization", ""},
	{directedOffer, "parties.offered_to.expires_at", `"2026-13-45T00:00:00Z"`, "offered_to_expires_at", ""},
	{directedOffer, "parties.offered_to.grade", `"exclusive"`, "offered_to_grade", ""},
	{directedOffer, "parties.offered_to.expires_at", ``, "directed_unbounded", ""},
	{fixedFee, "parties.offered_to", `{"agent":"UA3MAI2EB4JQSZWVKQYYRR7BL5HGT7ZJ6JZY3HCSWELE6DWEMVJJUJ6W","owner":"Brackwater"}`, "directed_wrong_party", ""},
	// A directed offer names the real place; the same input in an open one does not.
	{directedOffer, "parties.offered_to", `null`, "input_binding_published", ""},
}

// TestMutations makes one edit to a good document and expects one named
// finding.
func TestMutations(t *testing.T) {
	if len(mutations) < 150 {
		t.Fatalf("only %d mutations", len(mutations))
	}
	for _, m := range mutations {
		t.Run(m.base+"/"+m.path+"="+m.to, func(t *testing.T) {
			var to any = drop{}
			if m.to != "" {
				to = json.RawMessage(m.to)
			}
			raw := edit(t, doc(t, m.base), m.path, to)
			_, f := sow.Read(raw, sow.Options{})
			want := m.severity
			if want == "" {
				want = sow.Error
			}
			i := slices.IndexFunc(f, func(x sow.Finding) bool { return x.Code == m.code && x.Severity == want })
			if i < 0 {
				t.Fatalf("no %s %s among %v", want, m.code, f)
			}
			top := func(path string) string {
				return strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' })[0]
			}
			crosses := m.code == "not_i_json" || m.code == "client_seat_not_blank" || m.code == "input_binding_published"
			if !crosses && top(f[i].Member) != top(m.path) {
				t.Errorf("blamed on %s", f[i].Member)
			}
			for _, x := range f.Errors() {
				if x.Code != m.code || want != sow.Error {
					t.Errorf("also %s at %s: %s", x.Code, x.Member, x.Message)
				}
			}
		})
	}
}

// TestGood: the documents mutations start from have no error and no warning.
func TestGood(t *testing.T) {
	for _, name := range []string{fixedFee, metered, free, open, directedOffer, "amendment-v2-proposal"} {
		_, f := sow.Read(doc(t, name), sow.Options{})
		for _, x := range f {
			if x.Severity != sow.Info {
				t.Errorf("%s: %+v", name, x)
			}
		}
	}
}

// TestAuthoring: what is a warning in a document received is an error in one
// of ours, and a version 1 of ours carries the identifier it derives.
func TestAuthoring(t *testing.T) {
	for _, m := range mutations {
		if m.severity != sow.Warning || m.code == "unknown_top_level_member" || m.code == "input_via_on_file" || m.code == "dpa_ref" || m.code == "revisions_under_time_and_materials" {
			continue
		}
		var to any = drop{}
		if m.to != "" {
			to = json.RawMessage(m.to)
		}
		raw := edit(t, doc(t, m.base), m.path, to)
		raw = edit(t, raw, "id", document(t, raw).Mint())
		if _, f := sow.Read(raw, sow.Options{Authoring: true}); !f.Refused(m.code) {
			t.Errorf("%s is no error when authoring: %v", m.code, f)
		}
	}
	raw := edit(t, doc(t, fixedFee), "volume.per_day", json.RawMessage("13"))
	if _, f := sow.Read(raw, sow.Options{Authoring: true}); !f.Refused("id_mint_mismatch") {
		t.Errorf("another identifier is authored: %v", f)
	}
	if _, f := sow.Read(raw, sow.Options{}); !f.OK() {
		t.Errorf("a received document is refused for its identifier: %v", f)
	}
}

// TestNotJSON: bytes that are not one unambiguous document are one finding.
func TestNotJSON(t *testing.T) {
	for name, raw := range map[string]string{
		"nothing": ``, "duplicate": `{"sow":"v1","sow":"v1"}`, "surrogate": `{"id":"\ud800"}`, "not utf-8": "{\"id\":\"\xff\"}",
		"trailing": `{} {}`, "deep": strings.Repeat("[", 70) + strings.Repeat("]", 70), "infinite": `{"version":1e999}`, "byte order": "\ufeff{}",
	} {
		d, f := sow.Read([]byte(raw), sow.Options{})
		if d != nil || len(f) != 1 || f[0].Code != "not_i_json" {
			t.Errorf("%s: %v", name, f)
		}
	}
	if d, f := sow.Read([]byte(`[]`), sow.Options{}); d != nil || len(f) != 1 || f[0].Code != "not_a_document" {
		t.Errorf("a list: %v", f)
	}
}
