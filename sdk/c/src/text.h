// Converts between the NUL-terminated text of this library and the text of the bindings, which has a length.
#ifndef PORTCULLIS_TEXT_H
#define PORTCULLIS_TEXT_H

#include "plugin.h"
#include "portcullis/host.h"

// Adds text to allocated text, and a NUL behind it.
void portcullis_append(portcullis_bytes *text, portcullis_view more);

// Returns a view of text. A length of 0 means that the text is NUL-terminated.
portcullis_view portcullis_view_to(const char *text, size_t length);

// Returns the failure of an answer that is not UTF-8.
portcullis_answer portcullis_not_utf8(void);

// The host reads lent text during one function, and frees given text after the call. Invalid UTF-8 ends the instance,
// so use `portcullis_say` or `portcullis_mean` for text that may not be UTF-8.
plugin_list_u8_t portcullis_lend_bytes(const void *data, size_t length);
plugin_string_t portcullis_give(portcullis_view text);

// Does the same as `portcullis_say` for text that may be absent.
plugin_option_string_t portcullis_say_optional(portcullis_view text);

// Lends text whose exact bytes matter. If it is not UTF-8, returns false with a failure about `what`.
bool portcullis_mean(portcullis_view text, const char *what, plugin_string_t *lent, portcullis_failure *failure);

// Returns text from the host as NUL-terminated text. Takes ownership of the memory.
portcullis_bytes portcullis_take(uint8_t *data, size_t length);
// The same for text that may be absent.
portcullis_bytes portcullis_take_optional(plugin_option_string_t option);

// Fills in a failure with the host's text. Takes ownership of the memory.
portcullis_failure portcullis_words(portcullis_failure_kind kind, plugin_string_t words);

// Fills a failure in. Returns false, so that a function can return it.
bool portcullis_refuse(portcullis_failure *failure, portcullis_failure_kind kind, const char *format, ...)
    PORTCULLIS_PRINTF(3, 4);

// The same for a key without a handle of a kind, such as "store".
bool portcullis_no_handle(portcullis_failure *failure, const char *kind, const char *key,
                          portcullis_tool_dependencies_unavailable_t why);

#endif
