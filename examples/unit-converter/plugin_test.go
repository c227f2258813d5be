package main

import (
	"math"
	"slices"
	"strings"
	"testing"

	"portcullis.dev/portcullis"
	"portcullis.dev/portcullis/portcullistest"
)

func TestThePluginIsInOrder(t *testing.T) {
	if err := portcullis.Registered().Check(); err != nil {
		t.Fatal(err)
	}
}

func TestConversionsKnownElsewhere(t *testing.T) {
	for _, known := range []struct {
		value    float64
		from, to string
		want     float64
	}{
		{1, "mi", "km", 1.609344},
		{72, "°F", "celsius", 200.0 / 9},
		{-40, "degC", "degF", -40},
		{0, "K", "degF", -459.67},
		{1, "lb", "g", 453.59237},
		{1, "GiB", "MB", 1073.741824},
		{100, "Mbit", "MB", 12.5},
		{1, "year", "days", 365.2425},
		{1, "acre", "m2", 4046.8564224},
		{90, "km/h", "m/s", 25},
		{180, "deg", "rad", math.Pi},
	} {
		from, err := find(known.from)
		if err != nil {
			t.Fatal(err)
		}
		to, err := find(known.to)
		if err != nil {
			t.Fatal(err)
		}
		if got := from.in(known.value, to); math.Abs(got-known.want) > 1e-12*math.Max(1, math.Abs(known.want)) {
			t.Errorf("%v %s is %v %s, and not %v", known.value, known.from, known.want, known.to, got)
		}
	}
}

func TestNoWordStandsForTwoUnits(t *testing.T) {
	var words []string
	for _, unit := range units {
		words = append(words, unit.words()...)
	}
	slices.Sort(words)
	if unique := slices.Compact(slices.Clone(words)); len(unique) != len(words) {
		t.Errorf("%d words of %d are there twice", len(words)-len(unique), len(words))
	}
}

func TestAnUnknownUnitIsAnsweredWithNearOnes(t *testing.T) {
	_, err := portcullistest.Call(t, nil, "convert", `{"value":1,"from":"kilometr","to":"m"}`)
	failure := portcullis.FailureOf(err)
	if failure.Kind != portcullis.KindInvalidArguments || !strings.Contains(failure.Text, "kilometer") {
		t.Errorf("got %+v", failure)
	}
}
