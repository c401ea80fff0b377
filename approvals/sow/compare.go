package sow

import (
	"bytes"
	"slices"
	"strings"

	"vault/derive/jcs"
)

// ChangeKind says what an amended member is about.
type ChangeKind string

// The kinds in the order they are shown.
const (
	ChangeMoney ChangeKind = "money"
	ChangeDate  ChangeKind = "date"
	ChangeOther ChangeKind = "other"
)

// Change is one leaf that differs between two versions. Entries of a list are
// told apart by name where they have one, so that an inserted rate is one
// change and not a shift of all that follow.
type Change struct {
	Kind ChangeKind
	Path string
	// Old and New are the values, absent where the leaf was added or removed.
	Old, New jcs.Value
	// Order says that a list has the same entries in another order.
	Order bool
}

// Compare returns what differs between two versions of a document, leaf by
// leaf, money first, then dates, then the rest, each in the order of the old
// document. Signatures are left out. Documents that differ in a signed byte
// have at least one change.
func Compare(old, new *Document) []Change {
	var out []Change
	diff(&out, "", old.v.Without("signatures"), new.v.Without("signatures"))
	slices.SortStableFunc(out, func(a, b Change) int { return order(a.Kind) - order(b.Kind) })
	return out
}

func order(k ChangeKind) int {
	switch k {
	case ChangeMoney:
		return 0
	case ChangeDate:
		return 1
	}
	return 2
}

func diff(out *[]Change, path string, a, b jcs.Value) {
	switch {
	case a.Kind() == jcs.Object && b.Kind() == jcs.Object:
		was, is := members(a), members(b)
		for m := range a.Members() {
			diff(out, step(path, m.Name), m.Value, is[m.Name])
		}
		for m := range b.Members() {
			if _, ok := was[m.Name]; !ok {
				diff(out, step(path, m.Name), jcs.Value{}, m.Value)
			}
		}
	case a.Kind() == jcs.Array && b.Kind() == jcs.Array:
		lists(out, path, a, b)
	case a.Exists() != b.Exists():
		whole(out, path, a, b)
	case !bytes.Equal(a.Canonical(), b.Canonical()):
		*out = append(*out, Change{Kind: kindOf(path), Path: path, Old: a, New: b})
	}
}

func members(v jcs.Value) map[string]jcs.Value {
	m := make(map[string]jcs.Value, v.Len())
	for x := range v.Members() {
		m[x.Name] = x.Value
	}
	return m
}

// whole adds every leaf of a value that is only on one side.
func whole(out *[]Change, path string, a, b jcs.Value) {
	v, added := a, false
	if !a.Exists() {
		v, added = b, true
	}
	v.Leaves(func(sub string, leaf jcs.Value) {
		p := path
		switch {
		case sub == "":
		case strings.HasPrefix(sub, "["):
			p += sub
		default:
			p += "." + sub
		}
		ch := Change{Kind: kindOf(p), Path: p, Old: leaf}
		if added {
			ch.Old, ch.New = jcs.Value{}, leaf
		}
		*out = append(*out, ch)
	})
}

func lists(out *[]Change, path string, a, b jcs.Value) {
	ia, ib := entries(a), entries(b)
	ka, kb := keys(ia), keys(ib)
	if ka == nil || kb == nil {
		// Entries without a name are compared by position.
		for i := range max(len(ia), len(ib)) {
			var x, y jcs.Value
			if i < len(ia) {
				x = ia[i]
			}
			if i < len(ib) {
				y = ib[i]
			}
			diff(out, item(path, i), x, y)
		}
		return
	}
	was, is := indexOf(ka), indexOf(kb)
	var left, right []string // the common entries in either order
	for i, k := range ka {
		j, ok := is[k]
		if !ok {
			diff(out, path+"["+quote(k)+"]", ia[i], jcs.Value{})
			continue
		}
		left = append(left, k)
		diff(out, path+"["+quote(k)+"]", ia[i], ib[j])
	}
	for j, k := range kb {
		if _, ok := was[k]; ok {
			right = append(right, k)
		} else {
			diff(out, path+"["+quote(k)+"]", jcs.Value{}, ib[j])
		}
	}
	if !slices.Equal(left, right) {
		*out = append(*out, Change{Kind: ChangeOther, Path: path, Old: a, New: b, Order: true})
	}
}

func indexOf(keys []string) map[string]int {
	m := make(map[string]int, len(keys))
	for i, k := range keys {
		m[k] = i
	}
	return m
}

func entries(v jcs.Value) (out []jcs.Value) {
	for _, x := range v.Items() {
		out = append(out, x)
	}
	return out
}

// keys names a list's entries: texts name themselves, objects are named by the
// first naming member they all have. Nil if that does not tell them apart.
func keys(list []jcs.Value) []string {
naming:
	for _, name := range []string{"", "offering", "meter", "name", "id", "key", "agent", "handle", "service"} {
		out, seen := make([]string, 0, len(list)), make(map[string]bool, len(list))
		for _, w := range list {
			if name != "" {
				w = w.Get(name)
			}
			if !isText(w) || seen[w.Text()] {
				continue naming
			}
			seen[w.Text()] = true
			out = append(out, w.Text())
		}
		return out
	}
	return nil
}

func quote(s string) string { return string(jcs.AppendString(nil, s)) }

// step joins a member's name as jcs paths do.
func step(path, name string) string {
	plain := name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
	if !plain {
		return path + "[" + quote(name) + "]"
	}
	return at(path, name)
}

// kindOf tells what a path is about: money, a date or span, or neither.
func kindOf(path string) ChangeKind {
	last := path[strings.LastIndexByte(path, '.')+1:]
	switch last {
	case "amount", "amount_micro", "currency", "per_task", "per_unit", "per", "multiple_of_fees", "arrangement", "fee", "pass_through":
		return ChangeMoney
	case "starts_at", "ends_at", "term_months", "due", "due_by_day", "every", "within", "each_task_within", "expires_at",
		"approved_at", "window_days", "review_window_days", "deemed_accepted_after_days", "convenience_notice_hours",
		"independence_days", "deadline_days", "max_days":
		return ChangeDate
	}
	if path == "price" || strings.HasPrefix(path, "price.") {
		return ChangeMoney
	}
	return ChangeOther
}
