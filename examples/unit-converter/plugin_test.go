package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

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

// text is what convert says in words.
func text(t *testing.T, value float64, from, to string) string {
	t.Helper()
	answer, err := convert(nil, convertArguments{value, from, to})
	if err != nil {
		t.Fatal(err)
	}
	return answer.Output.Text
}

func TestWholeDegreesAreWrittenAsPeopleWriteThem(t *testing.T) {
	for celsius := -273; celsius <= 1000; celsius++ {
		// A degree is 1.8 of the others: tenths are exact.
		fahrenheit := strconv.FormatFloat(float64(celsius*18+320)/10, 'f', -1, 64)
		want := fmt.Sprintf("%d degC = %s degF", celsius, fahrenheit)
		if got := text(t, float64(celsius), "degC", "degF"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		kelvin := strconv.FormatFloat(float64(celsius*100+27315)/100, 'f', -1, 64)
		want = fmt.Sprintf("%d degC = %s K", celsius, kelvin)
		if got := text(t, float64(celsius), "degC", "K"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for fahrenheit := -459; fahrenheit <= 2000; fahrenheit++ {
		got := text(t, float64(fahrenheit), "degF", "degC")
		if (fahrenheit-32)%9 != 0 {
			continue
		}
		if want := fmt.Sprintf("%d degF = %d degC", fahrenheit, (fahrenheit-32)/9*5); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestNothingIsColderThanZero(t *testing.T) {
	for _, known := range []struct {
		value    float64
		from, to string
		want     string
	}{
		{-459.67, "degF", "K", "-459.67 degF = 0 K"},
		{-273.15, "degC", "degR", "-273.15 degC = 0 degR"},
		{0, "K", "degC", "0 K = -273.15 degC"},
		{1e300, "degC", "K", "1e+300 degC = 1e+300 K"},
	} {
		if got := text(t, known.value, known.from, known.to); got != known.want {
			t.Errorf("got %q, want %q", got, known.want)
		}
	}
	for from, value := range map[string]float64{"degC": -273.16, "degF": -459.68, "K": -1e-9, "degR": -1} {
		_, err := convert(nil, convertArguments{value, from, "K"})
		if portcullis.FailureOf(err).Kind != portcullis.KindInvalidArguments {
			t.Errorf("%v %s: got %v", value, from, err)
		}
	}
}

func TestTheCaseOfASymbolCounts(t *testing.T) {
	for _, unit := range units {
		for _, symbol := range unit.symbols {
			for _, other := range []string{strings.ToLower(symbol), strings.ToUpper(symbol), upperFirst(symbol)} {
				found, err := find(other)
				if err == nil && !slices.Contains(found.words(), other) {
					t.Errorf("%q is taken for %v", other, found)
				}
			}
		}
		for _, name := range unit.names {
			for _, other := range []string{strings.ToLower(name), strings.ToUpper(name), upperFirst(name), name + "s"} {
				if found, err := find(other); err != nil || found.String() != unit.String() {
					t.Errorf("%q is taken for %v, and not for %v: %v", other, found, unit, err)
				}
			}
		}
	}
	for _, doubtful := range []string{"mW", "Mg", "Ms", "mb", "KB", "Cal", "Calorie", "Mbar", "ML", "c"} {
		if found, err := find(doubtful); err == nil {
			t.Errorf("%q is taken for %v", doubtful, found)
		}
	}
	if got, want := text(t, 100, "Mb", "MB"), "100 Mbit = 12.5 MB"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func upperFirst(word string) string {
	first := []rune(word)
	first[0] = unicode.ToUpper(first[0])
	return string(first)
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
