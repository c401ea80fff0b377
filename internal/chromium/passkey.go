//go:build linux

package chromium

import (
	"fmt"

	cdpwa "github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
)

// Kind is what a passkey is kept in.
type Kind string

// The kinds. Chromium takes one Device at a time, and any number of Sticks.
const (
	Stick  Kind = "security key" // with a PIN; keeps a counter
	Device Kind = "this device"  // the computer itself
)

// Passkey is one that the browser has. Plugged in, it answers whoever asks it, verified, at once.
type Passkey struct {
	b  *Browser
	id cdpwa.AuthenticatorID
}

// Authenticator is how Chromium plays one of the kind.
func (k Kind) Authenticator() *cdpwa.VirtualAuthenticatorOptions {
	o := cdpwa.VirtualAuthenticatorOptions{
		Protocol: cdpwa.AuthenticatorProtocolCtap2, Ctap2version: cdpwa.Ctap2versionCtap21, Transport: cdpwa.AuthenticatorTransportUsb,
		HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
	}
	if k == Device {
		o.Transport, o.HasResidentKey = cdpwa.AuthenticatorTransportInternal, true
	}
	return &o
}

// Plug gives the browser a passkey.
func (b *Browser) Plug(k Kind) (*Passkey, error) {
	ctx, stop := b.soon()
	defer stop()
	r, err := chromedp.Call(ctx, cdpwa.AddVirtualAuthenticator, cdpwa.AddVirtualAuthenticatorParams{Options: k.Authenticator()})
	if err != nil {
		return nil, fmt.Errorf("plug in a passkey: %w", err)
	}
	return &Passkey{b, r.AuthenticatorID}, nil
}

// Touched says whether anybody touches the passkey when it is asked. Where nobody does, the browser waits.
func (p *Passkey) Touched(yes bool) error {
	ctx, stop := p.b.soon()
	defer stop()
	_, err := chromedp.Call(ctx, cdpwa.SetAutomaticPresenceSimulation, cdpwa.SetAutomaticPresenceSimulationParams{AuthenticatorID: p.id, Enabled: yes})
	if err != nil {
		return fmt.Errorf("touch a passkey: %w", err)
	}
	return nil
}

// Verified says whether whoever touches the passkey is verified by it.
func (p *Passkey) Verified(yes bool) error {
	ctx, stop := p.b.soon()
	defer stop()
	_, err := chromedp.Call(ctx, cdpwa.SetUserVerified, cdpwa.SetUserVerifiedParams{AuthenticatorID: p.id, IsUserVerified: yes})
	if err != nil {
		return fmt.Errorf("verify at a passkey: %w", err)
	}
	return nil
}

// Pull takes the passkey away, for good.
func (p *Passkey) Pull() error {
	ctx, stop := p.b.soon()
	defer stop()
	if _, err := chromedp.Call(ctx, cdpwa.RemoveVirtualAuthenticator, cdpwa.RemoveVirtualAuthenticatorParams{AuthenticatorID: p.id}); err != nil {
		return fmt.Errorf("pull a passkey: %w", err)
	}
	return nil
}
