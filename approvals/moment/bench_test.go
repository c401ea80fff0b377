package moment

import "testing"

// BenchmarkParse parses an envelope and computes its digest.
func BenchmarkParse(b *testing.B) {
	named := map[string]string{"v01_seed_6_4": "example", "v17_long_text": "12kB", "s_large_200k": "200kB"}
	for _, suite := range []string{"envelopes-valid", "envelopes-ambiguous"} {
		for _, v := range own(b, suite).Vectors {
			name, ok := named[v.ID]
			if !ok {
				continue
			}
			raw := []byte(v.Raw)
			b.Run(name, func(b *testing.B) {
				b.SetBytes(int64(len(raw)))
				b.ReportAllocs()
				for b.Loop() {
					e, err := Parse(raw)
					if err != nil || e.Digest() == "" {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkSheet joins the example with its two actions.
func BenchmarkSheet(b *testing.B) {
	e := example(b)
	behind := []Behind{{Option: 0, Action: []byte(exampleAction0), SignWith: []byte(permission)}, {Option: 1, Action: []byte(exampleAction1)}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := NewSheet(e, behind); err != nil {
			b.Fatal(err)
		}
	}
}
