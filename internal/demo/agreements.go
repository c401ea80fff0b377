//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"time"

	"vault/approvals/sow"
	"vault/approvals/sow/bundle"
	"vault/internal/provider"
)

const (
	contract   = "Vault: a contract"
	ourName    = "Harbor & Line Outfitters"
	ourAgent   = "UCGE3DKDM2X7HGRXVCEQWL7SYU6C7A7WSK63QGV2Z3CTRVRH3KOHNBL7"
	ourHandle  = "Petrel.mari@harborandline.example"
	whyDenied  = "The price goes up by half, and nobody asked for credit notes."
	pageEnd    = "Scroll to the end of the page once; then you can confirm."
	bundleName = "vault-engagement.json"
	ourRow     = "you pay" // on the row of the list that is about what was formed
	unsaid     = "No speed was agreed."
	unsaidOf   = "work outside the term" // of the runtimes: its pill is off
)

// overPaper is a place on the page of a contract.
var overPaper = image.Pt(paper.Min.X+600, 300)

// runtimes are what the owner says that their nodes and the provider's do: all that the offer states as enforced.
var runtimes = []string{
	"work out of scope", "a task without its inputs", "delivery out of form", "revisions beyond the count", "work past the volume",
	"a version its owner has not signed", "work after a termination", "rates against the price, with cap and ceiling",
	"is sealed on the way", "is deleted when its time is over",
}

// dealing is what the steps of the agreement leave to each other.
type dealing struct {
	*provider.Provider
	host    *host
	inForce []byte // the document
}

// agreements are the worked example of the specification, as the client's owner: from an offer to a contract in force.
func (t *tour) agreements(h *host) error {
	_, err := t.formed(h)
	return err
}

// formed takes the offer up, as far as the contract is in force.
func (t *tour) formed(h *host) (*dealing, error) {
	p, err := provider.New(time.Now)
	if err != nil {
		return nil, err
	}
	d := &dealing{Provider: p, host: h}
	return d, t.each(d, t.readOffer, t.pinProvider, t.sayRuntimes, t.fillSeat, t.countersign, t.complete)
}

func (t *tour) each(d *dealing, steps ...func(*dealing) error) error {
	for _, step := range steps {
		if err := step(d); err != nil {
			return err
		}
	}
	return nil
}

// wholeAgreement goes on to the end of the contract.
func (t *tour) wholeAgreement(h *host) error {
	d, err := t.formed(h)
	if err != nil {
		return err
	}
	return t.each(d, t.denyChange, t.approveChange, t.settle, t.verifyEngagement, t.terminate)
}

// onlyAgreements are the agreements and as much before them as they need.
func (t *tour) onlyAgreements() error {
	return t.hosted(func(h *host) error { _, err := t.pairHost(h); return err }, func(*host) error {
		if err := t.openBrowser(); err != nil {
			return err
		}
		return t.enrolFirst(new(hands))
	}, t.wholeAgreement)
}

// file writes what the other side sent into a file of the owner's.
func (t *tour) file(name string, raw []byte) (string, error) {
	path := filepath.Join(t.bed.Home, name)
	return path, os.WriteFile(path, raw, 0o600)
}

// bringIn has the window read a file, from the list of engagements.
func (t *tour) bringIn(path, came, name string) error {
	if err := errors.Join(t.press(rail, "Engagements", main1, "Bring in a document"), t.press(main1, "Bring in a document", main1, "Bring in the file")); err != nil {
		return err
	}
	if err := t.fillAt("Vault", main1, path, path, func() (image.Point, error) {
		at, err := t.see(main1, "Bring in the file")
		return image.Pt(at.Min.X-300, middle(at).Y), err
	}); err != nil {
		return err
	}
	if err := t.press(main1, "Bring in the file", main1, came); err != nil {
		return err
	}
	return t.shot(name)
}

// fillAt types into the field at a place of a window until what is to be seen of it stands there.
func (t *tour) fillAt(title string, in image.Rectangle, text, seen string, where func() (image.Point, error)) error {
	return t.until("“"+seen+"” in its field", func() (bool, error) {
		at, err := where()
		if err != nil {
			return false, err
		}
		// The browser may have the keyboard.
		id, err := t.screen.AwaitWindow(t.ctx, title)
		if err != nil {
			return false, err
		}
		if err := errors.Join(t.screen.Place(t.ctx, id, in.Min), t.click(at), t.screen.Press(t.ctx, "ctrl+a"), t.screen.Type(t.ctx, text), t.screen.Press(t.ctx, "Home")); err != nil {
			return false, err
		}
		return t.within(again, func() (bool, error) {
			found, err := t.look(in, seen)
			return len(found) > 0, err
		})
	})
}

// under is where the field below a label is.
func (t *tour) under(in image.Rectangle, label string) func() (image.Point, error) {
	return func() (image.Point, error) {
		at, err := t.see(in, label)
		return image.Pt(at.Min.X+24, middle(at).Y+38), err
	}
}

// holding is where the field is that held a text at first.
func (t *tour) holding(in image.Rectangle, text string) func() (image.Point, error) {
	var last image.Point
	return func() (image.Point, error) {
		found, err := t.look(in, text)
		if len(found) > 0 {
			last = middle(found[0])
		}
		return last, err
	}
}

// readOffer brings the provider's standing proposal in and reads it.
func (t *tour) readOffer(d *dealing) error {
	raw, err := d.Offer()
	if err != nil {
		return err
	}
	path, err := t.file("offer.json", raw)
	if err != nil {
		return err
	}
	if err := t.bringIn(path, "A document was brought in", "offer-brought"); err != nil {
		return err
	}
	if _, err := t.see(main1, "Pin…"); err != nil {
		return err
	}
	if err := t.openContract("Read", "You pay at most"); err != nil {
		return err
	}
	// What decides, in the first screen; then what the document does not say.
	for _, text := range []string{"40.00 XCR", "6 months", "24 hours", "12 clauses claim to be enforced, and nothing you say of the runtimes enforces them."} {
		if _, err := t.see(paper, text); err != nil {
			return err
		}
	}
	if err := t.shot("offer-page"); err != nil {
		return err
	}
	for _, p := range [][2]string{{"how is not said. Ask before you sign.", "offer-page-access"}, {unsaid, "offer-page-unsaid"}} {
		if _, err := t.scrollIn(paper, overPaper, p[0]); err != nil {
			return err
		}
		if err := t.shot(p[1]); err != nil {
			return err
		}
	}
	if err := t.toEnd("offer-page-end"); err != nil {
		return err
	}
	t.tell("Another firm's offer was brought in from a file: what it costs at most, until when, how to get out, and what it does not say.")
	return t.closeContract()
}

// openContract opens a document from the main window, beside it.
func (t *tour) openContract(button, text string) error {
	at, err := t.see(main1, button)
	if err != nil {
		return err
	}
	if err := t.click(middle(at)); err != nil {
		return err
	}
	return t.bringTo(paper, contract, text)
}

// toEnd turns the wheel over the page until it does not move any more.
func (t *tour) toEnd(name string) error {
	for {
		was, err := t.screen.Screen()
		if err != nil {
			return err
		}
		if err := t.screen.Wheel(t.ctx, overPaper, 20); err != nil {
			return err
		}
		moved, err := t.within(again/2, func() (bool, error) {
			now, err := t.screen.Screen()
			return now != was, err
		})
		if err != nil {
			return err
		}
		if !moved {
			return t.shot(name)
		}
	}
}

func (t *tour) closeContract() error { return t.leave(contract) }

// pinProvider pins the provider's key after it was compared.
func (t *tour) pinProvider(d *dealing) error {
	if err := t.press(main1, "Pin…", main1, "They told me this key"); err != nil {
		return err
	}
	// The person compares it with what the provider has told them.
	if _, err := t.see(main1, d.Key); err != nil {
		return fmt.Errorf("the window shows another key than the provider's: %w", err)
	}
	if err := t.press(main1, "They told me this key", main1, "Confirm: They told me this key"); err != nil {
		return err
	}
	if err := t.shot("offer-pin"); err != nil {
		return err
	}
	if err := t.press(main1, "Confirm: They told me this key", main1, "The key is pinned"); err != nil {
		return err
	}
	t.tell("The provider's key was compared with what it had told, and pinned.")
	return t.shot("offer-pinned")
}

// fillSeat completes the offer as the client, and is told why it cannot be signed yet.
func (t *tour) fillSeat(d *dealing) error {
	const fill = "Fill the seat"
	if err := errors.Join(t.press(rail, "Engagements", main1, "Bring in a document"), t.press(main1, provider.Owner, main1, "Export the bundle")); err != nil {
		return err
	}
	if err := t.openContract("Read", "You pay at most"); err != nil {
		return err
	}
	if err := errors.Join(t.press(paper, fill+"…", paper, "As seat 0. Makes the completed contract."), t.press(paper, fill, paper, "Confirm: "+fill)); err != nil {
		return err
	}
	now := time.Now().UTC()
	for _, f := range [][3]string{
		{"Your name, as the contract is to say it", ourName, ourName}, {"Your agent’s key, U…", ourAgent, ourAgent[:24]}, {"Handle, if it has one", ourHandle, ourHandle},
		{now.AddDate(0, 0, 1).Format("2 Jan 2006, 00:00 UTC"), now.Format("2 Jan 2006, 15:04 UTC"), now.Format("2 Jan 2006, 15:04 UTC")},
	} {
		if err := t.fillAt(contract, paper, f[1], f[2], t.holding(paper, f[0])); err != nil {
			return err
		}
	}
	if err := t.shot("seat"); err != nil {
		return err
	}
	// What is made comes as another window, which has no place yet.
	if err := t.until("the completed contract", func() (bool, error) {
		at, err := t.look(paper, "Confirm: "+fill)
		if err != nil {
			return false, err
		}
		if len(at) > 0 {
			if err := t.click(middle(at[0])); err != nil {
				return false, err
			}
		}
		return t.within(again, func() (bool, error) {
			ids, err := t.screen.Windows(t.ctx, contract)
			for _, id := range ids {
				_ = t.screen.Place(t.ctx, id, paper.Min)
			}
			found, err2 := t.look(paper, "Sign version 1")
			return len(found) > 0, errors.Join(err, err2)
		})
	}); err != nil {
		return err
	}
	t.tell("The seat was filled, which signs nothing: the completed contract is a page of its own.")
	return t.shot("instance")
}

// sayRuntimes says in Settings what the nodes do, without which nothing that is stated as enforced is signed.
func (t *tour) sayRuntimes(*dealing) error {
	if err := t.press(rail, "Settings", main1, "Recovery words"); err != nil {
		return err
	}
	if _, err := t.scroll(runtimes[len(runtimes)-1]); err != nil {
		return err
	}
	// A pill that was pressed twice on a slow computer is off again, so all are looked at until none is.
	for pressed := true; pressed; {
		pressed = false
		for _, what := range runtimes {
			p, err := t.say(what)
			if err != nil {
				return err
			}
			pressed = pressed || p
		}
	}
	t.tell("In Settings the owner said what the nodes of both sides refuse by themselves; what is not said counts as no.")
	return t.shot("runtimes")
}

// say presses a pill of the main window unless it is on, and says whether it had to.
func (t *tour) say(text string) (pressed bool, err error) {
	if _, err := t.scroll(text); err != nil {
		return false, err
	}
	fill := func(text string) (at image.Rectangle, c color.RGBA, err error) {
		if at, err = t.see(main1, text); err != nil {
			return at, c, err
		}
		img, err := t.screen.Screen()
		if err != nil {
			return at, c, err
		}
		return at, img.RGBAAt(at.Min.X-5, middle(at).Y), nil
	}
	var at image.Rectangle
	on := func() (bool, error) {
		_, off, err := fill(unsaidOf)
		if err != nil {
			return false, err
		}
		var now color.RGBA
		at, now, err = fill(text)
		return now != off, err
	}
	for range 20 {
		is, err := on()
		if is || err != nil {
			return pressed, err
		}
		pressed = true
		if err := t.click(middle(at)); err != nil {
			return true, err
		}
		if _, err := t.within(4*again, on); err != nil {
			return true, err
		}
	}
	return true, fmt.Errorf("“%s” was pressed 20 times and is not on", text)
}

// sign takes a row of the contract's window, reads the page to its end, and confirms with the passkey.
func (t *tour) sign(row, said, name string) error {
	if err := errors.Join(t.toEnd(name+"-end"), t.press(paper, row, paper, "Confirm: "+row), t.shot(name), t.press(paper, "Confirm: "+row, paper, "Confirm with your passkey")); err != nil {
		return err
	}
	return errors.Join(t.browser.Open(), t.browser.Await("ready"), t.still(name+"-page"), t.browser.Press("#go"), t.browser.Await("over"), t.picture(paper, said, name+"-done"))
}

// countersign signs the completed instance.
func (t *tour) countersign(*dealing) error {
	if err := errors.Join(t.sign("Sign version 1", "You signed version 1", "countersign"), t.closeContract()); err != nil {
		return err
	}
	t.tell("It was countersigned with the passkey: the page of the ceremony names the digest that the window shows.")
	return nil
}

// bundle exports what there is of the engagement that a row of the list is about.
func (t *tour) bundle(row string) ([]byte, error) {
	if err := errors.Join(t.press(rail, "Engagements", main1, "Bring in a document"), t.press(main1, row, main1, "Export the bundle"),
		t.press(main1, "Export the bundle", main1, "The bundle was exported")); err != nil {
		return nil, err
	}
	name := filepath.Join(t.bed.Home, bundleName)
	raw, err := os.ReadFile(name)
	return raw, errors.Join(err, os.Remove(name))
}

// agent brings a document through the agent's host.
func (d *dealing) bring(request string, document []byte, move string) *besides {
	args := map[string]any{"request_id": request, "session": "trip", "document": json.RawMessage(document)}
	if move != "" {
		args["move"] = move
	}
	return d.host.begin("submit_sow", args)
}

// complete has the provider complete the agreement, which the agent brings.
func (t *tour) complete(d *dealing) error {
	raw, err := t.bundle("Signed by one side")
	if err != nil {
		return err
	}
	b, err := bundle.Parse(raw)
	if err != nil {
		return err
	}
	if d.inForce, err = d.Sign(b.Document); err != nil {
		return err
	}
	if got, err := d.bring("complete", d.inForce, "").wait(); err != nil || got.failed || got.Code != "" {
		return fmt.Errorf("bringing the completed agreement gave %s (%v)", got.text, err)
	}
	if err := t.picture(main1, "In force. You pay at most 40.00 XCR a month, until", "in-force"); err != nil {
		return err
	}
	t.tell("The provider's signature came back through an agent. The agreement is in force, with both signatures on the same bytes.")
	return nil
}

// proposed has the agent bring a change, and opens what it changes.
func (t *tour) proposed(d *dealing, request string, changes ...provider.Change) (*besides, error) {
	next, err := d.Amend(d.inForce, changes...)
	if err != nil {
		return nil, err
	}
	asked := d.bring(request, next, "approve")
	if err := t.press(rail, "Inbox", main1, "A change is proposed to you"); err != nil {
		return nil, err
	}
	if err := t.shot("inbox-" + request); err != nil {
		return nil, err
	}
	return asked, t.openContract("Read", "Version 1, in force")
}

// heard waits for what the agent is told.
func (t *tour) heard(asked *besides, outcome string) error {
	if got, err := asked.wait(); err != nil || got.failed || got.Outcome != outcome {
		return fmt.Errorf("the agent was told %s, want %s (%v)", got.text, outcome, err)
	}
	return nil
}

// denyChange compares a change that moves the price and widens the scope, and denies it with a reason.
func (t *tour) denyChange(d *dealing) error {
	asked, err := t.proposed(d, "greedy", provider.Dearer(provider.Greedy), provider.Wider())
	if err != nil {
		return err
	}
	for _, text := range []string{"2.50 XCR", "Version 2, proposed"} {
		if _, err := t.see(paper, text); err != nil {
			return err
		}
	}
	if err := t.shot("change"); err != nil {
		return err
	}
	const deny = "Deny version 2"
	if err := errors.Join(t.press(paper, deny, paper, "Confirm: "+deny), t.fillAt(contract, paper, whyDenied, whyDenied, t.under(paper, "Your reason, read by the other side and kept in the record")),
		t.shot("change-deny"), t.press(paper, "Confirm: "+deny, paper, "You denied version 2"), t.shot("change-denied"), t.closeContract(), t.heard(asked, "denied")); err != nil {
		return err
	}
	t.tell("A change came that moves the price and widens the scope. It was compared, and denied with a reason; the agent was told.")
	return nil
}

// approveChange approves a better one with the passkey.
func (t *tour) approveChange(d *dealing) error {
	asked, err := t.proposed(d, "fair", provider.Dearer(provider.Fairer))
	if err != nil {
		return err
	}
	if err := errors.Join(t.sign("Approve version 2", "You approved version 2", "change-approve"), t.closeContract(), t.heard(asked, "signed")); err != nil {
		return err
	}
	t.tell("A better one came, and was approved with the passkey.")
	return nil
}

// settle brings a settlement record whose fee is off by one, is told what is wrong, and disputes it.
func (t *tour) settle(d *dealing) error {
	doc, err := sow.Parse(d.inForce)
	if err != nil {
		return err
	}
	path, err := t.file("settlement.json", provider.Settlement(doc.ID(), provider.Fairer, 1))
	if err != nil {
		return err
	}
	if err := t.bringIn(path, "A settlement does not add up", "settlement"); err != nil {
		return err
	}
	if _, err := t.scroll("The operator’s fee is not what its own basis makes."); err != nil {
		return err
	}
	if err := t.shot("settlement-dispute"); err != nil {
		return err
	}
	dispute := "Dispute the settlement record of " + time.Now().UTC().Format("2 January 2006")
	if _, err := t.scroll("Dispute an amount…"); err != nil {
		return err
	}
	if err := t.openContract("Dispute an amount…", dispute); err != nil {
		return err
	}
	if err := errors.Join(t.press(paper, dispute, paper, "Confirm: "+dispute),
		t.fillAt(contract, paper, "0.000001", "0.000001", t.under(paper, "Amount in the contract’s currency")),
		t.fillAt(contract, paper, "The fee is one above its own basis.", "The fee is one above its own basis.", t.under(paper, "Your reason, kept in the record")),
		t.shot("dispute"), t.press(paper, "Confirm: "+dispute, paper, "Confirm with your passkey"), t.browser.Confirm(),
		t.picture(paper, "You opened a dispute", "dispute-done"), t.closeContract()); err != nil {
		return err
	}
	t.tell("A settlement record came whose operator's fee is one too high. The vault named the dispute, repaired nothing, and it was opened with the passkey.")
	return nil
}

// verifyEngagement has all of it verified where there is no vault: by who has the owner card and the provider's key, and by
// who has neither.
func (t *tour) verifyEngagement(d *dealing) error {
	if t.card == nil {
		if err := t.exportCard(); err != nil {
			return err
		}
	}
	raw, err := t.bundle(ourRow)
	if err != nil {
		return err
	}
	dir := filepath.Join(t.bed.Dir, "court")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "card.json"), t.card, 0o600), os.WriteFile(filepath.Join(dir, bundleName), raw, 0o600)); err != nil {
		return err
	}
	pinned := []string{"sow", "verify", "--key", "provider=" + d.Key, "--card", "card.json", bundleName}
	if _, err := t.checks(dir, pinned, 0, "Verified against your pin."); err != nil {
		return err
	}
	if _, err := t.checks(dir, []string{"sow", "verify", bundleName}, 3, "Self-consistent. Not pinned: anybody could have made this file"); err != nil {
		return err
	}
	const was, is = `one above`, `two above`
	changed := bytes.Replace(raw, []byte(was), []byte(is), 1)
	if bytes.Equal(changed, raw) {
		return fmt.Errorf("the bundle has no %q", was)
	}
	if err := os.WriteFile(filepath.Join(dir, bundleName), changed, 0o600); err != nil {
		return err
	}
	wrong, err := t.checks(dir, pinned, 1, "Not valid.")
	if err != nil {
		return err
	}
	t.tell("The whole engagement, elsewhere, with the owner card and the provider's key: verified (status 0); with neither: status 3; with one word changed: not valid (status 1). Wrong: %s.", strings.Join(wrong, ", "))
	return nil
}

// terminate ends the engagement with the passkey.
func (t *tour) terminate(*dealing) error {
	if _, err := t.scroll("End it…"); err != nil {
		return err
	}
	const end = "End it for convenience"
	if err := t.openContract("End it…", end); err != nil {
		return err
	}
	if err := errors.Join(t.press(paper, end, paper, "Confirm: "+end), t.shot("end"), t.press(paper, "Confirm: "+end, paper, "Confirm with your passkey"), t.browser.Confirm(),
		t.picture(paper, "You ended the engagement", "end-done"), t.closeContract()); err != nil {
		return err
	}
	if err := errors.Join(t.press(rail, "Engagements", main1, "Bring in a document"), t.press(main1, ourRow, main1, "Export the bundle"),
		t.picture(main1, "The notice ends, and with it the engagement", "end-notice")); err != nil {
		return err
	}
	t.tell("It was ended with the passkey: the day's notice runs, and the timeline says when it is over.")
	return nil
}
