package custody

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"unsafe"
)

// TestMappingIsGuarded reads one byte past each end of the fallback mapping, in a
// process of its own that has to die of it.
func TestMappingIsGuarded(t *testing.T) {
	if off := os.Getenv("CUSTODY_TEST_OFFSET"); off != "" {
		n, _ := strconv.Atoi(off)
		mem, _, kind, err := allocateMapping(os.Getpagesize())
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("kind %s, byte %d", kind, readAt(mem, n))
		return
	}
	for off, dies := range map[int]bool{-1: true, 0: false, os.Getpagesize() - 1: false, os.Getpagesize(): true} {
		cmd := exec.Command(os.Args[0], "-test.run", "TestMappingIsGuarded")
		cmd.Env = append(os.Environ(), "CUSTODY_TEST_OFFSET="+strconv.Itoa(off))
		out, err := cmd.CombinedOutput()
		if (err != nil) != dies || dies && !strings.Contains(string(out), "SIGSEGV") {
			t.Errorf("offset %d: %v\n%.300s", off, err, out)
		}
	}
}

// TestMappingFlags reads what the kernel says of both kinds of memory.
func TestMappingFlags(t *testing.T) {
	mem, release, kind, err := allocateMapping(10)
	must(t, err)
	defer func() { must(t, release()) }()
	flags := flagsOf(t, mem)
	want := []string{"dd", "wf"}
	if kind == SecretLocked {
		want = append(want, "lo")
	}
	for _, f := range want {
		if !strings.Contains(flags, " "+f) {
			t.Errorf("%s: no %q in %q", kind, f, flags)
		}
	}
	unmapped, release2, err := allocateUnmapped(10)
	if err != nil {
		t.Skipf("no memfd_secret here: %v", err)
	}
	defer func() { must(t, release2()) }()
	if flags := flagsOf(t, unmapped); !strings.Contains(flags, " lo") || !strings.Contains(flags, " dc") {
		t.Errorf("memfd_secret: %q", flags)
	}
}

// readAt reads the byte at off from the start of b, inside it or not.
func readAt(b []byte, off int) byte { return *(*byte)(unsafe.Add(unsafe.Pointer(&b[0]), off)) }

// flagsOf returns the flags of the mapping that b lies in, from proc_pid_smaps(5).
func flagsOf(t *testing.T, b []byte) string {
	t.Helper()
	at := uint64(uintptr(unsafe.Pointer(&b[0])))
	smaps, err := os.ReadFile("/proc/self/smaps")
	must(t, err)
	inside := false
	for _, line := range strings.Split(string(smaps), "\n") {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if lo, hi, ok := strings.Cut(f[0], "-"); ok {
			from, err1 := strconv.ParseUint(lo, 16, 64)
			to, err2 := strconv.ParseUint(hi, 16, 64)
			if err1 == nil && err2 == nil {
				inside = from <= at && at < to
			}
		}
		if inside && f[0] == "VmFlags:" {
			return line
		}
	}
	t.Fatal("the mapping is not listed")
	return ""
}
