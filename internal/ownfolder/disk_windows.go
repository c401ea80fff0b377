package ownfolder

import (
	"fmt"
	"path/filepath"

	"golang.org/x/sys/windows"
)

func checkDisk(dir string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("check folder: %w", err)
	}
	root, err := windows.UTF16PtrFromString(filepath.VolumeName(abs) + `\`)
	if err != nil {
		return fmt.Errorf("check folder: %w", err)
	}
	if windows.GetDriveType(root) == windows.DRIVE_REMOTE {
		return fmt.Errorf("%w: a remote drive", ErrNetwork)
	}
	return nil
}
