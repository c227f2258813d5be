// Failures, and text between C++ and the functions in C.
#ifndef PORTCULLIS_FAILURE_HPP
#define PORTCULLIS_FAILURE_HPP

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "host.h"

namespace portcullis {

// Copies text, so that it outlives the calling function. It is never freed: the instance ends with the call.
inline std::string &keep(std::string text) {
    return *new std::string(std::move(text));
}

// Converts text for the functions in C.
inline portcullis_view view(std::string_view text) {
    return {text.data(), text.size()};
}

// Copies bytes of the functions in C to a string, and frees them.
inline std::optional<std::string> taken(portcullis_bytes bytes) {
    if (!bytes.data) return std::nullopt;
    std::string text(bytes.data, bytes.length);
    std::free(bytes.data);
    return text;
}

// Returns text in which invalid UTF-8 is replaced by U+FFFD, for bytes that may be anything.
inline std::string to_utf8(std::string_view bytes) {
    return taken(portcullis_to_utf8(view(bytes))).value_or("");
}

// Why a tool failed. The message is for the model: say what would help.
struct Failure {
    portcullis_failure_kind kind;
    std::string message;
    std::uint32_t retry_after_seconds = 0;  // of unavailable: when trying again may help; 0: unknown

    static Failure invalid_arguments(std::string message) { return {PORTCULLIS_INVALID_ARGUMENTS, std::move(message)}; }
    static Failure denied(std::string message) { return {PORTCULLIS_DENIED, std::move(message)}; }
    static Failure unavailable(std::string message, std::uint32_t retry_after_seconds = 0) {
        return {PORTCULLIS_UNAVAILABLE, std::move(message), retry_after_seconds};
    }
    static Failure cancelled() { return {PORTCULLIS_CANCELLED, {}}; }
    static Failure failed(std::string message) { return {PORTCULLIS_FAILED, std::move(message)}; }
};

template <typename T>
using Expected = std::expected<T, Failure>;

inline std::unexpected<Failure> refused(const portcullis_failure &failure) {
    const char *message = failure.message ? failure.message : "";
    const std::size_t length = failure.message_length > 0 ? failure.message_length : std::strlen(message);
    return std::unexpected(Failure{failure.kind, std::string(message, length), failure.retry_after_seconds});
}

// Checks text for a function in C that takes NUL-terminated text: it must not contain a NUL.
inline Expected<void> whole(const char *what, std::string_view text) {
    if (text.contains('\0')) return std::unexpected(Failure::invalid_arguments(std::string(what) + " has a NUL in it"));
    return {};
}

}  // namespace portcullis

#endif
