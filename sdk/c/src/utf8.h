// Checks text for UTF-8, as the Unicode standard defines it, and replaces invalid bytes.
#ifndef PORTCULLIS_UTF8_H
#define PORTCULLIS_UTF8_H

#include "plugin.h"
#include "portcullis/host.h"

bool portcullis_is_utf8(portcullis_view text);

// Lends informational text to the host. Invalid UTF-8 is replaced in a copy.
plugin_string_t portcullis_say(portcullis_view text);
// Frees the copy, if there is one.
void portcullis_unsay(plugin_string_t said, portcullis_view text);

#endif
