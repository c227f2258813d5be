#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocation.h"
#include "utf8.h"

void portcullis_append(portcullis_bytes *text, portcullis_view more) {
    size_t total;
    if (__builtin_add_overflow(text->length, more.length, &total) || __builtin_add_overflow(total, 1, &total)) abort();
    text->data = realloc(text->data, total);
    if (!text->data) abort();
    if (more.length > 0) memcpy(text->data + text->length, more.data, more.length);
    text->length += more.length;
    text->data[text->length] = '\0';
}

portcullis_view portcullis_view_of(const char *text) {
    return (portcullis_view){text, text ? strlen(text) : 0};
}

portcullis_view portcullis_view_to(const char *text, size_t length) {
    return length > 0 ? (portcullis_view){text, length} : portcullis_view_of(text);
}

plugin_list_u8_t portcullis_lend_bytes(const void *data, size_t length) {
    // For an empty text, give the host no pointer that it might dereference.
    return (plugin_list_u8_t){length > 0 ? (uint8_t *)data : NULL, length};
}

plugin_string_t portcullis_give(portcullis_view text) {
    if (text.length == 0) return (plugin_string_t){0};
    return (plugin_string_t){memcpy(portcullis_allocate(text.length), text.data, text.length), text.length};
}

plugin_option_string_t portcullis_say_optional(portcullis_view text) {
    return text.data ? (plugin_option_string_t){true, portcullis_say(text)} : (plugin_option_string_t){0};
}

bool portcullis_mean(portcullis_view text, const char *what, plugin_string_t *lent, portcullis_failure *failure) {
    *lent = (plugin_string_t){text.length > 0 ? (uint8_t *)text.data : NULL, text.length};
    if (portcullis_is_utf8(text)) return true;
    return portcullis_refuse(failure, PORTCULLIS_INVALID_ARGUMENTS, "%s is not UTF-8", what);
}

portcullis_bytes portcullis_take(uint8_t *data, size_t length) {
    // An empty list has no memory to free.
    char *text = realloc(length > 0 ? data : NULL, length + 1);
    if (!text) abort();
    text[length] = '\0';
    return (portcullis_bytes){text, length};
}

portcullis_bytes portcullis_take_optional(plugin_option_string_t option) {
    return option.is_some ? portcullis_take(option.val.ptr, option.val.len) : (portcullis_bytes){0};
}

portcullis_bytes portcullis_to_utf8(portcullis_view bytes) {
    plugin_string_t said = portcullis_say(bytes);
    if (said.ptr != (const uint8_t *)bytes.data) return portcullis_take(said.ptr, said.len);
    portcullis_bytes copy = {0};
    portcullis_append(&copy, bytes);
    return copy;
}

static char *format_list(const char *format, va_list list) {
    va_list again;
    va_copy(again, list);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0) abort();
    char *text = portcullis_allocate((size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, list);
    return text;
}

char *portcullis_format(const char *format, ...) {
    va_list list;
    va_start(list, format);
    char *text = format_list(format, list);
    va_end(list);
    return text;
}

portcullis_answer portcullis_text(const char *text) {
    return portcullis_text_of(text, strlen(text));
}

portcullis_answer portcullis_text_of(const char *data, size_t length) {
    return (portcullis_answer){.kind = PORTCULLIS_ANSWER_TEXT, .text = data, .text_length = length};
}

portcullis_answer portcullis_textf(const char *format, ...) {
    va_list list;
    va_start(list, format);
    char *text = format_list(format, list);
    va_end(list);
    return portcullis_text(text);
}

portcullis_answer portcullis_json_of(const char *data, size_t length) {
    return (portcullis_answer){.kind = PORTCULLIS_ANSWER_JSON, .text = data, .text_length = length};
}

portcullis_answer portcullis_parts(const portcullis_part *parts, size_t count) {
    return (portcullis_answer){.kind = PORTCULLIS_ANSWER_PARTS, .parts = parts, .part_count = count};
}

portcullis_answer portcullis_fail(portcullis_failure_kind kind, const char *format, ...) {
    va_list list;
    va_start(list, format);
    char *message = format_list(format, list);
    va_end(list);
    return portcullis_fail_with((portcullis_failure){.kind = kind, .message = message});
}

portcullis_answer portcullis_fail_of(portcullis_failure_kind kind, portcullis_view message) {
    // A length of 0 means NUL-terminated, but an empty view may have no NUL.
    return portcullis_fail_with((portcullis_failure){
        .kind = kind, .message = message.length > 0 ? message.data : "", .message_length = message.length});
}

portcullis_answer portcullis_fail_with(portcullis_failure failure) {
    return (portcullis_answer){.kind = PORTCULLIS_ANSWER_FAILURE, .failure = failure};
}

portcullis_answer portcullis_not_utf8(void) {
    return portcullis_fail(PORTCULLIS_FAILED, "the answer is not UTF-8: give bytes as a file, or as base64 in JSON");
}

void portcullis_log(portcullis_level level, const char *format, ...) {
    va_list list;
    va_start(list, format);
    char *text = format_list(format, list);
    va_end(list);
    portcullis_log_of(level, portcullis_view_of(text));
    free(text);
}

void portcullis_log_of(portcullis_level level, portcullis_view text) {
    plugin_string_t context = {0}, message = portcullis_say(text);
    wasi_logging_logging_log((wasi_logging_logging_level_t)level, &context, &message);
    portcullis_unsay(message, text);
}

portcullis_failure portcullis_words(portcullis_failure_kind kind, plugin_string_t words) {
    portcullis_bytes message = portcullis_take(words.ptr, words.len);
    return (portcullis_failure){.kind = kind, .message = message.data, .message_length = message.length};
}

bool portcullis_refuse(portcullis_failure *failure, portcullis_failure_kind kind, const char *format, ...) {
    va_list list;
    va_start(list, format);
    *failure = (portcullis_failure){.kind = kind, .message = format_list(format, list)};
    va_end(list);
    return false;
}

bool portcullis_no_handle(portcullis_failure *failure, const char *kind, const char *key,
                          portcullis_tool_dependencies_unavailable_t why) {
    switch (why) {
        case PORTCULLIS_TOOL_DEPENDENCIES_UNAVAILABLE_UNKNOWN_KEY:
            return portcullis_refuse(failure, PORTCULLIS_FAILED, "the manifest does not ask for `%s`", key);
        case PORTCULLIS_TOOL_DEPENDENCIES_UNAVAILABLE_WRONG_KIND:
            return portcullis_refuse(failure, PORTCULLIS_FAILED, "`%s` is no %s", key, kind);
        case PORTCULLIS_TOOL_DEPENDENCIES_UNAVAILABLE_NOT_GRANTED:
            return portcullis_refuse(failure, PORTCULLIS_DENIED, "the policy grants no %s `%s` to this tool", kind, key);
        default:
            return portcullis_refuse(failure, PORTCULLIS_UNAVAILABLE, "the %s `%s` could not be opened", kind, key);
    }
}
