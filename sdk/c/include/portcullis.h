// The SDK for plugins in C. A plugin defines `portcullis_this_plugin`; each of its tools is a function over JSON.
//
// JSON is yyjson's: yyjson_val is a value that was read, yyjson_mut_val one that is made. See yyjson/yyjson.h.
#ifndef PORTCULLIS_H
#define PORTCULLIS_H

#include "portcullis/host.h"
#include "yyjson.h"

#ifdef __cplusplus
extern "C" {
#endif

// The root of a document as an answer.
portcullis_answer portcullis_json(const yyjson_mut_doc *document);

// The answer where JSON could not be written: a failure that says why.
portcullis_answer portcullis_unwritten(yyjson_write_err error);

// The text of a value as C has it. NULL: the value is no text, or holds a NUL, where C would cut it.
const char *portcullis_string(yyjson_val *value);

// The whole number that a value is, written as 3, 3.0 or 3e0. False: it is none, or beyond 64 bits.
bool portcullis_integer(yyjson_val *value, int64_t *number);

// A new document whose root is an empty object.
yyjson_mut_doc *portcullis_new_object(void);

#ifdef __cplusplus
}
#endif

#endif
