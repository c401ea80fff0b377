package store

import (
	"errors"
	"fmt"
	"testing"
)

func storedMoment(id, state string, at int64) Moment {
	m := Moment{
		ID: id, Client: "c_1", Session: "s", Digest: "d-" + id, Question: "q", State: state, Since: at, Count: 1, Envelope: []byte("{}"), Behind: []byte("[]"),
		Server: "srv", HasClass: true, Class: "travel", Note: true, FreeText: true, Resolution: []byte{},
	}
	if state != MomentOpen {
		m.Seq, m.At = uint64(at), at
	}
	return m
}

func TestMomentsAreKept(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, dir)
	first, second := storedMoment("m1", MomentOpen, 5), storedMoment("m0", MomentOpen, 5)
	second.Behind = nil
	ask := MomentAsk{"m1", "q1", "offer", "Why?", 7, "", 0}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.Do(func(tx *Tx) error {
		return errors.Join(tx.PutMoment(first), tx.PutMoment(second), tx.PutAsk(ask), tx.CountMoment("m1", 2, 1, 0),
			tx.PutNote(Note{ID: "n1", Client: "c_1", Session: "s", Reason: "no_envelope", Payload: []byte("{}"), Digest: "x", At: 1, Count: 1}))
	}))
	must(s.Close())
	s = openTest(t, dir)
	first.Count, first.Missed = 3, 1
	open, err := s.OpenMoments()
	if err != nil || len(open) != 2 || fmt.Sprint(open[0]) != fmt.Sprint(first) || open[1].Behind != nil {
		t.Fatalf("%v, %v", open, err)
	}
	ask.Answer, ask.AnswerAt = "So.", 8
	end := first
	end.State, end.Choice, end.Resolution, end.Seq, end.At = MomentResolved, "question", []byte("r"), 9, 10
	must(s.Do(func(tx *Tx) error {
		return errors.Join(tx.PutAsk(ask), tx.EndMoment(end), tx.PutNote(Note{ID: "n1", Reason: "other", Count: 4}))
	}))
	if err := s.Do(func(tx *Tx) error { return tx.EndMoment(end) }); err == nil {
		t.Error("a moment is resolved twice")
	}
	if got, err := s.MomentOf(9); err != nil || fmt.Sprint(got) != fmt.Sprint(end) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := s.MomentOf(0); !errors.Is(err, ErrNotFound) {
		t.Errorf("an open moment has an entry: %v", err)
	}
	if asks, err := s.Asks("m1"); err != nil || len(asks) != 1 || asks[0] != ask {
		t.Errorf("%v, %v", asks, err)
	}
	if notes, err := s.Notes(); err != nil || len(notes) != 1 || notes[0].Reason != "no_envelope" || notes[0].Count != 4 {
		t.Errorf("%v, %v", notes, err)
	}
	if ended, err := s.EndedMoments(0, 10); err != nil || len(ended) != 1 || ended[0].ID != "m1" {
		t.Errorf("%v, %v", ended, err)
	}
	if ended, err := s.EndedMoments(10, 10); err != nil || len(ended) != 0 {
		t.Errorf("%v, %v", ended, err)
	}
	if like, err := s.LikeMoments("c_1", "s", "d-m0", "q"); err != nil || len(like) != 2 {
		t.Errorf("%v, %v", like, err)
	}
	counts, err := s.MomentCounts()
	if want := (MomentCount{Client: "c_1", Class: "travel", HasClass: true, All: 2, Note: 2, Off: 2, DialogueOff: 2, Question: 1}); err != nil || len(counts) != 1 || counts[0] != want {
		t.Errorf("%+v, %v", counts, err)
	}
	must(s.Do(func(tx *Tx) error { return tx.Archive("old") }))
	open, err = s.OpenMoments()
	notes, err2 := s.Notes()
	asks, err3 := s.Asks("m1")
	if errors.Join(err, err2, err3) != nil || len(open)+len(notes)+len(asks) != 0 {
		t.Errorf("%v %v %v", open, notes, asks)
	}
}
