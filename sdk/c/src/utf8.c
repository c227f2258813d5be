#include "utf8.h"

#include <stdlib.h>
#include <string.h>

#include "allocation.h"

// The replacement for invalid bytes: U+FFFD.
static const char REPLACEMENT[] = "\xEF\xBF\xBD";
enum { REPLACEMENT_BYTES = sizeof REPLACEMENT - 1 };

// Returns the length of the first character of a text. If it is invalid, sets `valid` to false and returns the length
// of the bytes that could begin a character, or else 1.
static size_t step(const uint8_t *text, size_t length, bool *valid) {
    uint8_t first = text[0];
    size_t size = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
    *valid = size > 0;
    // The range of the second byte excludes overlong forms, surrogates, and values above U+10FFFF.
    uint8_t least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    uint8_t most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    for (size_t i = 1; i < size; i++) {
        if (i == length || text[i] < least || text[i] > most) {
            *valid = false;
            return i;
        }
        least = 0x80;
        most = 0xBF;
    }
    return size > 0 ? size : 1;
}

bool portcullis_is_utf8(portcullis_view text) {
    const uint8_t *bytes = (const uint8_t *)text.data;
    bool valid = true;
    for (size_t at = 0; valid && at < text.length;) at += step(bytes + at, text.length - at, &valid);
    return valid;
}

plugin_string_t portcullis_say(portcullis_view text) {
    if (text.length == 0) return (plugin_string_t){0};
    const uint8_t *bytes = (const uint8_t *)text.data;
    if (portcullis_is_utf8(text)) return (plugin_string_t){(uint8_t *)bytes, text.length};
    // One byte becomes one replacement at most.
    uint8_t *said = portcullis_allocate(REPLACEMENT_BYTES * text.length), *out = said;
    for (size_t at = 0; at < text.length;) {
        bool valid;
        size_t size = step(bytes + at, text.length - at, &valid);
        size_t put = valid ? size : REPLACEMENT_BYTES;
        memcpy(out, valid ? (const void *)(bytes + at) : REPLACEMENT, put);
        out += put;
        at += size;
    }
    return (plugin_string_t){said, (size_t)(out - said)};
}

void portcullis_unsay(plugin_string_t said, portcullis_view text) {
    // An empty text has no copy.
    if (text.length > 0 && said.ptr != (const uint8_t *)text.data) free(said.ptr);
}
