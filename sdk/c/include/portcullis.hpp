// The SDK for plugins in C++23, based on the one for C. Exceptions are off: functions that can fail return
// std::expected.
//
// A plugin defines `portcullis_this_plugin`; each of its tools is a function from a Value to a Result:
//
//     portcullis::Result greet(portcullis::Value arguments) {
//         return "Hello, " + arguments["name"].string() + "!";
//     }
#ifndef PORTCULLIS_HPP
#define PORTCULLIS_HPP

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <strings.h>

#include "portcullis.h"
#include "portcullis/failure.hpp"
#include "portcullis/json.hpp"
#include "portcullis/part.hpp"
#include "portcullis/program.hpp"
#include "portcullis/toolset.hpp"

namespace portcullis {

using Tool = portcullis_tool;
using Plugin = portcullis_plugin;
using Dependency = portcullis_dependency;

// ---- Answers ----

// An answer: text, JSON or parts, with a title for people. If the JSON cannot be written, the call fails.
class Success {
  public:
    Success(std::string text) {
        const std::string &kept = keep(std::move(text));
        answer_ = portcullis_text_of(kept.data(), kept.size());
    }
    Success(const char *text) : Success(std::string(text)) {}
    Success(const Json &json) {
        auto written = json.text();
        if (!written) {
            fail(written.error());
            return;
        }
        const std::string &kept = keep(*std::move(written));
        answer_ = portcullis_json_of(kept.data(), kept.size());
    }
    Success(std::vector<Part> parts) {
        const auto &kept = *new std::vector<Part>(std::move(parts));
        auto &list = *new std::vector<portcullis_part>;
        for (const Part &part : kept) {
            if (auto type = part.check(); !type) {
                fail(type.error());
                return;
            }
            list.push_back(part.raw());
        }
        answer_ = portcullis_parts(list.data(), list.size());
    }

    // The answer of a called tool as one's own.
    Success(ToolAnswer answer) : answer_(std::move(answer).release()) {}

    // A few words for people.
    Success &&title(std::string title) && {
        const std::string &kept = keep(std::move(title));
        answer_.title = kept.c_str();
        answer_.title_length = kept.size();
        return std::move(*this);
    }
    // One JSON object for programs.
    Success &&metadata(const Json &metadata) && {
        auto written = metadata.text();
        if (!written) {
            fail(written.error());
            return std::move(*this);
        }
        const std::string &kept = keep(*std::move(written));
        answer_.metadata = kept.c_str();
        answer_.metadata_length = kept.size();
        return std::move(*this);
    }

    portcullis_answer raw() const { return answer_; }

  private:
    void fail(const Failure &failure) { answer_ = portcullis_fail_of(failure.kind, view(keep(failure.message))); }

    portcullis_answer answer_;
};

// What a tool returns: an answer, or std::unexpected of a Failure. Everything that converts to a Success works.
class Result : public std::expected<Success, Failure> {
  public:
    using std::expected<Success, Failure>::expected;
    Result(Failure failure) : std::expected<Success, Failure>(std::unexpect, std::move(failure)) {}
};

// Adapts a function for a tool: `.run = portcullis::run<greet>`. The function takes a Value, or nothing.
template <auto function>
portcullis_answer run(yyjson_val *arguments) {
    Result result = [&]() -> Result {
        if constexpr (std::is_invocable_v<decltype(function), Value>) return function(Value(arguments));
        else return function();
    }();
    if (result) return result->raw();
    Failure &failure = result.error();
    portcullis_answer answer = portcullis_fail_of(failure.kind, view(keep(std::move(failure.message))));
    answer.failure.retry_after_seconds = failure.retry_after_seconds;
    return answer;
}

// ---- The call ----

struct Call {
    std::string id, session;
    std::optional<std::string> message, agent;  // if the caller named them
};

inline Call current_call() {
    portcullis_call call = portcullis_current_call();
    return {taken(call.id).value_or(""), taken(call.session).value_or(""), taken(call.message), taken(call.agent)};
}

// Progress of the call. An absent member keeps its last value.
struct Progress {
    std::optional<std::string> title = {};
    std::optional<float> fraction = {};
    std::optional<Json> metadata = {};
};

// Fails if the metadata cannot be written.
inline Expected<void> report(const Progress &progress) {
    std::string metadata;
    if (progress.metadata) {
        auto written = progress.metadata->text();
        if (!written) return std::unexpected(std::move(written.error()));
        metadata = *std::move(written);
    }
    portcullis_progress_of(progress.title ? view(*progress.title) : portcullis_view{},
                           progress.fraction.value_or(-1.0F),
                           progress.metadata ? view(metadata) : portcullis_view{});
    return {};
}

// Returns whether the caller has cancelled the call. The host stops the call shortly after this becomes true.
inline bool is_cancelled() {
    return portcullis_is_cancelled();
}

// Asks the policy or an approver whether an action is allowed. `permission` is one of the tool's own.
inline Expected<void> ask(std::string_view permission, std::string_view resource, std::string_view reason) {
    portcullis_failure failure;
    if (!portcullis_ask_of(view(permission), view(resource), view(reason), &failure)) return refused(failure);
    return {};
}

// Keeps a file for people beside the answer, such as a transcript. Only a call that succeeds keeps its files. A tool
// cannot keep files beside a text that it writes with `write`, or beside JSON with an output schema.
inline Expected<void> keep_file(const Part &file) {
    if (auto plain = file.check(); !plain) return plain;
    portcullis_failure failure;
    const portcullis_part raw = file.raw();
    if (!portcullis_keep_file(raw.name, raw.media_type, raw.data, raw.length, &failure)) return refused(failure);
    return {};
}

// Writes a line to the audit log of the call.
inline void log(portcullis_level level, std::string_view message) {
    portcullis_log_of(level, view(message));
}

// Returns a setting of the policy's `config`.
inline std::optional<std::string> setting(std::string_view key) {
    return taken(portcullis_setting_of(view(key)));
}

// Writes the next piece of the text answer while the tool runs. The tool then returns the rest of the text.
inline Expected<void> write(std::string_view text) {
    portcullis_failure failure;
    if (!portcullis_write(text.data(), text.size(), &failure)) return refused(failure);
    return {};
}

// ---- Handles ----

// A key-value store that the policy grants.
class Store {
  public:
    static Expected<Store> open(const std::string &key) {
        if (auto plain = whole("the key of a store", key); !plain) return std::unexpected(plain.error());
        portcullis_failure failure;
        Store store(keep(key));
        if (!portcullis_open_store(store.key_->c_str(), &store.handle_, &failure)) {
            store.key_ = nullptr;
            return refused(failure);
        }
        return store;
    }
    Store(Store &&other) noexcept : key_(std::exchange(other.key_, nullptr)), handle_(other.handle_) {}
    Store &operator=(Store &&other) noexcept {
        std::swap(key_, other.key_);
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Store() {
        if (key_) portcullis_close_store(handle_);
    }

    Expected<std::optional<std::string>> get(std::string_view key) const {
        portcullis_failure failure;
        portcullis_bytes value;
        if (!portcullis_store_get_of(handle_, view(key), &value, &failure)) return refused(failure);
        return taken(value);
    }
    Expected<void> set(std::string_view key, std::string_view value) const {
        portcullis_failure failure;
        if (!portcullis_store_set_of(handle_, view(key), value.data(), value.size(), &failure)) return refused(failure);
        return {};
    }
    Expected<void> erase(std::string_view key) const {
        portcullis_failure failure;
        if (!portcullis_store_delete_of(handle_, view(key), &failure)) return refused(failure);
        return {};
    }
    Expected<std::vector<std::string>> keys() const {
        portcullis_failure failure;
        portcullis_bytes *found = nullptr;
        std::size_t count = 0;
        if (!portcullis_store_keys(handle_, &found, &count, &failure)) return refused(failure);
        std::vector<std::string> keys;
        for (portcullis_bytes key : std::span(found, count)) keys.push_back(taken(key).value_or(""));
        std::free(found);
        return keys;
    }

  private:
    explicit Store(const std::string &key) : key_(&key) {}

    const std::string *key_;
    portcullis_store handle_ = {};
};

// Calls a method of the application that embeds the host: JSON in and out.
inline Expected<std::string> call_service(const std::string &key, std::string_view method, const Json &input) {
    if (auto plain = whole("the key of a service", key); !plain) return std::unexpected(plain.error());
    const auto document = input.text();
    if (!document) return document;
    portcullis_failure failure;
    portcullis_bytes output;
    if (!portcullis_call_service_of(key.c_str(), view(method), view(*document), &output, &failure)) {
        return refused(failure);
    }
    return taken(output).value_or("");
}

struct Header {
    std::string name, value;
};

struct Request {
    std::string url;
    std::string method = "GET";
    std::vector<Header> headers = {};
    std::string body = {};
    std::uint32_t timeout_ms = 0;  // for the whole exchange; 0: the policy's limit
    std::size_t body_bytes_max = PORTCULLIS_BODY_BYTES_MAX;
};

struct Response {
    std::uint16_t status = 0;
    std::vector<Header> headers;
    std::string body;

    // Returns the first header with a name, ignoring case.
    std::optional<std::string> header(std::string_view name) const {
        for (const Header &header : headers) {
            if (header.name.size() == name.size() && strncasecmp(header.name.data(), name.data(), name.size()) == 0) {
                return header.value;
            }
        }
        return std::nullopt;
    }
};

// Sends a request through the HTTP client of a key. Every answer of a server is a Response, whatever its status, and so
// is a redirect. PORTCULLIS_DENIED: the policy does not cover the request, and nothing was sent.
inline Expected<Response> fetch(const std::string &key, const Request &request) {
    auto plain = whole("the key of a client", key);
    if (plain) plain = whole("the URL", request.url);
    if (plain) plain = whole("the method", request.method);
    std::vector<portcullis_header> headers;
    for (const Header &header : request.headers) {
        if (plain) plain = whole("the name of a header", header.name);
        if (plain) plain = whole("a header", header.value);
        headers.push_back({header.name.c_str(), header.value.c_str()});
    }
    if (!plain) return std::unexpected(plain.error());
    const portcullis_request outgoing = {
        .method = request.method.c_str(),
        .url = request.url.c_str(),
        .headers = headers.data(),
        .header_count = headers.size(),
        .body = request.body.data(),
        .body_length = request.body.size(),
        .timeout_ms = request.timeout_ms,
        .body_bytes_max = request.body_bytes_max,
    };
    portcullis_failure failure;
    portcullis_response incoming = {};
    if (!portcullis_fetch(key.c_str(), &outgoing, &incoming, &failure)) return refused(failure);
    Response response;
    response.status = incoming.status;
    for (const auto &header : std::span(incoming.headers, incoming.header_count)) {
        response.headers.push_back({header.name, header.value});
    }
    response.body = taken(incoming.body).value_or("");
    return response;
}

}  // namespace portcullis

#endif
