package confirm

import (
	"encoding/binary"
	"errors"

	"vault/derive/jcs"
)

// The flags of authenticator data (WebAuthn section 6.1).
const (
	flagUP = 1 << 0
	flagUV = 1 << 2
	flagBE = 1 << 3
	flagBS = 1 << 4
	flagAT = 1 << 6
	flagED = 1 << 7
)

// AuthData is the fixed part of authenticator data.
type AuthData struct {
	RPIDHash       [32]byte
	UserPresent    bool
	UserVerified   bool
	BackupEligible bool
	BackedUp       bool
	SignCount      uint32
}

// ParseAuthData reads the first 37 bytes. More may follow exactly if a flag says
// so, and is not looked at: extensions and attested credentials decide nothing
// here.
func ParseAuthData(raw []byte) (AuthData, error) {
	if len(raw) < 37 {
		return AuthData{}, errors.New("parse authenticator data: fewer than 37 bytes")
	}
	flags := raw[32]
	if (len(raw) > 37) != (flags&(flagAT|flagED) != 0) {
		return AuthData{}, errors.New("parse authenticator data: length and flags contradict each other")
	}
	return AuthData{
		RPIDHash: [32]byte(raw[:32]), UserPresent: flags&flagUP != 0, UserVerified: flags&flagUV != 0,
		BackupEligible: flags&flagBE != 0, BackedUp: flags&flagBS != 0, SignCount: binary.BigEndian.Uint32(raw[33:37]),
	}, nil
}

// The reasons for which an assertion that verifies is still refused.
var (
	ErrCounterBack   = errors.New("the passkey's sign counter did not go forward")
	ErrBackupChanged = errors.New("the passkey's backup eligibility changed")
	ErrBackupState   = errors.New("the passkey says it is backed up and cannot be")
)

// CheckCounter compares the sign counter of an assertion with the last one seen.
// Passkeys that do not count always say 0: 0 after 0 is fine. Once a counter was
// seen, only a higher one is; else the error is ErrCounterBack.
func CheckCounter(last, now uint32) error {
	if (last != 0 || now != 0) && now <= last {
		return ErrCounterBack
	}
	return nil
}

// CheckBackup compares the backup flags of an assertion with the eligibility
// seen at enrolment, which may not change. Being backed up may, if eligible. The
// error is ErrBackupChanged or ErrBackupState.
func CheckBackup(enrolledEligible bool, now AuthData) error {
	switch {
	case now.BackedUp && !now.BackupEligible:
		return ErrBackupState
	case now.BackupEligible != enrolledEligible:
		return ErrBackupChanged
	}
	return nil
}

// clientData is what a browser says it signed for.
type clientData struct {
	typ, challenge, origin string
	crossOrigin            bool
}

// parseClientData reads the four members that count. Any spelling and any other
// members are allowed: browsers add some at random.
func parseClientData(raw []byte) (clientData, error) {
	v, err := jcs.Parse(raw, jcs.SoW)
	if err != nil {
		return clientData{}, err
	}
	if v.Kind() != jcs.Object {
		return clientData{}, errors.New("client data is not an object")
	}
	cross := v.Get("crossOrigin")
	return clientData{
		typ: v.Get("type").Text(), challenge: v.Get("challenge").Text(), origin: v.Get("origin").Text(),
		crossOrigin: cross.Exists() && (cross.Kind() != jcs.Bool || cross.Bool()),
	}, nil
}
