package envelope

// Check is one named check of a verification.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail,omitempty"` // why it failed, or what was not checked
}

// Report is the answer of a verification: every check by name, whether or not
// an earlier one failed.
type Report struct {
	// Valid is true if every check is OK. It says nothing about legitimacy.
	Valid bool `json:"valid"`
	// Reason is the detail of the first check that failed.
	Reason string `json:"reason,omitempty"`
	// Recovered is the address the signature recovers to, if it was reached.
	Recovered string  `json:"recoveredAddress,omitempty"`
	Checks    []Check `json:"checks"`
	// Warnings are sentences about what is odd but does not make it invalid.
	Warnings []string `json:"warnings,omitempty"`
	// Pinned is true if something the caller already trusted ties the document
	// to its maker. A valid report that is not pinned proves only that the
	// document agrees with itself: anybody could have made it.
	Pinned bool `json:"pinned"`
}

func newReport() *Report { return &Report{Valid: true} }

// check records one check. The detail is kept only where it failed.
func (r *Report) check(name string, ok bool, detail string) bool {
	if ok {
		r.Checks = append(r.Checks, Check{Name: name, OK: true})
		return true
	}
	r.Checks = append(r.Checks, Check{Name: name, Detail: detail})
	if r.Valid {
		r.Valid, r.Reason = false, detail
	}
	return false
}

// checkErr records a check that fails with an error's text.
func (r *Report) checkErr(name string, err error) bool {
	if err != nil {
		return r.check(name, false, err.Error())
	}
	return r.check(name, true, "")
}

func (r *Report) warn(s string) { r.Warnings = append(r.Warnings, s) }

// Check returns the named check, and false if the verification has none.
func (r *Report) Check(name string) (Check, bool) {
	for _, c := range r.Checks {
		if c.Name == name {
			return c, true
		}
	}
	return Check{}, false
}

// notReached is the detail of a check whose subject is missing because of an
// earlier fault.
const notReached = "not reached"

// signed checks a signature's form and the address it recovers to.
func (r *Report) signed(sigText string, digest [32]byte, known bool, address, mismatch string) {
	sig, err := ParseSignature(sigText)
	r.checkErr("signatureWellFormed", err)
	if err != nil || !known {
		r.check("signatureValid", false, notReached)
		r.check("addressMatches", false, notReached)
		return
	}
	got, err := sig.Recover(digest)
	if !r.checkErr("signatureValid", err) {
		r.check("addressMatches", false, notReached)
		return
	}
	r.Recovered = got
	r.check("addressMatches", sameAddress(got, address), mismatch)
}
