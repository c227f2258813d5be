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

// A new document whose root is an empty object.
yyjson_mut_doc *portcullis_new_object(void);

#ifdef __cplusplus
}
#endif

#endif
