//go:build !wasip1

// Package portcullistest has a scripted host, so that go test needs neither a host nor WebAssembly.
//
//	func TestGreet(t *testing.T) {
//		answer, err := portcullistest.Call(t, nil, "greet", `{"name":"Ada"}`)
//		if err != nil || answer.Output != "Hello, Ada!" {
//			t.Fatal(answer, err)
//		}
//	}
package portcullistest

import (
	"slices"
	"testing"

	"portcullis.dev/portcullis"
	"portcullis.dev/portcullis/internal/host"
)

// A Host sets what the host grants and answers in a test, and records what the tool did. Nil grants nothing.
type Host struct {
	Caller    portcullis.Call
	Cancelled bool
	// Ask answers the questions of a tool. A nil error allows them.
	Ask      func(permission portcullis.Permission, resource, reason string) error
	Settings map[string]string
	// Directories are paths of this machine.
	Directories map[string]string
	Stores      map[string]map[string][]byte
	Services    map[string]func(method, input string) (answer string, err error)
	// Programs play programs. An error is the reason why the program does not start. The launch has no Stdin: what the
	// tool writes is in Started.
	Programs map[string]func(launch portcullis.Launch) (Execution, error)
	// Tools play the tools of other plugins. The arguments are a JSON object. An error becomes the failure of the tool.
	Tools map[string]func(tool, arguments string) (*portcullis.Answer, error)
	// Definitions are those of the played tools, for List, Search and Definition.
	Definitions map[string][]portcullis.CallableTool
	// Foresee says what the host would do with a call of a tool. If nil, every call runs.
	Foresee func(tool, arguments string) portcullis.Outlook

	// Reported and Logged are the reports and log lines of the tool, Written is what it wrote of its answer.
	Reported []portcullis.Progress
	Logged   []string
	Written  string
	// Started are the starts of programs.
	Started []Started
	// Called are the calls of other tools.
	Called []Called
	// Planned are the calls that each Approve asked about.
	Planned [][]Called
	// Kept are the files that the tool kept beside its answer.
	Kept []portcullis.File
}

// Call runs a tool of the registered plugin, from JSON to the answer. The tool gets only handles that its permissions
// allow. Requests use net/http, so point them to a server of net/http/httptest.
func Call(t testing.TB, played *Host, tool, arguments string) (*portcullis.Answer, error) {
	t.Helper()
	if played == nil {
		played = &Host{}
	}
	script := played.script()
	script.Declares = declares(tool)
	defer host.Play(script)()
	defer func() {
		played.Written = script.Written.String()
		played.Started = started(script.Started)
		played.Called = called(script.Called)
		played.Planned = planned(script.Planned)
		played.Kept = kept(script.Kept)
	}()
	return portcullis.Registered().Call(tool, arguments)
}

// Generate makes the tools of the registered plugin's generator. Call runs them.
func Generate(t testing.TB, played *Host) ([]portcullis.GeneratedTool, error) {
	t.Helper()
	if played == nil {
		played = &Host{}
	}
	defer host.Play(played.script())()
	return portcullis.Registered().Generate()
}

// Prepare hides and narrows the tools of the registered plugin for a caller. The preparer gets the settings of the host,
// and no handle.
func Prepare(t testing.TB, played *Host, caller portcullis.Caller) ([]portcullis.Preparation, error) {
	t.Helper()
	if played == nil {
		played = &Host{}
	}
	settings := &Host{Settings: played.Settings}
	defer host.Play(settings.script())()
	defer func() { played.Logged = append(played.Logged, settings.Logged...) }()
	return portcullis.Registered().Prepare(caller)
}

// declares says which permissions a tool of the registered plugin declares. What is no tool is refused elsewhere.
func declares(name string) func(permission string) bool {
	for _, tool := range portcullis.Registered().Tools {
		if tool.Name == name {
			return func(permission string) bool {
				wanted := portcullis.Permission(permission)
				return slices.Contains(tool.Required, wanted) || slices.Contains(tool.Optional, wanted)
			}
		}
	}
	return nil
}

func (h *Host) script() *host.Script {
	script := &host.Script{
		Call:        host.Call(h.Caller),
		Cancelled:   h.Cancelled,
		Settings:    h.Settings,
		Directories: h.Directories,
		Stores:      h.Stores,
		Services:    map[string]func(method, input string) (string, bool){},
		Programs:    map[string]func(*host.Launch) (*host.Execution, string){},
		Tools:       map[string]host.PlayedTools{},
		Report:      h.report,
		Log:         func(_ uint8, message string) { h.Logged = append(h.Logged, message) },
	}
	if h.Ask != nil {
		script.Answer = func(permission, resource, reason string) (string, bool) {
			return words("", h.Ask(portcullis.Permission(permission), resource, reason))
		}
	}
	for key, call := range h.Services {
		script.Services[key] = func(method, input string) (string, bool) { return words(call(method, input)) }
	}
	for key, play := range h.Programs {
		script.Programs[key] = func(launch *host.Launch) (*host.Execution, string) { return execution(play(raised(launch))) }
	}
	for key, play := range h.Tools {
		script.Tools[key] = playedTools(h.Definitions[key], play, h.Foresee)
	}
	return script
}

func (h *Host) report(progress host.Progress) {
	var reported portcullis.Progress
	if progress.Title != nil {
		reported.Title = *progress.Title
	}
	if progress.Fraction != nil {
		reported.Fraction = *progress.Fraction
	}
	if progress.Metadata != nil {
		reported.Metadata = *progress.Metadata
	}
	h.Reported = append(h.Reported, reported)
}

func words(answer string, err error) (string, bool) {
	if err != nil {
		return err.Error(), false
	}
	return answer, true
}
