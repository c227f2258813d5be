package main

import (
	"encoding/json"

	"portcullis.dev/portcullis"
)

// The tools that call other tools.
func toolset() []*portcullis.Tool {
	return []*portcullis.Tool{
		portcullis.NewTool("delegate", "Calls another tool, and answers as that tool does.", delegate),
		portcullis.NewTool("delegate-all", "Calls several tools with a text each at the same time, and answers with the text or the failure of each.", delegateAll),
		portcullis.NewTool("plan", "Says what would happen to calls of other tools with a text each, and asks for them together.", plan, portcullis.ReadOnly),
		portcullis.NewTool("lookup", "Lists and searches other tools, and says how one of them is defined.", lookup, portcullis.ReadOnly, portcullis.Idempotent),
	}
}

type delegateArguments struct {
	Key       string                     `json:"key" description:"The key of the tools."`
	Tool      string                     `json:"tool" description:"The full name of the tool."`
	Arguments map[string]json.RawMessage `json:"arguments" description:"Its arguments."`
}

func delegate(ctx *portcullis.Context, arguments delegateArguments) (*portcullis.Answer, error) {
	others, err := ctx.Tools(arguments.Key)
	if err != nil {
		return nil, err
	}
	return others.Call(arguments.Tool, arguments.Arguments)
}

type delegateAllArguments struct {
	Key   string   `json:"key" description:"The key of the tools."`
	Tools []string `json:"tools" description:"The full names of the tools."`
	Texts []string `json:"texts" description:"The argument of each."`
}

func (a *delegateAllArguments) calls() (calls []portcullis.ToolCall) {
	for index, tool := range a.Tools[:min(len(a.Tools), len(a.Texts))] {
		text := a.Texts[index]
		calls = append(calls, portcullis.ToolCall{Tool: tool, Arguments: map[string]string{"text": text}})
	}
	return calls
}

func plan(ctx *portcullis.Context, arguments delegateAllArguments) (map[string]any, error) {
	others, err := ctx.Tools(arguments.Key)
	if err != nil {
		return nil, err
	}
	foreseen, err := others.Foresee(arguments.calls())
	if err != nil {
		return nil, err
	}
	outlooks := make([]string, 0, len(foreseen))
	for _, outlook := range foreseen {
		switch {
		case outlook.Err != nil:
			outlooks = append(outlooks, "fails: "+outlook.Err.Error())
		case outlook.NeedsApproval:
			outlooks = append(outlooks, "needs-approval")
		default:
			outlooks = append(outlooks, "runs")
		}
	}
	approved, err := others.Approve(arguments.calls())
	return map[string]any{"outlooks": outlooks, "approved": approved}, err
}

func delegateAll(ctx *portcullis.Context, arguments delegateAllArguments) (map[string]any, error) {
	others, err := ctx.Tools(arguments.Key)
	if err != nil {
		return nil, err
	}
	results, err := others.CallAll(arguments.calls())
	if err != nil {
		return nil, err
	}
	answers := make([]map[string]string, 0, len(results))
	for _, result := range results {
		if result.Err != nil {
			answers = append(answers, map[string]string{"failure": result.Err.Error()})
		} else {
			answers = append(answers, map[string]string{"text": result.Answer.Text()})
		}
	}
	return map[string]any{"answers": answers}, nil
}

type lookupArguments struct {
	Key   string `json:"key" description:"The key of the tools."`
	Query string `json:"query" description:"What the search is for."`
	Limit int    `json:"limit" description:"How many tools the search may find." minimum:"0" maximum:"100"`
	Tool  string `json:"tool" description:"The full name of the tool to define."`
}

func lookup(ctx *portcullis.Context, arguments lookupArguments) (map[string]any, error) {
	others, err := ctx.Tools(arguments.Key)
	if err != nil {
		return nil, err
	}
	list, err := others.List()
	if err != nil {
		return nil, err
	}
	found, err := others.Search(arguments.Query, arguments.Limit)
	if err != nil {
		return nil, err
	}
	definition, err := others.Definition(arguments.Tool)
	if err != nil {
		return nil, err
	}
	return map[string]any{"list": described(list), "found": described(found), "definition": defined(definition)}, nil
}

func described(tools []portcullis.ToolSummary) []map[string]any {
	all := make([]map[string]any, 0, len(tools))
	for _, tool := range tools {
		all = append(all, summarised(tool))
	}
	return all
}

func summarised(tool portcullis.ToolSummary) map[string]any {
	summary := map[string]any{"name": tool.Name, "title": nil, "description": tool.Description}
	if tool.Title != "" {
		summary["title"] = tool.Title
	}
	return summary
}

func defined(tool *portcullis.CallableTool) any {
	if tool == nil {
		return nil
	}
	definition := summarised(tool.ToolSummary)
	definition["schema"] = tool.Schema
	definition["output_schema"] = tool.OutputSchema
	definition["permissions"] = append([]portcullis.Permission{}, tool.Permissions...)
	hints := []string{}
	for _, hint := range tool.Hints {
		hints = append(hints, []string{"read-only", "destructive", "idempotent", "open-world", "sequential"}[hint])
	}
	definition["hints"] = hints
	return definition
}
