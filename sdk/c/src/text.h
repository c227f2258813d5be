// Between the text of this library, which ends with NUL, and that of the bindings, which has a length.
#ifndef PORTCULLIS_TEXT_H
#define PORTCULLIS_TEXT_H

#include "plugin.h"
#include "portcullis/host.h"

// malloc that aborts the call where memory ends.
void *portcullis_allocate(size_t bytes);

// Text with a length beside it that is 0 where the text ends with NUL.
portcullis_view portcullis_view_to(const char *text, size_t length);

bool portcullis_is_utf8(portcullis_view text);
// The failure where an answer is not.
portcullis_answer portcullis_not_utf8(void);

// The host reads what is lent during one function, and frees what is given after the call. Text that is no UTF-8 ends
// the instance, so what is not known to be UTF-8 goes through `say` or `mean`.
plugin_list_u8_t portcullis_lend_bytes(const void *data, size_t length);
plugin_string_t portcullis_give(portcullis_view text);

// Lends text that is only said: what is no UTF-8 is replaced, in a copy.
plugin_string_t portcullis_say(portcullis_view text);
plugin_option_string_t portcullis_say_optional(portcullis_view text);

// Lends text that means something as it is. False: it is no UTF-8, and the failure says so of `what`.
bool portcullis_mean(portcullis_view text, const char *what, plugin_string_t *lent, portcullis_failure *failure);

// What the host gave, with a NUL after it. Takes the memory over.
portcullis_bytes portcullis_take(uint8_t *data, size_t length);

// A failure in the words of the host. Takes the memory over.
portcullis_failure portcullis_words(portcullis_failure_kind kind, plugin_string_t words);

// Fills a failure in. Returns false, so that a function can return it.
bool portcullis_refuse(portcullis_failure *failure, portcullis_failure_kind kind, const char *format, ...)
    PORTCULLIS_PRINTF(3, 4);

// The same for a key that gives no handle of a kind, such as "store".
bool portcullis_no_handle(portcullis_failure *failure, const char *kind, const char *key,
                          portcullis_tool_dependencies_unavailable_t why);

#endif
