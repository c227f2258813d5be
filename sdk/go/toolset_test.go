//go:build !wasip1

package portcullis_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"portcullis.dev/portcullis"
	"portcullis.dev/portcullis/portcullistest"
)

// What the tool delegate does.
var delegated func(others *portcullis.Toolset) (*portcullis.Answer, error)

func delegate(ctx *portcullis.Context, _ struct{}) (*portcullis.Answer, error) {
	others, err := ctx.Tools("others")
	if err != nil {
		return nil, err
	}
	defer others.Close()
	return delegated(others)
}

var readTool = portcullis.CallableTool{
	ToolSummary: portcullis.ToolSummary{Name: "files.read", Description: "Reads a text file."},
	Schema:      json.RawMessage(`{"type":"object"}`),
	Permissions: []portcullis.Permission{portcullis.Read},
	Hints:       []portcullis.Hint{portcullis.ReadOnly, portcullis.Idempotent},
}

var fetchTool = portcullis.CallableTool{
	ToolSummary:  portcullis.ToolSummary{Name: "web.fetch", Title: "Fetch", Description: "Fetches a page."},
	Schema:       json.RawMessage(`{"type":"object"}`),
	OutputSchema: json.RawMessage(`{"type":"string"}`),
}

// playsTools plays one tool for every name.
func playsTools(play func(tool, arguments string) (*portcullis.Answer, error)) *portcullistest.Host {
	return &portcullistest.Host{
		Tools: map[string]func(tool, arguments string) (*portcullis.Answer, error){"others": play},
		Definitions: map[string][]portcullis.CallableTool{
			"others": {fetchTool, readTool},
		},
	}
}

// answers returns the same answer to every call.
func answers(answer *portcullis.Answer) *portcullistest.Host {
	return playsTools(func(string, string) (*portcullis.Answer, error) { return answer, nil })
}

// delegates runs the body in the tool delegate.
func delegates(
	t *testing.T, host *portcullistest.Host, do func(*portcullis.Toolset) (*portcullis.Answer, error),
) (*portcullis.Answer, error) {
	t.Helper()
	delegated = do
	return portcullistest.Call(t, host, "delegate", `{}`)
}

// uses runs the body in the tool delegate, and fails the test if the body fails.
func uses(t *testing.T, host *portcullistest.Host, do func(*portcullis.Toolset) error) {
	t.Helper()
	body := func(others *portcullis.Toolset) (*portcullis.Answer, error) { return nil, do(others) }
	if _, err := delegates(t, host, body); err != nil {
		t.Error(err)
	}
}

func TestACalledToolGetsItsArguments(t *testing.T) {
	host := answers(&portcullis.Answer{Output: "one\ntwo\n"})
	uses(t, host, func(others *portcullis.Toolset) error {
		arguments := struct {
			Path string `json:"path"`
		}{"ü<.txt"}
		answer, err := others.Call("files.read", arguments)
		if err != nil || answer.Text() != "one\ntwo\n" {
			return fmt.Errorf("got %v, %v", answer, err)
		}
		_, err = others.Call("any.tool", nil)
		return err
	})
	want := []portcullistest.Called{
		{Key: "others", Tool: "files.read", Arguments: `{"path":"ü<.txt"}`},
		{Key: "others", Tool: "any.tool", Arguments: `{}`},
	}
	if !reflect.DeepEqual(host.Called, want) {
		t.Errorf("got %+v, want %+v", host.Called, want)
	}
}

func TestToolsNeedAGrant(t *testing.T) {
	_, err := portcullistest.Call(t, nil, "delegate", `{}`)
	failure := portcullis.FailureOf(err)
	if failure.Kind != portcullis.KindDenied || !strings.Contains(failure.Text, `no set of tools "others"`) {
		t.Errorf("got %+v", failure)
	}
}

func TestAFailureOfACalledToolKeepsItsKindAndText(t *testing.T) {
	for _, want := range []error{
		portcullis.InvalidArguments("a path is missing"), portcullis.Denied("no"), portcullis.Unavailable("try later"),
		portcullis.Cancelled(), portcullis.Failed("it broke"),
	} {
		host := playsTools(func(string, string) (*portcullis.Answer, error) { return nil, want })
		_, err := delegates(t, host, func(others *portcullis.Toolset) (*portcullis.Answer, error) {
			return others.Call("any.tool", nil)
		})
		if got := portcullis.FailureOf(err); !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func TestAnAnswerIsPassedOnUnchanged(t *testing.T) {
	parts := portcullis.Parts{
		portcullis.Text("a"), portcullis.Image{MediaType: "image/png", Data: []byte{1}}, portcullis.Text("b"),
		portcullis.File{MediaType: "text/csv", Data: []byte("1,2"), Name: "a.csv"},
	}
	for text, want := range map[string]*portcullis.Answer{
		"a text":  {Output: "a text"},
		`"json"`:  {Output: json.RawMessage(`"json"`)},
		`{"a":1}`: {Title: "A title", Output: json.RawMessage(`{"a":1}`), Metadata: json.RawMessage(`{"b":2}`)},
		"a\nb":    {Title: "Parts", Output: parts},
	} {
		got, err := delegates(t, answers(want), func(others *portcullis.Toolset) (*portcullis.Answer, error) {
			answer, err := others.Call("any.tool", nil)
			if err == nil && answer.Text() != text {
				t.Errorf("the text is %q, want %q", answer.Text(), text)
			}
			return answer, err
		})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
}

func TestAToolThatPassesAnAnswerOnHasNoOutputSchema(t *testing.T) {
	for _, tool := range portcullis.Registered().Tools {
		if tool.Name != "delegate" {
			continue
		}
		if schema, err := tool.OutputSchema(); schema != nil || err != nil {
			t.Errorf("got %s, %v", schema, err)
		}
	}
}

func TestAJSONAnswerIsDecoded(t *testing.T) {
	uses(t, answers(&portcullis.Answer{Output: json.RawMessage(`[1,2]`)}), func(others *portcullis.Toolset) error {
		answer, err := others.Call("any.tool", nil)
		if err != nil {
			return err
		}
		var numbers []int
		if err := answer.Decode(&numbers); err != nil || !reflect.DeepEqual(numbers, []int{1, 2}) {
			return fmt.Errorf("got %v, %v", numbers, err)
		}
		if err := (&portcullis.Answer{Output: "[1]"}).Decode(&numbers); err == nil {
			return errors.New("a text was decoded")
		}
		return nil
	})
}

func TestSeveralCallsReturnAnswersAndFailuresInOrder(t *testing.T) {
	host := playsTools(func(tool, _ string) (*portcullis.Answer, error) {
		if tool == "b.b" {
			return nil, portcullis.Unavailable("try later")
		}
		return &portcullis.Answer{Output: tool}, nil
	})
	uses(t, host, func(others *portcullis.Toolset) error {
		results, err := others.CallAll([]portcullis.ToolCall{{Tool: "a.a"}, {Tool: "b.b"}, {Tool: "c.c"}})
		if err != nil {
			return err
		}
		var told []string
		for _, result := range results {
			if result.Err != nil {
				told = append(told, result.Err.Error())
			} else {
				told = append(told, result.Answer.Text())
			}
		}
		if got := strings.Join(told, ", "); got != "a.a, try later, c.c" {
			return errors.New(got)
		}
		results, err = others.CallAll(nil)
		if len(results) != 0 {
			return fmt.Errorf("got %v", results)
		}
		return err
	})
}

func TestTheDefinitionsAreListedAndSearched(t *testing.T) {
	uses(t, answers(nil), func(others *portcullis.Toolset) error {
		list, err := others.List()
		want := []portcullis.ToolSummary{readTool.ToolSummary, fetchTool.ToolSummary}
		if err != nil || !reflect.DeepEqual(list, want) {
			return fmt.Errorf("got %v, %v", list, err)
		}
		found, err := others.Search("a page", 1)
		if err != nil || !reflect.DeepEqual(found, want[1:]) {
			return fmt.Errorf("got %v, %v", found, err)
		}
		if _, err := others.Search("a page", -1); err == nil {
			return errors.New("a negative limit is accepted")
		}
		for name, want := range map[string]*portcullis.CallableTool{"files.read": &readTool, "web.fetch": &fetchTool, "a.a": nil} {
			if definition, err := others.Definition(name); err != nil || !reflect.DeepEqual(definition, want) {
				return fmt.Errorf("%s: got %+v, %v", name, definition, err)
			}
		}
		return nil
	})
}

func TestCallsAreForeseenAndApprovedTogether(t *testing.T) {
	host := answers(nil)
	host.Foresee = func(tool, _ string) portcullis.Outlook {
		switch tool {
		case "a.a":
			return portcullis.Outlook{Err: portcullis.Denied("not this one")}
		case "b.b":
			return portcullis.Outlook{NeedsApproval: true}
		default:
			return portcullis.Outlook{}
		}
	}
	calls := []portcullis.ToolCall{{Tool: "a.a"}, {"b.b", map[string]int{"n": 1}}, {Tool: "c.c"}}
	uses(t, host, func(others *portcullis.Toolset) error {
		outlooks, err := others.Foresee(calls)
		if err != nil || len(outlooks) != 3 || !outlooks[1].NeedsApproval || !outlooks[2].Runs() || outlooks[0].Runs() {
			return fmt.Errorf("got %v, %v", outlooks, err)
		}
		var failure *portcullis.Failure
		if !errors.As(outlooks[0].Err, &failure) || failure.Kind != portcullis.KindDenied || failure.Text != "not this one" {
			return fmt.Errorf("got %v", outlooks[0].Err)
		}
		if approved, err := others.Approve(calls); err != nil || !reflect.DeepEqual(approved, []bool{false, true, true}) {
			return fmt.Errorf("got %v, %v", approved, err)
		}
		return nil
	})
	plan := []portcullistest.Called{{"others", "a.a", "{}"}, {"others", "b.b", `{"n":1}`}, {"others", "c.c", "{}"}}
	if !reflect.DeepEqual(host.Planned, [][]portcullistest.Called{plan}) || host.Called != nil {
		t.Errorf("got %v and %v", host.Planned, host.Called)
	}
}

func TestAToolKeepsFilesBesideItsAnswer(t *testing.T) {
	host := answers(nil)
	files := []portcullis.File{{"text/plain", []byte("one"), "notes.txt"}, {MediaType: "text/csv", Data: []byte{}}}
	kept = files
	if _, err := portcullistest.Call(t, host, "keeps", `{}`); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(host.Kept, files) {
		t.Errorf("got %v", host.Kept)
	}
}

// What the tool keeps keeps.
var kept []portcullis.File

func keeps(ctx *portcullis.Context, _ struct{}) (string, error) {
	for _, file := range kept {
		if err := ctx.Keep(file); err != nil {
			return "", err
		}
	}
	return "done", nil
}

func TestWrongCallsCallNothing(t *testing.T) {
	host := answers(nil)
	uses(t, host, func(others *portcullis.Toolset) error {
		for _, wrong := range []any{[]int{1}, "path", 1, make(chan int), map[string]string{"a": "\xff"}} {
			if _, err := others.Call("any.tool", wrong); err == nil {
				return fmt.Errorf("%v is accepted", wrong)
			}
			if _, err := others.CallAll([]portcullis.ToolCall{{Tool: "any.tool"}, {"any.tool", wrong}}); err == nil {
				return fmt.Errorf("%v is accepted", wrong)
			}
			if _, err := others.Foresee([]portcullis.ToolCall{{"any.tool", wrong}}); err == nil {
				return fmt.Errorf("%v is accepted", wrong)
			}
			if _, err := others.Approve([]portcullis.ToolCall{{"any.tool", wrong}}); err == nil {
				return fmt.Errorf("%v is accepted", wrong)
			}
		}
		if _, err := others.Call("any\xff", nil); err == nil {
			return errors.New("a name that is not UTF-8 is accepted")
		}
		if err := others.Close(); err != nil {
			return err
		}
		if _, err := others.Call("any.tool", nil); err == nil || !strings.Contains(err.Error(), "closed") {
			return fmt.Errorf("after the end: %v", err)
		}
		return nil
	})
	if host.Called != nil {
		t.Errorf("got %v", host.Called)
	}
}
