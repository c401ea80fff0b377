package walk_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"vault/approvals/sow"
	"vault/approvals/sow/bundle"
	"vault/internal/provider"
	"vault/ipc/client"
)

// says types a command, waits for what it says, and for the next prompt; it gives what stands before.
func (r *rig) says(line, want string) string {
	r.t.Helper()
	r.take(line)
	before := r.await(want)
	r.await("vault> ")
	return before
}

// agreement shows the agreement that stands in the list with these words, to the end of its pages.
func (r *rig) agreement(state string) string {
	r.t.Helper()
	r.take("agreement " + r.listed(state))
	return r.page()
}

// listed waits until an agreement stands in the list with these words, and gives its number.
func (r *rig) listed(state string) string {
	r.t.Helper()
	for end := time.Now().Add(patience); ; {
		r.take("agreements")
		list := r.await("vault> ")
		number := ""
		for l := range strings.SplitSeq(list, "\n") {
			if m := regexp.MustCompile(`(\d+)\. sow_`).FindStringSubmatch(l); m != nil {
				number = m[1]
			}
			if number != "" && strings.Contains(l, state) {
				return number
			}
		}
		if time.Now().After(end) {
			r.t.Fatalf("nothing is %q in %s", state, list)
		}
	}
}

// page reads what is shown to its end, and to the question what is to be done.
func (r *rig) page() (text string) {
	r.t.Helper()
	for {
		text += r.await("q: close")
		if more := r.await(" "); more == ";" { // the list of what can be done ends so
			r.await("Your answer: ")
			return text
		}
		r.take("")
	}
}

// does answers with the choice that begins so.
func (r *rig) does(text, words string) {
	r.t.Helper()
	m := regexp.MustCompile(`(?m)^(\d+): `+regexp.QuoteMeta(words)).FindAllStringSubmatch(text, -1)
	if len(m) != 1 {
		r.t.Fatalf("%d choices begin with %q: %s", len(m), words, text)
	}
	r.take(m[0][1])
}

// closes leaves what is shown and decides nothing.
func (r *rig) closes() {
	r.t.Helper()
	r.take("q")
	r.await("Closed. Nothing was decided.")
	r.await("vault> ")
}

// signed confirms with the passkey, and waits for what is said.
func (r *rig) signed(said string) {
	r.t.Helper()
	r.confirmed()
	r.await(said)
	r.await("vault> ")
}

func (r *rig) holds(text string, all ...string) {
	r.t.Helper()
	flat := strings.Join(strings.Fields(text), " ")
	for _, want := range all {
		if !strings.Contains(flat, want) {
			r.t.Errorf("%q is not in %s", want, flat)
		}
	}
}

// bundled has the bundle of an agreement written to a file.
func (r *rig) bundled(state, file string) []byte {
	r.t.Helper()
	r.does(r.agreement(state), "write the bundle to a new file")
	r.answer("The new file: ", file)
	r.await("Written.")
	r.await("vault> ")
	raw, err := os.ReadFile(file)
	must(r.t, err)
	return raw
}

// asked is what an agent gets that brings a document and wants it signed.
type asked struct {
	Code    string `json:"code"`
	Outcome string `json:"outcome"`
}

// brings has the agent bring a document; with a move it waits for the owner.
func (r *rig) brings(agent *client.Conn, id, move string, document []byte) <-chan asked {
	out := make(chan asked, 1)
	go func() {
		var a asked
		got, err := agent.SubmitSoW(r.ctx, client.SoW{RequestID: id, Session: "books", Document: document, Move: move})
		for err == nil && got.Pending != "" {
			got, err = agent.AwaitSoW(r.ctx, got.Pending)
		}
		if err == nil {
			err = json.Unmarshal(got.Result, &a)
		}
		if err != nil {
			r.t.Errorf("bringing %s: %v", id, err)
		}
		out <- a
	}()
	return out
}

// file writes what the other side sent.
func (r *rig) file(name string, raw []byte) string {
	r.t.Helper()
	path := filepath.Join(r.bed.Dir, name)
	must(r.t, os.WriteFile(path, raw, 0o600))
	return path
}

// TestAgreement is the worked example of the specification, as the client's owner: from another firm's offer to the end of
// what was formed under it, with a passkey and with nobody's help.
func TestAgreement(t *testing.T) {
	r := start(t)
	r.serve()
	r.create()
	r.enrolFirst()
	agent, _ := r.pair()
	r.await("vault> ")
	them, err := provider.New(time.Now)
	must(t, err)

	// The offer is brought in and read: what it costs, until when, how to get out, what it does not say, what bars it.
	offer, err := them.Offer()
	must(t, err)
	o, err := sow.Parse(offer)
	must(t, err)
	seat, _ := o.Party(sow.Provider)
	r.says("bring "+r.file("offer.json", offer), "Kept.")
	text := r.agreement("Offer")
	r.holds(text, "40.00 XCR", "6 months", "24 hours", "how is not said. Ask before you sign.", "No speed was agreed.", "A signature claims | "+them.Key,
		"12 clauses claim to be enforced", "Not now: fill the open seat")
	r.closes()

	// The key is pinned, and what the runtimes do is said: nothing is signed without.
	r.says("pin "+seat.Agent+" "+them.Key, "Pinned.")
	for _, word := range []string{"scope", "inputs", "form", "revisions", "volume", "versions", "termination", "rating", "sealed", "retention"} {
		r.says("runtimes "+word+" yes", "Grades are earned anew")
	}

	// The seat is filled, and the completed contract countersigned with the passkey.
	text = r.agreement("Offer")
	if strings.Contains(text, "claim to be enforced, and nothing") {
		t.Error("a grade is not earned yet")
	}
	r.does(text, "fill the open seat")
	for _, a := range [][2]string{
		{"Your name, as the contract is to say it: ", "Harbor & Line Outfitters"}, {"Your agent's key, U…: ", "UCGE3DKDM2X7HGRXVCEQWL7SYU6C7A7WSK63QGV2Z3CTRVRH3KOHNBL7"},
		{"Its handle, or nothing: ", "Petrel.mari@harborandline.example"}, {"Organization org_…, or nothing: ", ""}, {"It starts, in UTC [", time.Now().UTC().Format("2006-01-02 15:04")},
		{"Where ledger is, or nothing: ", "https://ledger.harborandline.example/mcp"}, {"Where receipts is, or nothing: ", ""}, {"That is true of you. Type yes to go on: ", "yes"},
	} {
		r.answer(a[0], a[1])
	}
	text = r.page()
	r.holds(text, "This is what you would sign. Nothing is signed yet.", "Harbor & Line Outfitters", "https://ledger.harborandline.example/mcp")
	r.does(text, "sign it, with your passkey")
	r.signed("Signed.")

	// The provider completes it, and the agent brings it: it is in force.
	b, err := bundle.Parse(r.bundled("Signed by one side", filepath.Join(r.bed.Dir, "request.json")))
	must(t, err)
	inForce, err := them.Sign(b.Document)
	must(t, err)
	if got := <-r.brings(agent, "complete", "", inForce); got.Code != "" {
		t.Fatalf("%+v", got)
	}
	r.listed("In force")
	formed, err := sow.Parse(inForce)
	must(t, err)

	// A change moves the price and widens the scope. It is compared, and denied with a reason.
	greedy, err := them.Amend(inForce, provider.Dearer(provider.Greedy), provider.Wider())
	must(t, err)
	answer := r.brings(agent, "greedy", "approve", greedy)
	text = r.agreement("a change waits for your answer")
	r.holds(text, "2.50 XCR per task", "3.90 XCR per task", "1.40 more", "chase-credit-note")
	r.does(text, "deny the change, with a reason")
	r.answer("Your reason, which the other side gets: ", "The price goes up by half, and nobody asked for credit notes.")
	r.await("Done, and signed.")
	r.await("vault> ")
	if got := <-answer; got.Outcome != "denied" {
		t.Errorf("the agent was told %+v", got)
	}

	// A better one is approved with the passkey.
	fair, err := them.Amend(inForce, provider.Dearer(provider.Fairer))
	must(t, err)
	answer = r.brings(agent, "fair", "approve", fair)
	r.does(r.agreement("a change waits for your answer"), "approve the change, with your passkey")
	r.signed("Signed.")
	if got := <-answer; got.Outcome != "signed" {
		t.Errorf("the agent was told %+v", got)
	}

	// The fee of a settlement record is off by one: the dispute has its name, and is opened with the passkey.
	r.says("bring "+r.file("settlement.json", provider.Settlement(formed.ID(), provider.Fairer, 1)), "Kept.")
	text = r.agreement("a settlement does not add up")
	r.holds(text, "version 2, in force", "The operator’s fee is not what its own basis makes. It is not recorded as settled, and nothing of it was repaired.")
	r.does(text, "dispute an amount, with your passkey")
	r.answer("What you contest: ", "1")
	r.answer("Amount in XCR, as 12.50: ", "0.000001")
	r.answer("Your reason, which the other side gets: ", "The fee is one above its own basis.")
	r.signed("Done, and signed.")

	// All of it is verified in a folder with nothing else, and by somebody without a vault.
	far := filepath.Join(r.bed.Dir, "far")
	must(t, os.Mkdir(far, 0o700))
	r.take("card " + filepath.Join(far, "card.json"))
	r.signed("Written.")
	whole := r.bundled("In force", filepath.Join(far, "bundle.json"))
	pinned := []string{"sow", "verify", "--key", "provider=" + them.Key, "--card", "card.json"}
	r.checks(far, 0, "Verified against your pin.", "", append(pinned, "bundle.json")...)
	r.checks(far, 3, "Self-consistent. Not pinned: anybody could have made this file", "", "sow", "verify", "bundle.json")
	for _, c := range [][3]string{
		{"one above", "two above", "evidence.challengeIsContext, evidence.logOfRecord"},
		{fmt.Sprintf(`"per_task":%d`, provider.Fairer), `"per_task":1`, "signature_invalid, signature_invalid, aboutDocument, confirmsWhatIsHere"},
	} {
		changed := bytes.Replace(whole, []byte(c[0]), []byte(c[1]), 1)
		if bytes.Equal(changed, whole) {
			t.Fatalf("the bundle has no %s", c[0])
		}
		must(t, os.WriteFile(filepath.Join(far, "changed.json"), changed, 0o600))
		r.checks(far, 1, "Not valid.", c[2], append(pinned, "changed.json")...)
	}

	// It is ended with the passkey, and the notice runs.
	r.does(r.agreement("In force"), "end the agreement, with your passkey")
	r.answer("convenience or cause: ", "convenience")
	r.answer("Your reason, which the other side gets, or nothing: ", "")
	r.signed("Done, and signed.")
	r.holds(r.agreement("In force"), "The notice ends, and with it the engagement")
	r.closes()
	r.says("check", "entries")
	r.take("quit")
	<-r.desk.Done()
}
