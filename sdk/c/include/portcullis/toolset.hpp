// Tools of other plugins that a policy lets this plugin call.
#ifndef PORTCULLIS_TOOLSET_HPP
#define PORTCULLIS_TOOLSET_HPP

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "failure.hpp"
#include "json.hpp"
#include "part.hpp"
#include "toolset.h"

namespace portcullis {

// The answer of a called tool. A tool may return it as its own.
class ToolAnswer {
  public:
    // Takes ownership of an answer of a called tool.
    explicit ToolAnswer(portcullis_answer answer) : answer_(answer) {}
    ToolAnswer(ToolAnswer &&other) noexcept : answer_(std::exchange(other.answer_, {})) {}
    ToolAnswer &operator=(ToolAnswer &&other) noexcept {
        std::swap(answer_, other.answer_);
        return *this;
    }
    ~ToolAnswer() { portcullis_free_answer(&answer_); }

    // Text, JSON or parts.
    portcullis_answer_kind kind() const { return answer_.kind; }
    // Returns the output as text: a text itself, a JSON document as it is written, and of parts their texts, one line
    // each.
    std::string text() const { return taken(portcullis_answer_text(&answer_)).value_or(""); }
    // Parses a JSON output; null for any other output.
    Json json() const {
        if (answer_.kind != PORTCULLIS_ANSWER_JSON) return Json();
        return Json::parse({answer_.text, answer_.text_length});
    }
    // Returns the parts; none for any other output.
    std::vector<Part> parts() const {
        std::vector<Part> parts;
        for (const portcullis_part &part : std::span(answer_.parts, answer_.part_count)) {
            parts.push_back({
                .kind = part.kind,
                .media_type = part.media_type ? part.media_type : "",
                .data = std::string(static_cast<const char *>(part.data), part.length),
                .name = part.name ? part.name : "",
            });
        }
        return parts;
    }
    // A few words for people.
    std::optional<std::string> title() const { return optional(answer_.title, answer_.title_length); }
    // One JSON object for programs.
    std::optional<std::string> metadata() const { return optional(answer_.metadata, answer_.metadata_length); }

    // The failure of an answer of `portcullis_call_tools`.
    const portcullis_failure &failure() const { return answer_.failure; }
    // Gives up ownership. The memory then lives until the end of the call.
    portcullis_answer release() && { return std::exchange(answer_, {}); }

  private:
    static std::optional<std::string> optional(const char *text, std::size_t length) {
        if (!text) return std::nullopt;
        return std::string(text, length);
    }

    portcullis_answer answer_;
};

// A tool in a list. The texts are those of another plugin: do not trust them.
struct ToolSummary {
    std::string name;  // the full name, such as "files.read"
    std::optional<std::string> title;
    std::string description;
};

// The definition of a tool of another plugin.
struct CallableTool {
    ToolSummary summary;
    std::string schema;                        // JSON Schema of the arguments
    std::optional<std::string> output_schema;  // JSON Schema of the output, if the tool returns JSON
    unsigned permissions;                      // those that the tool may use
    unsigned hints;                            // what its author claims
};

// A call of a tool of another plugin.
struct ToolCall {
    std::string tool;  // the full name
    Json arguments = Json::object();
};

// What the host would do with a call.
struct Outlook {
    portcullis_outlook_kind kind;
    std::optional<Failure> failure;  // of PORTCULLIS_FAILS
};

// The tools that the policy binds to a key. Each call takes all the steps of a call by a caller: the host checks,
// decides, limits and records it, and asks an approver where the policy says so.
class Toolset {
  public:
    static Expected<Toolset> open(const std::string &key) {
        if (auto plain = whole("the key of a set of tools", key); !plain) return std::unexpected(plain.error());
        portcullis_failure failure;
        portcullis_toolset handle;
        if (!portcullis_open_tools(key.c_str(), &handle, &failure)) return refused(failure);
        return Toolset(handle);
    }
    Toolset(Toolset &&other) noexcept
        : handle_(other.handle_), is_open_(std::exchange(other.is_open_, false)) {}
    Toolset &operator=(Toolset &&other) noexcept {
        std::swap(handle_, other.handle_);
        std::swap(is_open_, other.is_open_);
        return *this;
    }
    ~Toolset() {
        if (is_open_) portcullis_close_tools(handle_);
    }

    // Returns the tools that a call could reach now, sorted by name.
    std::vector<ToolSummary> list() const {
        std::size_t count = 0;
        portcullis_tool_summary *tools = portcullis_list_tools(handle_, &count);
        return summaries(tools, count);
    }

    // Returns the tools that fit a need best, at most `tools_max`, the best first. `query` describes the need in words.
    std::vector<ToolSummary> search(std::string_view query, std::uint32_t tools_max) const {
        std::size_t count = 0;
        portcullis_tool_summary *tools = portcullis_search_tools_of(handle_, view(query), tools_max, &count);
        return summaries(tools, count);
    }

    // Returns the definition of a tool, or nothing if no call could reach it.
    std::optional<CallableTool> definition(std::string_view tool) const {
        portcullis_callable found;
        if (!portcullis_define_tool_of(handle_, view(tool), &found)) return std::nullopt;
        return CallableTool{
            .summary = summary(found.summary),
            .schema = taken(found.schema).value_or(""),
            .output_schema = taken(found.output_schema),
            .permissions = found.permissions,
            .hints = found.hints,
        };
    }

    // Calls a tool and waits for its answer. The arguments are one JSON object. The time of the tool counts for this
    // call, and the time in which it waits for an approver or for its turn does not. If the host refuses the call or
    // the tool fails, the failure has the kind and the text that a model would get.
    Expected<ToolAnswer> call(std::string_view tool, const Json &arguments = Json::object()) const {
        const auto document = arguments.text();
        if (!document) return std::unexpected(document.error());
        portcullis_failure failure;
        portcullis_answer answer;
        if (!portcullis_call_tool_of(handle_, view(tool), view(*document), &answer, &failure)) return refused(failure);
        return ToolAnswer(answer);
    }

    // Calls several tools at the same time, and returns their answers in order. A tool that may change something runs
    // alone. On a failure of the whole no tool was called.
    Expected<std::vector<Expected<ToolAnswer>>> call_all(std::span<const ToolCall> calls) const {
        const auto lowered = Lowered::of(calls);
        if (!lowered) return std::unexpected(lowered.error());
        portcullis_failure failure;
        portcullis_answer *raw = nullptr;
        if (!portcullis_call_tools(handle_, lowered->raw.data(), calls.size(), &raw, &failure)) return refused(failure);
        std::vector<Expected<ToolAnswer>> answers;
        for (portcullis_answer &answer : std::span(raw, calls.size())) {
            ToolAnswer owned(std::exchange(answer, {}));
            if (owned.kind() == PORTCULLIS_ANSWER_FAILURE) answers.push_back(refused(owned.failure()));
            else answers.push_back(std::move(owned));
        }
        portcullis_free_answers(raw, calls.size());
        return answers;
    }

    // Says what the host would do with each call now, at most 100. Nothing runs, and no approver is asked.
    Expected<std::vector<Outlook>> foresee(std::span<const ToolCall> calls) const {
        const auto lowered = Lowered::of(calls);
        if (!lowered) return std::unexpected(lowered.error());
        portcullis_failure failure;
        portcullis_outlook *raw = nullptr;
        if (!portcullis_foresee_calls(handle_, lowered->raw.data(), calls.size(), &raw, &failure)) {
            return refused(failure);
        }
        std::vector<Outlook> outlooks;
        for (const portcullis_outlook &outlook : std::span(raw, calls.size())) {
            outlooks.push_back({outlook.kind, std::nullopt});
            if (outlook.kind == PORTCULLIS_FAILS) outlooks.back().failure = refused(outlook.failure).error();
        }
        portcullis_free_outlooks(raw, calls.size());
        return outlooks;
    }

    // Asks an approver about calls together before they are made, at most 100. The approver reads the exact arguments
    // of each, and approves all, some or none. Says for each call whether it can now be made without a request of its
    // own. Each approval counts once, for exactly these arguments, until this call ends. A call that the approver did
    // not approve fails when it is made. The host does not ask about a single call, or where no approver can answer
    // now.
    Expected<std::vector<bool>> approve(std::span<const ToolCall> calls) const {
        const auto lowered = Lowered::of(calls);
        if (!lowered) return std::unexpected(lowered.error());
        portcullis_failure failure;
        bool *raw = nullptr;
        if (!portcullis_approve_calls(handle_, lowered->raw.data(), calls.size(), &raw, &failure)) {
            return refused(failure);
        }
        const std::vector<bool> approved(raw, raw + calls.size());
        std::free(raw);
        return approved;
    }

  private:
    // Calls for the functions in C. They lend the names, and the documents, which do not move with the vector.
    struct Lowered {
        std::vector<std::string> documents;
        std::vector<portcullis_tool_call> raw;

        static Expected<Lowered> of(std::span<const ToolCall> calls) {
            Lowered lowered;
            lowered.documents.reserve(calls.size());
            for (const ToolCall &call : calls) {
                auto document = call.arguments.text();
                if (!document) return std::unexpected(document.error());
                lowered.documents.push_back(*std::move(document));
                lowered.raw.push_back({view(call.tool), view(lowered.documents.back())});
            }
            return lowered;
        }
    };

    explicit Toolset(portcullis_toolset handle) : handle_(handle) {}

    static ToolSummary summary(portcullis_tool_summary tool) {
        return {taken(tool.name).value_or(""), taken(tool.title), taken(tool.description).value_or("")};
    }
    static std::vector<ToolSummary> summaries(portcullis_tool_summary *tools, std::size_t count) {
        std::vector<ToolSummary> all;
        for (portcullis_tool_summary &tool : std::span(tools, count)) all.push_back(summary(std::exchange(tool, {})));
        portcullis_free_summaries(tools, count);
        return all;
    }

    portcullis_toolset handle_;
    bool is_open_ = true;
};

}  // namespace portcullis

#endif
