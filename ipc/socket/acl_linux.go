package socket

import (
	"encoding/binary"
	"math"

	"golang.org/x/sys/unix"
)

// allow gives a path an access list (acl(5)) of its owner's rights and one user's, and nothing for anybody else. The
// owner keeps 7 of a folder and 6 of anything else, as perm has the bit for entering or not. The error means that the
// list is not there.
func allow(path string, userID int64, perm uint16) error {
	own := uint16(6)
	if perm&mayEnter != 0 {
		own = 7
	}
	const none = math.MaxUint32
	list := binary.LittleEndian.AppendUint32(nil, 2) // version
	for _, e := range []struct {
		tag, perm uint16
		id        uint32
	}{
		{0x01, own, none},            // the owner
		{0x02, perm, uint32(userID)}, // the user named
		{0x04, 0, none},              // the owning group
		{0x10, perm, none},           // at most, for all but the owner
		{0x20, 0, none},              // everybody else
	} {
		list = binary.LittleEndian.AppendUint16(list, e.tag)
		list = binary.LittleEndian.AppendUint16(list, e.perm)
		list = binary.LittleEndian.AppendUint32(list, e.id)
	}
	return unix.Lsetxattr(path, "system.posix_acl_access", list, 0)
}
