package custody

import (
	"errors"
	"fmt"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

// machineID reads the id that the system was given at installation.
func machineID() (id string, err error) {
	k, err := registry.OpenKey(registry.LOCAL_MACHINE, `SOFTWARE\Microsoft\Cryptography`, registry.QUERY_VALUE|registry.WOW64_64KEY)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, k.Close()) }()
	id, _, err = k.GetStringValue("MachineGuid")
	return id, err
}

// folderID names a folder by volume, file index and time of birth.
func folderID(dir string) (id string, err error) {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return "", err
	}
	h, err := windows.CreateFile(path, 0, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, nil,
		windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, windows.CloseHandle(h)) }()
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(h, &info); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x:%x%08x born %d", info.VolumeSerialNumber, info.FileIndexHigh, info.FileIndexLow, info.CreationTime.Nanoseconds()), nil
}
