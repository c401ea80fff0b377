package custody

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func allocate(n int) ([]byte, func() error, SecretKind, error) {
	if mem, release, err := allocateUnmapped(n); err == nil {
		return mem, release, SecretUnmapped, nil
	}
	return allocateMapping(n)
}

// allocateUnmapped takes pages from memfd_secret(2). Old kernels do not have it,
// and it counts against the limit on locked memory.
func allocateUnmapped(n int) ([]byte, func() error, error) {
	fd, err := unix.MemfdSecret(unix.O_CLOEXEC)
	if err != nil {
		return nil, nil, err
	}
	defer unix.Close(fd)
	size := pages(n)
	if err := unix.Ftruncate(fd, int64(size)); err != nil {
		return nil, nil, err
	}
	m, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, err
	}
	// A shared mapping would be open to a forked child.
	if err := unix.Madvise(m, unix.MADV_DONTFORK); err != nil {
		return nil, nil, errors.Join(err, unix.Munmap(m))
	}
	return m[:n:n], func() error { return unix.Munmap(m) }, nil
}

func allocateMapping(n int) ([]byte, func() error, SecretKind, error) {
	page, size := os.Getpagesize(), pages(n)
	m, err := unix.Mmap(-1, 0, size+2*page, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, nil, "", err
	}
	inner := m[page : page+size]
	for _, step := range []func() error{
		func() error { return unix.Mprotect(inner, unix.PROT_READ|unix.PROT_WRITE) },
		func() error { return unix.Madvise(inner, unix.MADV_DONTDUMP) },
		func() error { return unix.Madvise(inner, unix.MADV_WIPEONFORK) },
	} {
		if err := step(); err != nil {
			return nil, nil, "", errors.Join(err, unix.Munmap(m))
		}
	}
	kind := SecretLocked
	if unix.Mlock(inner) != nil {
		kind = SecretUnlocked
	}
	return inner[:n:n], func() error { return unix.Munmap(m) }, kind, nil
}

// pages rounds n up to whole pages.
func pages(n int) int {
	page := os.Getpagesize()
	return (n + page - 1) / page * page
}
