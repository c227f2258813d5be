#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "portcullis.h"
#include "run.h"
#include "text.h"

portcullis_answer portcullis_run(const portcullis_tool *tool, portcullis_bytes arguments) {
    yyjson_doc *document = yyjson_read(arguments.data, arguments.length, YYJSON_READ_NOFLAG);
    yyjson_val *root = yyjson_doc_get_root(document);
    if (!yyjson_is_obj(root)) return portcullis_fail(PORTCULLIS_INVALID_ARGUMENTS, "the arguments are not a JSON object");
    return tool->run(root);
}

portcullis_answer portcullis_json(const yyjson_mut_doc *document) {
    size_t length;
    yyjson_write_err error;
    const char *text = yyjson_mut_write_opts(document, YYJSON_WRITE_NOFLAG, NULL, &length, &error);
    return text ? portcullis_json_of(text, length) : portcullis_unwritten(error);
}

portcullis_answer portcullis_unwritten(yyjson_write_err error) {
    if (error.code == YYJSON_WRITE_ERROR_INVALID_STRING) return portcullis_not_utf8();
    return portcullis_fail(PORTCULLIS_FAILED, "the answer is no JSON: %s", error.msg);
}

const char *portcullis_string(yyjson_val *value) {
    const char *text = yyjson_get_str(value);
    return text && strlen(text) == yyjson_get_len(value) ? text : NULL;
}

bool portcullis_integer(yyjson_val *value, int64_t *number) {
    // The first number beyond 64 bits; a double represents it exactly.
    static const double END = 0x1p63;
    if (yyjson_is_real(value)) {
        double real = yyjson_get_real(value);
        if (!(real >= -END && real < END) || real != (double)(int64_t)real) return false;
        *number = (int64_t)real;
        return true;
    }
    if (!yyjson_is_int(value) || (yyjson_is_uint(value) && yyjson_get_uint(value) > INT64_MAX)) return false;
    *number = yyjson_get_sint(value);
    return true;
}

yyjson_mut_doc *portcullis_new_object(void) {
    yyjson_mut_doc *document = yyjson_mut_doc_new(NULL);
    if (!document) abort();
    yyjson_mut_doc_set_root(document, yyjson_mut_obj(document));
    return document;
}
