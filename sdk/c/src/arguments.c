#include <stdlib.h>

#include "portcullis.h"
#include "run.h"

portcullis_answer portcullis_run(const portcullis_tool *tool, portcullis_bytes arguments) {
    yyjson_doc *document = yyjson_read(arguments.data, arguments.length, YYJSON_READ_NOFLAG);
    yyjson_val *root = yyjson_doc_get_root(document);
    if (!yyjson_is_obj(root)) return portcullis_fail(PORTCULLIS_INVALID_ARGUMENTS, "the arguments are no JSON object");
    return tool->run(root);
}

portcullis_answer portcullis_json(const yyjson_mut_doc *document) {
    size_t length;
    const char *text = yyjson_mut_write(document, YYJSON_WRITE_NOFLAG, &length);
    if (!text) return portcullis_fail(PORTCULLIS_FAILED, "the answer cannot be written as JSON");
    return portcullis_json_of(text, length);
}

yyjson_mut_doc *portcullis_new_object(void) {
    yyjson_mut_doc *document = yyjson_mut_doc_new(NULL);
    if (!document) abort();
    yyjson_mut_doc_set_root(document, yyjson_mut_obj(document));
    return document;
}
