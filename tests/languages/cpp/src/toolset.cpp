// Tools of other plugins, which the policy binds.
#include <algorithm>
#include <span>

#include "tools.hpp"

using portcullis::CallableTool;
using portcullis::Outlook;
using portcullis::ToolCall;
using portcullis::Toolset;
using portcullis::ToolSummary;

Result delegate(Value arguments) {
    const auto others = Toolset::open(arguments["key"].string());
    if (!others) return others.error();
    auto answer = others->call(arguments["tool"].text(), arguments["arguments"]);
    if (!answer) return answer.error();
    return *std::move(answer);
}

// The calls of the tools with a text each.
static std::vector<ToolCall> calls_of(Value arguments) {
    const Value tools = arguments["tools"], texts = arguments["texts"];
    std::vector<ToolCall> calls;
    for (std::size_t i = 0; i < std::min(tools.size(), texts.size()); i++) {
        calls.push_back({tools[i].string(), Json::object({{"text", texts[i]}})});
    }
    return calls;
}

Result delegate_all(Value arguments) {
    const auto others = Toolset::open(arguments["key"].string());
    if (!others) return others.error();
    const auto answers = others->call_all(calls_of(arguments));
    if (!answers) return answers.error();
    Json all = Json::array();
    for (const auto &answer : *answers) {
        all.push(answer ? Json::object({{"text", answer->text()}}) : Json::object({{"failure", answer.error().message}}));
    }
    return Json::object({{"answers", all}});
}

static Json described(const Outlook &outlook) {
    switch (outlook.kind) {
        case PORTCULLIS_RUNS:
            return "runs";
        case PORTCULLIS_NEEDS_APPROVAL:
            return "needs-approval";
        default:
            return "fails: " + outlook.failure->message;
    }
}

Result plan(Value arguments) {
    const auto others = Toolset::open(arguments["key"].string());
    if (!others) return others.error();
    const std::vector<ToolCall> calls = calls_of(arguments);
    const auto foreseen = others->foresee(calls);
    if (!foreseen) return foreseen.error();
    const auto approved = others->approve(calls);
    if (!approved) return approved.error();
    Json outlooks = Json::array(), approvals = Json::array();
    for (const Outlook &outlook : *foreseen) outlooks.push(described(outlook));
    for (const bool is_approved : *approved) approvals.push(is_approved);
    return Json::object({{"outlooks", outlooks}, {"approved", approvals}});
}

static Json summary(const ToolSummary &tool) {
    return Json::object({{"name", tool.name}, {"title", tool.title}, {"description", tool.description}});
}

static Json summaries(const std::vector<ToolSummary> &tools) {
    Json all = Json::array();
    for (const ToolSummary &tool : tools) all.push(summary(tool));
    return all;
}

// The names of the bits that are set.
static Json names(unsigned set, std::span<const char *const> names) {
    Json all = Json::array();
    for (std::size_t i = 0; i < names.size(); i++) {
        if (set & 1U << i) all.push(names[i]);
    }
    return all;
}

static Json defined(const CallableTool &tool) {
    static constexpr const char *PERMISSIONS[] = {"read", "write", "execute", "network"};
    static constexpr const char *HINTS[] = {"read-only", "destructive", "idempotent", "open-world", "sequential"};
    Json definition = summary(tool.summary);
    definition.set("schema", Json::parse(tool.schema));
    definition.set("output_schema", tool.output_schema ? Json::parse(*tool.output_schema) : Json());
    definition.set("permissions", names(tool.permissions, PERMISSIONS));
    definition.set("hints", names(tool.hints, HINTS));
    return definition;
}

Result lookup(Value arguments) {
    const auto others = Toolset::open(arguments["key"].string());
    if (!others) return others.error();
    const auto limit = static_cast<std::uint32_t>(number_of(arguments, "limit"));
    const auto definition = others->definition(arguments["tool"].text());
    return Json::object({
        {"list", summaries(others->list())},
        {"found", summaries(others->search(arguments["query"].text(), limit))},
        {"definition", definition ? defined(*definition) : Json()},
    });
}
