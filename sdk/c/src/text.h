// Between the text of this library, which ends with NUL, and that of the bindings, which has a length.
#ifndef PORTCULLIS_TEXT_H
#define PORTCULLIS_TEXT_H

#include "plugin.h"
#include "portcullis/host.h"

// malloc that aborts the call where memory ends.
void *portcullis_allocate(size_t bytes);

// Text that the host reads during one function: not copied.
plugin_string_t portcullis_lend(const char *text);
plugin_list_u8_t portcullis_lend_bytes(const void *data, size_t length);

// Text that the host frees after the call: a copy.
plugin_string_t portcullis_give(const char *text, size_t length);
plugin_option_string_t portcullis_give_optional(const char *text);

// What the host gave, with a NUL after it. Takes the memory over.
portcullis_bytes portcullis_take(uint8_t *data, size_t length);

// Fills a failure in. Returns false, so that a function can return it.
bool portcullis_refuse(portcullis_failure *failure, portcullis_failure_kind kind, const char *format, ...)
    PORTCULLIS_PRINTF(3, 4);

// The same for a key that gives no handle of a kind, such as "store".
bool portcullis_no_handle(portcullis_failure *failure, const char *kind, const char *key,
                          portcullis_tool_dependencies_unavailable_t why);

#endif
