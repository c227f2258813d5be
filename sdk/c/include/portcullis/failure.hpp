// Failures, and text between C++ and the functions in C.
#ifndef PORTCULLIS_FAILURE_HPP
#define PORTCULLIS_FAILURE_HPP

#include <cstddef>
#include <cstring>
#include <expected>
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

// Why a tool failed. The message is for the model: say what would help.
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

inline std::unexpected<Failure> refused(const portcullis_failure &failure) {
    const char *message = failure.message ? failure.message : "";
    const std::size_t length = failure.message_length > 0 ? failure.message_length : std::strlen(message);
    return std::unexpected(Failure{failure.kind, std::string(message, length)});
}

// Checks text for a function in C that takes NUL-terminated text: it must not contain a NUL.
inline Expected<void> whole(const char *what, std::string_view text) {
    if (text.contains('\0')) return std::unexpected(Failure::invalid_arguments(std::string(what) + " has a NUL in it"));
    return {};
}

}  // namespace portcullis

#endif
