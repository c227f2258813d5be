package portcullis

import (
	"encoding/json"
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
	for _, wrong := range []string{`{"other":1}`, `{} {}`, `{"unit":1}`, `[]`, ``} {
		if err := decode([]byte(wrong), &arguments{}); err == nil {
			t.Errorf("%q was taken", wrong)
		}
	}
}
