#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *portcullis_allocate(size_t bytes) {
    void *memory = malloc(bytes > 0 ? bytes : 1);
    if (!memory) abort();
    return memory;
}

plugin_string_t portcullis_lend(const char *text) {
    return (plugin_string_t){(uint8_t *)text, strlen(text)};
}

plugin_list_u8_t portcullis_lend_bytes(const void *data, size_t length) {
    return (plugin_list_u8_t){(uint8_t *)data, length};
}

plugin_string_t portcullis_give(const char *text, size_t length) {
    if (length == 0) return (plugin_string_t){0};
    return (plugin_string_t){memcpy(portcullis_allocate(length), text, length), length};
}

plugin_option_string_t portcullis_give_optional(const char *text) {
    if (!text) return (plugin_option_string_t){0};
    return (plugin_option_string_t){true, portcullis_give(text, strlen(text))};
}

portcullis_bytes portcullis_take(uint8_t *data, size_t length) {
    // No memory is behind an empty list.
    char *text = realloc(length > 0 ? data : NULL, length + 1);
    if (!text) abort();
    text[length] = '\0';
    return (portcullis_bytes){text, length};
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
    return portcullis_fail_with((portcullis_failure){kind, message});
}

portcullis_answer portcullis_fail_with(portcullis_failure failure) {
    return (portcullis_answer){.kind = PORTCULLIS_ANSWER_FAILURE, .failure = failure};
}

void portcullis_log(portcullis_level level, const char *format, ...) {
    va_list list;
    va_start(list, format);
    char *text = format_list(format, list);
    va_end(list);
    plugin_string_t context = portcullis_lend(""), message = portcullis_lend(text);
    wasi_logging_logging_log((wasi_logging_logging_level_t)level, &context, &message);
    free(text);
}

bool portcullis_refuse(portcullis_failure *failure, portcullis_failure_kind kind, const char *format, ...) {
    va_list list;
    va_start(list, format);
    *failure = (portcullis_failure){kind, format_list(format, list)};
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
