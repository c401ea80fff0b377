package sow

import "slices"

// Severity says what a finding means for signing.
type Severity string

// The severities. An error bars signing, a warning is to be read first, an
// info states what the document leaves open.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Info    Severity = "info"
)

// Finding is one observation about a document, with the section it comes from,
// the member it is about (a path as jcs.Value.Leaves writes it, "" for the
// whole) and what would settle it. Detail in the message is plain text of ours;
// text from the document stands quoted in it.
type Finding struct {
	Code     Code     `json:"code"`
	Rule     int      `json:"rule"` // number in the list of rules, 0 for none
	Section  string   `json:"section"`
	Member   string   `json:"member"`
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`
	Remedy   string   `json:"remedy"`
}

// Findings are all observations at once, in the order of the checks.
type Findings []Finding

// OK reports that there is no error among them.
func (f Findings) OK() bool {
	return !slices.ContainsFunc(f, func(x Finding) bool { return x.Severity == Error })
}

// Has reports that a finding with the code is among them, of any severity.
func (f Findings) Has(code Code) bool {
	return slices.ContainsFunc(f, func(x Finding) bool { return x.Code == code })
}

// Refused reports that the code is among them as an error.
func (f Findings) Refused(code Code) bool {
	return slices.ContainsFunc(f, func(x Finding) bool { return x.Code == code && x.Severity == Error })
}

// Errors returns the errors among them.
func (f Findings) Errors() (out Findings) {
	for _, x := range f {
		if x.Severity == Error {
			out = append(out, x)
		}
	}
	return out
}

// First returns the first error, nil if there is none.
func (f Findings) First() *Finding {
	for i := range f {
		if f[i].Severity == Error {
			return &f[i]
		}
	}
	return nil
}

// checker collects findings.
type checker struct {
	authoring bool
	found     Findings
}

// finding makes a finding of a code.
func finding(code Code, member string, authoring bool) Finding {
	r, ok := rows[code]
	if !ok {
		panic("sow: code without a row: " + string(code))
	}
	s := Error
	switch {
	case r.class == informs:
		s = Info
	case r.class == warns, r.class == soft && !authoring:
		s = Warning
	}
	return Finding{Code: code, Rule: r.rule, Section: r.section, Member: member, Severity: s, Message: r.message, Remedy: r.remedy}
}

// one makes a finding outside a check.
func one(code Code, member string) *Finding {
	f := finding(code, member, false)
	return &f
}

// maxFindings bounds how many findings one check collects: a document must not
// be able to ask for memory without end.
const maxFindings = 20000

func (c *checker) push(f Finding) {
	switch {
	case len(c.found) < maxFindings:
		c.found = append(c.found, f)
	case len(c.found) == maxFindings:
		c.found = append(c.found, finding("more_findings", "", c.authoring))
	}
}

func (c *checker) add(code Code, member string) {
	if rows[code].class == minting && !c.authoring {
		return
	}
	c.push(finding(code, member, c.authoring))
}

// barred adds a finding as an error, whatever its code usually weighs: what is
// there is not of the kind a value could be.
func (c *checker) barred(code Code, member string) {
	f := finding(code, member, c.authoring)
	f.Severity = Error
	c.push(f)
}

// detail adds a finding with more to its message.
func (c *checker) detail(code Code, member, more string) {
	f := finding(code, member, c.authoring)
	f.Message += " " + more
	c.push(f)
}

// lower adds a grade below the highest that is allowed, which is no fault.
func (c *checker) lower(code Code, member string) {
	f := finding(code, member, c.authoring)
	f.Severity, f.Message, f.Remedy = Info, "The grade is lower than it may be.", "Nothing needs to be done."
	c.push(f)
}

// notChecked adds that a rule could not be checked for want of a document, and
// why what was brought does not do, "" where nothing was.
func (c *checker) notChecked(code Code, member, why string) {
	r, f := rows[code], finding("not_checked", member, c.authoring)
	f.Rule, f.Section = r.rule, r.section
	if why != "" {
		f.Message = "A rule could not be checked because " + why + "."
	}
	f.Message += " The rule is " + string(code) + "."
	c.push(f)
}

// need adds the code unless ok, and returns ok. The member is a path and the
// names below it, joined only where they are needed.
func (c *checker) need(ok bool, code Code, path string, names ...string) bool {
	if !ok {
		for _, n := range names {
			path = at(path, n)
		}
		c.add(code, path)
	}
	return ok
}
