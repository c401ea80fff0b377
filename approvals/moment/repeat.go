package moment

// Key names what can be resolved once: one envelope in one session of one client
// (sections 7.3, 12.5). It is comparable.
type Key struct {
	Client  string
	Session string
	Digest  string // envelope digest
}

// Earlier is a moment that was presented before, resolved or still open.
type Earlier struct {
	Key
	Question   string // Envelope.Question of it
	Choice     Choice // "" while it is open
	ResolvedAt int64  // milliseconds since the epoch; counts only with a Choice
}

// AskedAgainMS is how long a question that was rejected stays remembered, in
// milliseconds.
const AskedAgainMS = 10 * 60 * 1000

// Repetition says how an envelope relates to earlier ones.
type Repetition struct {
	// Open says that the byte-identical envelope is open in the same session: it
	// is merged and counted.
	Open bool
	// Answered is how the same session resolved the byte-identical envelope, ""
	// if it did not: it is not asked again.
	Answered Choice
	// Elsewhere says that the byte-identical envelope was resolved in another
	// session. It may be resolved here too.
	Elsewhere bool
	// Rejected says that the owner rejected the question with the same stem and
	// options in this session within AskedAgainMS.
	Rejected bool
}

// Repeats compares an envelope with earlier ones at an instant (milliseconds
// since the epoch).
func (e *Envelope) Repeats(client, session string, earlier []Earlier, now int64) (out Repetition) {
	here := Key{client, session, e.digest}
	for _, p := range earlier {
		same := p.Client == client && p.Session == session
		switch {
		case p.Key == here && p.Choice == "":
			out.Open = true
		case p.Key == here:
			out.Answered = p.Choice
		case p.Digest == e.digest && p.Choice != "":
			out.Elsewhere = true
		}
		age := now - p.ResolvedAt
		if same && p.Choice == ChoseQuestion && p.Question == e.question && age >= 0 && age < AskedAgainMS {
			out.Rejected = true
		}
	}
	return out
}
