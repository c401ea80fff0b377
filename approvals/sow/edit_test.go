package sow_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"vault/derive/jcs"
)

// drop as a value removes the member.
type drop struct{}

// bump changes a leaf: a number by one, a text by a letter, a boolean over.
type bump struct{}

// value parses a test's own JSON.
func value(t testing.TB, raw string) jcs.Value {
	t.Helper()
	v, err := jcs.Parse([]byte(raw), jcs.SoW)
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}

// edit changes one member of a JSON text, by a path like a.b[0].c; [+] appends.
// A value that is a json.RawMessage is written as it is.
func edit(t testing.TB, raw []byte, path string, to any) []byte {
	t.Helper()
	var tree any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&tree); err != nil {
		t.Fatal(err)
	}
	tree, err := change(tree, steps(path), to)
	if err != nil {
		t.Fatalf("edit %s: %v", path, err)
	}
	out, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func steps(path string) (out []string) {
	for _, part := range strings.Split(path, ".") {
		name, rest, _ := strings.Cut(part, "[")
		if name != "" {
			out = append(out, name)
		}
		if rest != "" {
			for _, i := range strings.Split(strings.TrimSuffix(rest, "]"), "][") {
				out = append(out, "["+i)
			}
		}
	}
	return out
}

func change(tree any, path []string, to any) (any, error) {
	if len(path) == 0 {
		if _, ok := to.(bump); !ok {
			return to, nil
		}
		switch x := tree.(type) {
		case json.Number:
			n, err := x.Int64()
			return n + 1, err
		case string:
			return x + "x", nil
		case bool:
			return !x, nil
		}
		return nil, fmt.Errorf("a %T cannot be bumped", tree)
	}
	name := path[0]
	if strings.HasPrefix(name, "[") {
		list, ok := tree.([]any)
		if !ok {
			return nil, fmt.Errorf("%T is no list", tree)
		}
		if name == "[+" {
			x, err := change(nil, path[1:], to)
			return append(list, x), err
		}
		i, err := strconv.Atoi(name[1:])
		if err != nil || i >= len(list) {
			return nil, fmt.Errorf("no entry %s", name)
		}
		if _, ok := to.(drop); ok && len(path) == 1 {
			return append(list[:i:i], list[i+1:]...), nil
		}
		list[i], err = change(list[i], path[1:], to)
		return list, err
	}
	o, ok := tree.(map[string]any)
	if !ok {
		if tree != nil {
			return nil, fmt.Errorf("%T has no member %s", tree, name)
		}
		o = map[string]any{}
	}
	if _, ok := to.(drop); ok && len(path) == 1 {
		if _, ok := o[name]; !ok {
			return nil, fmt.Errorf("no member %s to drop", name)
		}
		delete(o, name)
		return o, nil
	}
	var err error
	o[name], err = change(o[name], path[1:], to)
	return o, err
}
