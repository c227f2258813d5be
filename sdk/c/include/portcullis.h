// The SDK for plugins in C. A plugin defines `portcullis_this_plugin`; each of its tools is a function on JSON.
//
// It uses yyjson: yyjson_val is a parsed value, yyjson_mut_val a new one. See yyjson/yyjson.h.
#ifndef PORTCULLIS_H
#define PORTCULLIS_H

#include "portcullis/host.h"
#include "portcullis/program.h"
#include "portcullis/toolset.h"
#include "yyjson.h"

#ifdef __cplusplus
extern "C" {
#endif

// Returns the root of a document as an answer.
portcullis_answer portcullis_json(const yyjson_mut_doc *document);

// Returns the failure for JSON that could not be written.
portcullis_answer portcullis_unwritten(yyjson_write_err error);

// Returns the text of a value as a C string; NULL if the value is not text, or contains a NUL.
const char *portcullis_string(yyjson_val *value);

// Reads a whole number, written as 3, 3.0 or 3e0. Returns false for any other value, or beyond 64 bits.
bool portcullis_integer(yyjson_val *value, int64_t *number);

// Creates a document whose root is an empty object.
yyjson_mut_doc *portcullis_new_object(void);

#ifdef __cplusplus
}
#endif

#endif
