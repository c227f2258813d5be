// The SDK for plugins in C++23, over the one for C. Exceptions are off: what can fail returns std::expected.
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
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <strings.h>

#include "portcullis.h"

namespace portcullis {

using Tool = portcullis_tool;
using Plugin = portcullis_plugin;
using Dependency = portcullis_dependency;

// Text that outlives the function it was made in. The instance ends with the call, and its memory with it.
inline std::string &keep(std::string text) {
    return *new std::string(std::move(text));
}

// ---- JSON ----

// A JSON value that was read. One that is absent is like null, and has the empty value of every type.
class Value {
  public:
    Value(yyjson_val *value = nullptr) : value_(value) {}

    Value operator[](std::string_view key) const { return yyjson_obj_getn(value_, key.data(), key.size()); }
    Value operator[](std::size_t index) const { return yyjson_arr_get(value_, index); }
    // How many elements or members it has.
    std::size_t size() const { return yyjson_is_obj(value_) ? yyjson_obj_size(value_) : yyjson_arr_size(value_); }

    bool is_null() const { return !value_ || yyjson_is_null(value_); }
    explicit operator bool() const { return !is_null(); }

    std::string_view text() const {
        if (!yyjson_is_str(value_)) return {};
        return {yyjson_get_str(value_), yyjson_get_len(value_)};
    }
    std::string string() const { return std::string(text()); }
    std::int64_t integer() const { return yyjson_get_sint(value_); }
    double number() const { return yyjson_get_num(value_); }
    bool boolean() const { return yyjson_get_bool(value_); }

    // The value as yyjson has it.
    yyjson_val *raw() const { return value_; }

  private:
    yyjson_val *value_;
};

// A JSON value that is made.
class Json {
  public:
    using Member = std::pair<std::string_view, Json>;

    Json(std::nullptr_t = nullptr) : value_(yyjson_mut_null(document())) {}
    Json(bool value) : value_(yyjson_mut_bool(document(), value)) {}
    template <typename Number>
        requires std::is_arithmetic_v<Number>
    Json(Number value) : value_(number(value)) {}
    Json(std::string_view text) : value_(yyjson_mut_strncpy(document(), text.data(), text.size())) {}
    Json(const std::string &text) : Json(std::string_view(text)) {}
    Json(const char *text) : Json(std::string_view(text)) {}
    Json(Value value) : value_(value.raw() ? yyjson_val_mut_copy(document(), value.raw()) : Json().value_) {}
    template <typename Optional>
    Json(const std::optional<Optional> &value) : value_(value ? Json(*value).value_ : Json().value_) {}

    static Json object(std::initializer_list<Member> members = {}) {
        Json object(yyjson_mut_obj(document()));
        for (const auto &[key, value] : members) object.set(key, value);
        return object;
    }
    static Json array(std::initializer_list<Json> items = {}) {
        Json array(yyjson_mut_arr(document()));
        for (const Json &item : items) array.push(item);
        return array;
    }

    // Reads a text; null where it is no JSON.
    static Json parse(std::string_view text) {
        return Value(yyjson_doc_get_root(yyjson_read(text.data(), text.size(), YYJSON_READ_NOFLAG)));
    }

    // Sets a member of an object.
    Json &set(std::string_view key, Json value) {
        yyjson_mut_obj_put(value_, Json(key).value_, value.copy());
        return *this;
    }
    // Adds an element to an array.
    Json &push(Json value) {
        yyjson_mut_arr_append(value_, value.copy());
        return *this;
    }

    std::string text() const {
        std::size_t length = 0;
        char *written = yyjson_mut_val_write(value_, YYJSON_WRITE_NOFLAG, &length);
        std::string text(written ? written : "null", written ? length : 4);
        std::free(written);
        return text;
    }

    // The document that every value of the call belongs to.
    static yyjson_mut_doc *document() {
        static yyjson_mut_doc *const document = yyjson_mut_doc_new(nullptr);
        return document;
    }

  private:
    explicit Json(yyjson_mut_val *value) : value_(value) {}

    // A value stands in one place only: what holds it links it to what comes next.
    yyjson_mut_val *copy() const {
        yyjson_mut_val *copied = yyjson_mut_val_mut_copy(document(), value_);
        return copied ? copied : Json().value_;
    }

    template <typename Number>
    static yyjson_mut_val *number(Number value) {
        if constexpr (std::is_floating_point_v<Number>) return yyjson_mut_real(document(), value);
        else if constexpr (std::is_signed_v<Number>) return yyjson_mut_sint(document(), value);
        else return yyjson_mut_uint(document(), value);
    }

    yyjson_mut_val *value_;
};

// ---- What a tool returns ----

// Why a tool could not answer. The message is for the model: say what would help.
struct Failure {
    portcullis_failure_kind kind;
    std::string message;

    static Failure invalid_arguments(std::string message) { return {PORTCULLIS_INVALID_ARGUMENTS, std::move(message)}; }
    static Failure denied(std::string message) { return {PORTCULLIS_DENIED, std::move(message)}; }
    static Failure unavailable(std::string message) { return {PORTCULLIS_UNAVAILABLE, std::move(message)}; }
    static Failure cancelled() { return {PORTCULLIS_CANCELLED, {}}; }
    static Failure failed(std::string message) { return {PORTCULLIS_FAILED, std::move(message)}; }
};

template <typename T>
using Expected = std::expected<T, Failure>;

// A piece of an answer.
struct Part {
    portcullis_part_kind kind;
    std::string media_type;
    std::string data;

    static Part text(std::string text) { return {PORTCULLIS_PART_TEXT, {}, std::move(text)}; }
    static Part image(std::string media_type, std::string data) {
        return {PORTCULLIS_PART_IMAGE, std::move(media_type), std::move(data)};
    }
    static Part file(std::string media_type, std::string data) {
        return {PORTCULLIS_PART_FILE, std::move(media_type), std::move(data)};
    }
};

// An answer: text, JSON or parts, with words for people beside it.
class Success {
  public:
    Success(std::string text) {
        const std::string &kept = keep(std::move(text));
        answer_ = portcullis_text_of(kept.data(), kept.size());
    }
    Success(const char *text) : Success(std::string(text)) {}
    Success(const Json &json) {
        const std::string &kept = keep(json.text());
        answer_ = portcullis_json_of(kept.data(), kept.size());
    }
    Success(std::vector<Part> parts) {
        const auto &kept = *new std::vector<Part>(std::move(parts));
        auto &list = *new std::vector<portcullis_part>;
        for (const Part &part : kept) {
            list.push_back({part.kind, part.media_type.c_str(), part.data.data(), part.data.size()});
        }
        answer_ = portcullis_parts(list.data(), list.size());
    }

    // A few words for people.
    Success &&title(std::string title) && {
        answer_.title = keep(std::move(title)).c_str();
        return std::move(*this);
    }
    // One JSON object for programs.
    Success &&metadata(const Json &metadata) && {
        answer_.metadata = keep(metadata.text()).c_str();
        return std::move(*this);
    }

    portcullis_answer raw() const { return answer_; }

  private:
    portcullis_answer answer_;
};

// What a tool returns: an answer, or std::unexpected of a Failure. Whatever a Success is made of converts.
class Result : public std::expected<Success, Failure> {
  public:
    using std::expected<Success, Failure>::expected;
    Result(Failure failure) : std::expected<Success, Failure>(std::unexpect, std::move(failure)) {}
};

// Makes a function a tool's: `.run = portcullis::run<greet>`. The function takes a Value, or nothing.
template <auto function>
portcullis_answer run(yyjson_val *arguments) {
    Result result = [&]() -> Result {
        if constexpr (std::is_invocable_v<decltype(function), Value>) return function(Value(arguments));
        else return function();
    }();
    if (result) return result->raw();
    return portcullis_fail_with({result.error().kind, keep(std::move(result.error().message)).c_str()});
}

// ---- The call ----

struct Call {
    std::string id, session;
    std::optional<std::string> message, agent;  // where the caller named them
};

inline std::optional<std::string> taken(portcullis_bytes bytes) {
    if (!bytes.data) return std::nullopt;
    std::string text(bytes.data, bytes.length);
    std::free(bytes.data);
    return text;
}

inline Call current_call() {
    portcullis_call call = portcullis_current_call();
    return {taken(call.id).value_or(""), taken(call.session).value_or(""), taken(call.message), taken(call.agent)};
}

// How far the call has come. What is absent stays as it was.
struct Progress {
    std::optional<std::string> title = {};
    std::optional<float> fraction = {};
    std::optional<Json> metadata = {};
};

inline void report(const Progress &progress) {
    const std::string metadata = progress.metadata ? progress.metadata->text() : std::string();
    portcullis_progress(progress.title ? progress.title->c_str() : nullptr, progress.fraction.value_or(-1.0F),
                        progress.metadata ? metadata.c_str() : nullptr);
}

// Whether nobody wants the answer any more. The call is stopped a short while after this turns true.
inline bool is_cancelled() {
    return portcullis_is_cancelled();
}

inline std::unexpected<Failure> refused(const portcullis_failure &failure) {
    return std::unexpected(Failure{failure.kind, failure.message ? failure.message : ""});
}

// Asks the policy or a person whether something may be done. `permission` is one of the tool's own.
inline Expected<void> ask(const std::string &permission, const std::string &resource, const std::string &reason) {
    portcullis_failure failure;
    if (!portcullis_ask(permission.c_str(), resource.c_str(), reason.c_str(), &failure)) return refused(failure);
    return {};
}

// Writes a line into the record of the call.
inline void log(portcullis_level level, const std::string &message) {
    portcullis_log(level, "%s", message.c_str());
}

// What the policy sets under `config`.
inline std::optional<std::string> setting(const std::string &key) {
    return taken(portcullis_setting(key.c_str()));
}

// Writes the next piece of the text answer while the tool is at work. It then returns the text that follows.
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

    Expected<std::optional<std::string>> get(const std::string &key) const {
        portcullis_failure failure;
        portcullis_bytes value;
        if (!portcullis_store_get(handle_, key.c_str(), &value, &failure)) return refused(failure);
        return taken(value);
    }
    Expected<void> set(const std::string &key, std::string_view value) const {
        portcullis_failure failure;
        if (!portcullis_store_set(handle_, key.c_str(), value.data(), value.size(), &failure)) return refused(failure);
        return {};
    }
    Expected<void> erase(const std::string &key) const {
        portcullis_failure failure;
        if (!portcullis_store_delete(handle_, key.c_str(), &failure)) return refused(failure);
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
inline Expected<std::string> call_service(const std::string &key, const std::string &method, const Json &input) {
    portcullis_failure failure;
    portcullis_bytes output;
    if (!portcullis_call_service(key.c_str(), method.c_str(), input.text().c_str(), &output, &failure)) {
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
    std::uint32_t timeout_ms = 0;  // for the whole exchange; 0: what the policy says
    std::size_t body_bytes_max = PORTCULLIS_BODY_BYTES_MAX;
};

struct Response {
    std::uint16_t status = 0;
    std::vector<Header> headers;
    std::string body;

    // The first header of a name, whose case is no matter.
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
    std::vector<portcullis_header> headers;
    for (const Header &header : request.headers) headers.push_back({header.name.c_str(), header.value.c_str()});
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
