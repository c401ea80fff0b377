package opened

import (
	"slices"

	"vault/approvals/agreement"
	"vault/approvals/sow"
	"vault/derive/jcs"
)

// Delivery is a delivery that the provider's agent has signed for, with what the form checks find about it (15.3): what a review
// stands beside.
type Delivery struct {
	Record    string // SHA-256 of the job manifest
	Task, Job string // as it names them, hostile text
	At        int64  // milliseconds since epoch: when it was brought in
	Form      sow.Findings
	Reviewed  bool // by either side
}

// Deliveries lists the deliveries of an engagement, the newest first. What nobody has signed says nothing of what was delivered.
func (o Agreement) Deliveries() (out []Delivery) {
	for _, r := range slices.Backward(o.View.Records) {
		if r.Kind != agreement.RecordJobManifest || !r.Verified {
			continue
		}
		v, err := jcs.Parse([]byte(r.Text), jcs.SoW)
		if err != nil {
			continue
		}
		x := Delivery{Record: r.SHA256, Task: v.Get("task_id").Text(), Job: v.Get("job").Text(), At: r.At}
		var pieces []sow.Artifact
		for _, p := range v.Get("pieces").Items() {
			pieces = append(pieces, sow.Artifact{Name: p.Get("name").Text(), MediaType: p.Get("media_type").Text()})
		}
		x.Form = o.Doc.CheckForm(pieces)
		x.Reviewed = slices.ContainsFunc(o.View.Reviews, func(w agreement.Review) bool {
			return x.Task != "" && slices.Contains(w.Cites, x.Task) || x.Job != "" && slices.Contains(w.Cites, x.Job)
		})
		out = append(out, x)
	}
	return out
}

// Name is what a review of it cites: the task, else the job.
func (d Delivery) Name() string {
	if d.Task != "" {
		return d.Task
	}
	return d.Job
}

// Inputs are the names of the document's inputs, each once, in its order: what a trial tries (13). Hostile text.
func (o Agreement) Inputs() (out []string) {
	for _, in := range o.Doc.Get("inputs").Items() {
		if name := in.Get("name").Text(); name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// MayProbe says whether the owner can sign the record of a trial about this version: they hold a seat in it, and a trial comes before
// or after a signature (13).
func (o Agreement) MayProbe() bool { return o.View.Role != "" && o.View.Seat.Key != "" }

// Report is a problem report as it came (14.1): all of it hostile text.
type Report struct{ Input, Problem, Description, Expected string }

// ReportOf reads a problem report, and false for another record.
func ReportOf(r agreement.RecordView) (Report, bool) {
	v, err := jcs.Parse([]byte(r.Text), jcs.SoW)
	if r.Kind != agreement.RecordProblem || err != nil {
		return Report{}, false
	}
	return Report{v.Get("input").Text(), v.Get("problem").Text(), v.Get("description").Text(), v.Get("expected").Text()}, true
}
