//go:build !wasip1

package portcullis_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"portcullis.dev/portcullis"
	"portcullis.dev/portcullis/portcullistest"
)

const shortWords = `{"type":"object","properties":{"word":{"maxLength":3}}}`

// prepare hides and narrows tools as the setting "mode" says.
func prepare(ctx *portcullis.Context, caller portcullis.Caller) []portcullis.Preparation {
	switch mode, _ := ctx.Setting("mode"); mode {
	case "short":
		return []portcullis.Preparation{
			portcullis.Narrow("shout", json.RawMessage(shortWords)).Described("Says a short word louder."),
		}
	case "unknown":
		return []portcullis.Preparation{portcullis.Hide("drop", "there is none")}
	case "twice":
		return []portcullis.Preparation{portcullis.Hide("end", "one"), portcullis.Hide("end", "two")}
	case "no JSON":
		return []portcullis.Preparation{portcullis.Narrow("shout", json.RawMessage("{"))}
	case "none":
		return []portcullis.Preparation{{Tool: "shout"}}
	case "panic":
		panic("at the disco")
	case "directory":
		_, err := ctx.Directory("files")
		return []portcullis.Preparation{portcullis.Hide("use", err.Error())}
	}
	if caller.Automated || caller.Client == "stranger" {
		return []portcullis.Preparation{portcullis.Hide("end", "not in "+caller.Session).Described("Ends.")}
	}
	return nil
}

func prepared(t *testing.T, mode string, caller portcullis.Caller) ([]portcullis.Preparation, error) {
	host := &portcullistest.Host{
		Settings:    map[string]string{"mode": mode},
		Directories: map[string]string{"files": t.TempDir()},
	}
	return portcullistest.Prepare(t, host, caller)
}

func TestAPreparerDecidesByTheCallerAndTheSettings(t *testing.T) {
	hidden := portcullis.Preparation{Tool: "end", Availability: portcullis.Hidden{Reason: "not in s"}}
	narrowed := portcullis.Preparation{Tool: "shout", Availability: portcullis.Narrowed{
		Schema: json.RawMessage(shortWords), Description: "Says a short word louder.",
	}}
	for _, test := range []struct {
		mode   string
		caller portcullis.Caller
		want   []portcullis.Preparation
	}{
		{"", portcullis.Caller{Session: "s", Principal: "local"}, nil},
		{"", portcullis.Caller{Session: "s", Automated: true}, []portcullis.Preparation{hidden}},
		{"", portcullis.Caller{Session: "s", Client: "stranger"}, []portcullis.Preparation{hidden}},
		{"short", portcullis.Caller{}, []portcullis.Preparation{narrowed}},
	} {
		got, err := prepared(t, test.mode, test.caller)
		if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%+v: got %v, %v", test, got, err)
		}
	}
}

func TestAPreparerHasNoHandle(t *testing.T) {
	got, err := prepared(t, "directory", portcullis.Caller{})
	if err != nil || !strings.Contains(got[0].Availability.(portcullis.Hidden).Reason, "does not grant") {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestAnAnswerThatAHostRefusesIsAnError(t *testing.T) {
	for mode, want := range map[string]string{
		"unknown": `no tool "drop"`,
		"twice":   `"end" is hidden or narrowed twice`,
		"no JSON": `schema of the tool "shout" is not JSON`,
		"none":    "neither Hidden nor Narrowed",
		"panic":   "panic: at the disco",
	} {
		if _, err := prepared(t, mode, portcullis.Caller{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", mode, err)
		}
	}
}
