package portcullis

import (
	"encoding/json"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"time"
)

type inner struct {
	Depth int `json:"depth" default:"3" minimum:"0"`
}

type embedded struct {
	Common string `json:"common,omitempty"`
}

func TestSchemaOfArguments(t *testing.T) {
	type pointed struct {
		Depth int `json:"depth"`
	}
	type arguments struct {
		embedded
		Name  string          `json:"name" description:"A \"name\" <&>." minLength:"1" pattern:"^a"`
		Unit  string          `json:"unit" enum:"m,ft" default:"m"`
		Count uint8           `json:"count" maximum:"9"`
		Ratio *float64        `json:"ratio" minimum:"-0.5"`
		Flags []string        `json:"flags,omitempty" enum:"x,y" maxItems:"2"`
		Table map[string]int  `json:"table"`
		Inner inner           `json:"inner"`
		Pair  [2]int          `json:"pair"`
		Raw   json.RawMessage `json:"raw"`
		Bytes []byte          `json:"bytes"`
		When  *time.Time      `json:"when"`
		Left  string          `json:"-"`
		More  []*pointed      `json:"more"`
	}
	got, err := schemaOf(reflect.TypeFor[arguments](), ofArguments)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"object","properties":{` +
		`"common":{"type":"string"},` +
		`"name":{"type":"string","minLength":1,"pattern":"^a","description":"A \"name\" <&>."},` +
		`"unit":{"type":"string","enum":["m","ft"],"default":"m"},` +
		`"count":{"type":"integer","minimum":0,"maximum":9},` +
		`"ratio":{"type":"number","minimum":-0.5},` +
		`"flags":{"type":"array","items":{"type":"string","enum":["x","y"]},"maxItems":2},` +
		`"table":{"type":"object","additionalProperties":{"type":"integer"}},` +
		`"inner":{"type":"object","properties":{"depth":{"type":"integer","minimum":0,"default":3}},` +
		`"additionalProperties":false},` +
		`"pair":{"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":2},` +
		`"raw":{},` +
		`"bytes":{"type":"string","contentEncoding":"base64"},` +
		`"when":{"type":"string","format":"date-time"},` +
		`"more":{"type":"array","items":{"type":"object","properties":{"depth":{"type":"integer"}},` +
		`"required":["depth"],"additionalProperties":false}}},` +
		`"required":["name","count","table","inner","pair","raw","bytes","more"],"additionalProperties":false}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestSchemaOfOutputLetsNullInWhereGoWritesIt(t *testing.T) {
	type output struct {
		List  []int   `json:"list"`
		Maybe *string `json:"maybe"`
		Left  *string `json:"left,omitempty"`
		Any   any     `json:"any"`
	}
	got, err := schemaOf(reflect.TypeFor[output](), ofOutput)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"object","properties":{"list":{"type":["array","null"],"items":{"type":"integer"}},` +
		`"maybe":{"type":["string","null"]},"left":{"type":"string"},"any":{}},` +
		`"required":["list","maybe","any"],"additionalProperties":false}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

type level int

func (l *level) UnmarshalText(text []byte) error {
	*l = level(len(text))
	return nil
}

func (l *level) MarshalText() ([]byte, error) { return []byte(strings.Repeat("x", int(*l))), nil }

type digest []byte

type inside struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	Twin int
	// Hidden in Go, and not in JSON.
	Deep int `json:"deep"`
}

type beside struct {
	Twin int
}

type outside struct {
	inside
	beside
	inner `json:"inner"`
	Name  int  `json:"name"`
	Deep  int  `json:"depth"`
	Kind  bool `json:"kind"`
}

func TestASchemaIsThatOfWhatATypeReadsAndWrites(t *testing.T) {
	type arguments struct {
		Level  level   `json:"level" enum:"low,high" default:"low"`
		Levels []level `json:"levels"`
		Big    big.Int `json:"big"`
		Digest digest  `json:"digest"`
	}
	for _, one := range []struct {
		of      reflect.Type
		purpose purpose
		want    string
	}{
		{reflect.TypeFor[arguments](), ofArguments, `{"type":"object","properties":{` +
			`"level":{"type":"string","enum":["low","high"],"default":"low"},` +
			`"levels":{"type":"array","items":{"type":"string"}},"big":{},` +
			`"digest":{"type":"string","contentEncoding":"base64"}},` +
			`"required":["levels","big","digest"],"additionalProperties":false}`},
		{reflect.TypeFor[arguments](), ofOutput, `{"type":"object","properties":{` +
			`"level":{},"levels":{"type":["array","null"],"items":{}},"big":{},` +
			`"digest":{"type":["string","null"],"contentEncoding":"base64"}},` +
			`"required":["level","levels","big","digest"],"additionalProperties":false}`},
		{reflect.TypeFor[outside](), ofOutput, `{"type":"object","properties":{` +
			`"deep":{"type":"integer"},"inner":{"type":"object","properties":{` +
			`"depth":{"type":"integer","minimum":0}},"required":["depth"],"additionalProperties":false},` +
			`"name":{"type":"integer"},"depth":{"type":"integer"},"kind":{"type":"boolean"}},` +
			`"required":["deep","inner","name","depth","kind"],"additionalProperties":false}`},
		{reflect.TypeFor[struct {
			Maybe *string `json:"maybe" enum:"a,b"`
			Left  *string `json:"left,omitempty" enum:"a,b"`
		}](), ofOutput, `{"type":"object","properties":{` +
			`"maybe":{"type":["string","null"],"enum":["a","b",null]},"left":{"type":"string","enum":["a","b"]}},` +
			`"required":["maybe"],"additionalProperties":false}`},
	} {
		got, err := schemaOf(one.of, one.purpose)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != one.want {
			t.Errorf("%v: got  %s\nwant %s", one.of, got, one.want)
		}
	}
	// What encoding/json makes of the same types.
	document, err := json.Marshal(outside{})
	if want := `{"deep":0,"inner":{"depth":0},"name":0,"depth":0,"kind":false}`; err != nil || string(document) != want {
		t.Errorf("got %s, want %s", document, want)
	}
	var got arguments
	if err := decode([]byte(`{"levels":["a"],"big":12,"digest":"YWJj"}`), &got); err != nil {
		t.Fatal(err)
	}
	if got.Level != 3 || got.Levels[0] != 1 || got.Big.Int64() != 12 || string(got.Digest) != "abc" {
		t.Errorf("got %+v", got)
	}
}

func TestADefaultIsNotMixedWithWhatACallGives(t *testing.T) {
	type pair struct {
		A int `json:"a,omitempty"`
		B int `json:"b,omitempty"`
	}
	type arguments struct {
		Labels map[string]int `json:"labels" default:"{\"a\":1}"`
		Pairs  []pair         `json:"pairs" default:"[{\"a\":1,\"b\":2}]"`
		Pair   pair           `json:"pair" default:"{\"a\":1,\"b\":2}"`
		Inner  inner          `json:"inner,omitempty"`
	}
	for text, want := range map[string]arguments{
		`{}`: {map[string]int{"a": 1}, []pair{{1, 2}}, pair{1, 2}, inner{3}},
		`{"labels":{"b":2},"pairs":[{"a":5}],"pair":{"a":5},"inner":{"depth":0}}`: {
			map[string]int{"b": 2}, []pair{{A: 5}}, pair{A: 5}, inner{0},
		},
		`{"labels":{},"pairs":[],"pair":{},"inner":{}}`: {map[string]int{}, []pair{}, pair{}, inner{3}},
	} {
		var got arguments
		if err := decode([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", text, got, want)
		}
	}
}

func TestTypesThatHaveNoSchemaAreRefused(t *testing.T) {
	type endless struct {
		Next []endless `json:"next"`
	}
	type within struct {
		List []inner `json:"list"`
	}
	for name, of := range map[string]reflect.Type{
		"holds itself":    reflect.TypeFor[endless](),
		"no form in JSON": reflect.TypeFor[struct{ C chan int }](),
		"are strings":     reflect.TypeFor[struct{ M map[int]string }](),
		"is no number": reflect.TypeFor[struct {
			N int `minimum:"few"`
		}](),
		"would not be set":    reflect.TypeFor[within](),
		"not a pointer to it": reflect.TypeFor[struct{ *inner }](),
		"as a string": reflect.TypeFor[struct {
			N int `json:",string"`
		}](),
		"default": reflect.TypeFor[struct {
			N int `default:"x"`
		}](),
	} {
		if _, err := schemaOf(of, ofArguments); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v: got %v, want an error with %q", of, err, name)
		}
	}
}

func TestDecodeSetsDefaultsAndRefusesWhatItDoesNotKnow(t *testing.T) {
	type arguments struct {
		Unit  string `json:"unit" default:"m"`
		Inner inner  `json:"inner"`
	}
	var got arguments
	if err := decode([]byte(`{"inner":{}}`), &got); err != nil {
		t.Fatal(err)
	}
	if want := (arguments{"m", inner{3}}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for _, wrong := range []string{
		`{"other":1}`, `{"UNIT":"ft"}`, `{"inner":{"Depth":1}}`, `{} {}`, `{"unit":1}`, `[]`, ``,
	} {
		if err := decode([]byte(wrong), &arguments{}); err == nil {
			t.Errorf("%q was taken", wrong)
		}
	}
}
