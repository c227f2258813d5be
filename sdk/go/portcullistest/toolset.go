//go:build !wasip1

package portcullistest

import (
	"encoding/json"
	"fmt"

	"portcullis.dev/portcullis"
	"portcullis.dev/portcullis/internal/host"
)

// A Called is a call of a tool of another plugin.
type Called struct {
	Key  string
	Tool string
	// Arguments is a JSON object.
	Arguments string
}

func called(calls []host.Called) []Called {
	var all []Called
	for _, called := range calls {
		all = append(all, Called{called.Key, called.Call.Tool, called.Call.Arguments})
	}
	return all
}

func playedTools(
	definitions []portcullis.CallableTool, play func(tool, arguments string) (*portcullis.Answer, error),
	foresee func(tool, arguments string) portcullis.Outlook,
) host.PlayedTools {
	played := host.PlayedTools{Call: func(call host.ToolCall) host.ToolResult {
		answer, err := play(call.Tool, call.Arguments)
		if err != nil {
			failure := portcullis.FailureOf(err)
			return host.ToolResult{Failure: &host.ToolFailure{Kind: host.FailureKind(failure.Kind), Text: failure.Text}}
		}
		return host.ToolResult{Success: success(answer)}
	}}
	if foresee != nil {
		played.Outlook = func(call host.ToolCall) host.Outlook { return outlook(foresee(call.Tool, call.Arguments)) }
	}
	for _, definition := range definitions {
		played.Definitions = append(played.Definitions, callable(definition))
	}
	return played
}

// outlook returns an outlook as a host gives it.
func outlook(outlook portcullis.Outlook) host.Outlook {
	switch {
	case outlook.Err != nil:
		failure := portcullis.FailureOf(outlook.Err)
		return host.Outlook{
			Kind:    host.OutlookFails,
			Failure: &host.ToolFailure{Kind: host.FailureKind(failure.Kind), Text: failure.Text},
		}
	case outlook.NeedsApproval:
		return host.Outlook{Kind: host.OutlookNeedsApproval}
	default:
		return host.Outlook{}
	}
}

func planned(plans [][]host.Called) (all [][]Called) {
	for _, plan := range plans {
		all = append(all, called(plan))
	}
	return all
}

func kept(files []host.KeptFile) (all []portcullis.File) {
	for _, file := range files {
		all = append(all, portcullis.File{MediaType: file.MediaType, Data: file.Data, Name: file.Name})
	}
	return all
}

// callable returns a definition as a host gives it.
func callable(tool portcullis.CallableTool) host.Callable {
	summary := host.ToolSummary{Name: tool.Name, Title: optional(tool.Title), Description: tool.Description}
	callable := host.Callable{ToolSummary: summary, Schema: string(tool.Schema)}
	if tool.OutputSchema != nil {
		callable.OutputSchema = optional(string(tool.OutputSchema))
	}
	for _, permission := range tool.Permissions {
		callable.Permissions = append(callable.Permissions, string(permission))
	}
	for _, hint := range tool.Hints {
		callable.Hints = append(callable.Hints, uint8(hint))
	}
	return callable
}

// success returns an answer as a host gives it. No answer is an empty text.
func success(answer *portcullis.Answer) *host.ToolSuccess {
	if answer == nil {
		return &host.ToolSuccess{}
	}
	success := &host.ToolSuccess{Title: optional(answer.Title)}
	if answer.Metadata != nil {
		success.Metadata = optional(string(answer.Metadata))
	}
	switch output := answer.Output.(type) {
	case string:
		success.Kind, success.Text = host.OutputText, output
	case json.RawMessage:
		success.Kind, success.Text = host.OutputJSON, string(output)
	case portcullis.Parts:
		success.Kind = host.OutputParts
		for _, part := range output {
			success.Parts = append(success.Parts, lowered(part))
		}
	default:
		panic(fmt.Sprintf("the output of a played tool is a string, a json.RawMessage or Parts, and not %T", output))
	}
	return success
}

func lowered(part portcullis.Part) host.ToolPart {
	switch part := part.(type) {
	case portcullis.Text:
		return host.ToolPart{Kind: host.PartText, Text: string(part)}
	case portcullis.Image:
		return host.ToolPart{
			Kind: host.PartImage, Name: optional(part.Name), MediaType: part.MediaType, Data: part.Data,
		}
	case portcullis.File:
		return host.ToolPart{Kind: host.PartFile, Name: optional(part.Name), MediaType: part.MediaType, Data: part.Data}
	default:
		panic(fmt.Sprintf("a part of a played tool is a Text, an Image or a File, and not %T", part))
	}
}

// optional returns nil for an empty text.
func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
