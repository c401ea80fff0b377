// Package memscan looks for secrets in the memory of a process, from outside. It
// is imported by tests alone.
//
// It finds what it is told to look for and nothing else: an absence counts only
// after the same patterns were found in a process that has them.
package memscan

import (
	"bufio"
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Pattern is a run of bytes with a name for reports.
type Pattern struct {
	Name  string
	Bytes []byte
}

// Secret returns the forms in which a secret of at least 16 bytes may lie in
// memory: raw, hex of both cases, the base64 alphabets, base32, and the decimal
// numbers of its bytes with each usual separator.
//
// Base64 and base32 come as the middle of the text, without the ends that depend
// on padding.
func Secret(name string, b []byte) []Pattern {
	std := base64.RawStdEncoding.EncodeToString(b)
	url := base64.RawURLEncoding.EncodeToString(b)
	thirty := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b)
	set := []Pattern{
		{name + " raw", bytes.Clone(b)},
		{name + " hex", []byte(hex.EncodeToString(b))},
		{name + " HEX", []byte(strings.ToUpper(hex.EncodeToString(b)))},
		{name + " base64", []byte(std[:len(std)-2])},
		{name + " base32", []byte(thirty[:len(thirty)-2])},
	}
	if url != std {
		set = append(set, Pattern{name + " base64url", []byte(url[:len(url)-2])})
	}
	numbers := make([]string, len(b))
	for i, x := range b {
		numbers[i] = strconv.Itoa(int(x))
	}
	for sep, kind := range map[string]string{",": "comma", ", ": "comma and space", " ": "space"} {
		set = append(set, Pattern{name + " decimal, " + kind, []byte(strings.Join(numbers, sep))})
	}
	return set
}

// Words returns the patterns of a list of words: each run of six in a row, joined
// by a space, by a line end, and as JSON strings.
func Words(name string, words []string) []Pattern {
	var set []Pattern
	for i := 0; i+6 <= len(words); i++ {
		for sep, kind := range map[string]string{" ": "spaces", "\n": "lines", `","`: "JSON"} {
			set = append(set, Pattern{fmt.Sprintf("%s %d-%d, %s", name, i+1, i+6, kind), []byte(strings.Join(words[i:i+6], sep))})
		}
	}
	return set
}

// Result is what a scan found.
type Result struct {
	Counts   map[string]int // by pattern name; absent: not found
	Scanned  int64          // bytes that were read
	Unread   []string       // mappings that even the administrator cannot read, such as memfd_secret
	Mappings int
}

// Total returns the number of places at which anything was found.
func (r Result) Total() int {
	n := 0
	for _, k := range r.Counts {
		n += k
	}
	return n
}

const chunk = 4 << 20

// Process reads all readable memory of a process and counts the patterns. The
// process should stand still. It needs the right to read that memory.
func Process(pid int, set []Pattern) (Result, error) {
	r := Result{Counts: map[string]int{}}
	overlap := 0
	for _, p := range set {
		overlap = max(overlap, len(p.Bytes)-1)
	}
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return r, fmt.Errorf("scan process: %w", err)
	}
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return r, fmt.Errorf("scan process: %w", err)
	}
	defer mem.Close()
	buf := make([]byte, chunk+overlap)
	lines := bufio.NewScanner(bytes.NewReader(maps))
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		lo, hi, ok := strings.Cut(f[0], "-")
		from, err1 := strconv.ParseUint(lo, 16, 64)
		to, err2 := strconv.ParseUint(hi, 16, 64)
		if !ok || err1 != nil || err2 != nil {
			return r, errors.New("scan process: a line of its mappings does not parse")
		}
		name := strings.Join(f[5:], " ")
		if !strings.HasPrefix(f[1], "r") || strings.HasPrefix(name, "[vvar") || name == "[vsyscall]" {
			continue
		}
		r.Mappings++
		for at := from; at < to; at += chunk {
			own := min(uint64(chunk), to-at)
			n, err := mem.ReadAt(buf[:min(own+uint64(overlap), to-at)], int64(at))
			if n == 0 && err != nil {
				r.Unread = append(r.Unread, f[0]+" "+name)
				continue
			}
			r.Scanned += int64(min(uint64(n), own))
			count(buf[:n], int(own), set, r.Counts)
		}
	}
	return r, lines.Err()
}

// count adds the places in b that begin before limit.
func count(b []byte, limit int, set []Pattern, into map[string]int) {
	for _, p := range set {
		for off := 0; ; off++ {
			i := bytes.Index(b[off:], p.Bytes)
			if i < 0 || off+i >= limit {
				break
			}
			into[p.Name]++
			off += i
		}
	}
}
