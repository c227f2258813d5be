#include <stdckdint.h>
#include <stdlib.h>
#include <string.h>

#include "tools.h"

// What the tool `picture` shows.
static const unsigned char PIXEL[] = {
#embed "pixel.png"
};

portcullis_view text_of(yyjson_val *arguments, const char *name) {
    yyjson_val *text = yyjson_obj_get(arguments, name);
    return (portcullis_view){yyjson_get_str(text), yyjson_get_len(text)};
}

int64_t number_of(yyjson_val *arguments, const char *name) {
    int64_t number = 0;
    portcullis_integer(yyjson_obj_get(arguments, name), &number);
    return number;
}

const char *key_of(yyjson_val *arguments) {
    const char *key = portcullis_string(yyjson_obj_get(arguments, "key"));
    return key ? key : "";
}

portcullis_view *texts_of(yyjson_val *arguments, const char *name, size_t *count) {
    yyjson_val *list = yyjson_obj_get(arguments, name);
    *count = yyjson_arr_size(list);
    portcullis_view *texts = calloc(*count + 1, sizeof *texts);
    for (size_t i = 0; i < *count; i++) {
        yyjson_val *text = yyjson_arr_get(list, i);
        texts[i] = (portcullis_view){yyjson_get_str(text), yyjson_get_len(text)};
    }
    return texts;
}

portcullis_answer echo(yyjson_val *arguments) {
    yyjson_mut_doc *answer = portcullis_new_object();
    yyjson_mut_val *value = yyjson_val_mut_copy(answer, yyjson_obj_get(arguments, "value"));
    yyjson_mut_obj_add_val(answer, yyjson_mut_doc_get_root(answer), "value", value);
    return portcullis_json(answer);
}

// Whether a byte begins a character of UTF-8.
static bool begins(char byte) {
    return ((unsigned char)byte & 0xC0) != 0x80;
}

static size_t characters(portcullis_view text) {
    size_t count = 0;
    for (size_t i = 0; i < text.length; i++) count += begins(text.data[i]);
    return count;
}

portcullis_answer reverse(yyjson_val *arguments) {
    portcullis_view text = text_of(arguments, "text");
    size_t end = text.length;
    char *reversed = malloc(text.length + 1), *to = reversed;
    while (end > 0) {
        size_t start = end - 1;
        while (start > 0 && !begins(text.data[start])) start--;
        memcpy(to, text.data + start, end - start);
        to += end - start;
        end = start;
    }
    portcullis_answer answer = portcullis_text_of(reversed, text.length);
    answer.title = "Reversed";
    answer.metadata = portcullis_format("{\"characters\":%zu}", characters(text));
    return answer;
}

portcullis_answer repeat(yyjson_val *arguments) {
    portcullis_view text = text_of(arguments, "text");
    size_t length = text.length, times = (size_t)number_of(arguments, "times"), total;
    char *repeated = ckd_mul(&total, length, times) ? NULL : malloc(total + 1);
    if (!repeated) return portcullis_fail(PORTCULLIS_FAILED, "there is no memory for %zu times %zu bytes", times, length);
    for (size_t i = 0; i < times; i++) memcpy(repeated + i * length, text.data, length);
    return portcullis_text_of(repeated, total);
}

portcullis_answer measure(yyjson_val *arguments) {
    portcullis_view text = text_of(arguments, "text");
    yyjson_mut_doc *answer = portcullis_new_object();
    yyjson_mut_val *root = yyjson_mut_doc_get_root(answer);
    yyjson_mut_obj_add_uint(answer, root, "bytes", text.length);
    yyjson_mut_obj_add_uint(answer, root, "characters", characters(text));
    return portcullis_json(answer);
}

portcullis_answer add(yyjson_val *arguments) {
    int64_t a, b, sum;
    if (!portcullis_integer(yyjson_obj_get(arguments, "a"), &a) ||
        !portcullis_integer(yyjson_obj_get(arguments, "b"), &b) || ckd_add(&sum, a, b)) {
        return portcullis_fail(PORTCULLIS_INVALID_ARGUMENTS, "this is beyond 64 bits: take smaller numbers");
    }
    const char *kind = portcullis_string(yyjson_obj_get(arguments, "kind"));
    yyjson_val *note = yyjson_obj_get(arguments, "note");
    yyjson_mut_doc *answer = portcullis_new_object();
    yyjson_mut_val *root = yyjson_mut_doc_get_root(answer);
    yyjson_mut_obj_add_sint(answer, root, "sum", sum);
    yyjson_mut_obj_add_str(answer, root, "kind", kind ? kind : "exact");
    if (note) yyjson_mut_obj_add_val(answer, root, "note", yyjson_val_mut_copy(answer, note));
    return portcullis_json(answer);
}

portcullis_answer picture(yyjson_val *) {
    static const char TEXT[] = "a pixel";
    static const unsigned char FILE_BYTES[] = {0, 1, 2, 255};
    static const portcullis_part PARTS[] = {
        {PORTCULLIS_PART_TEXT, NULL, TEXT, sizeof TEXT - 1},
        {PORTCULLIS_PART_IMAGE, "image/png", PIXEL, sizeof PIXEL},
        {PORTCULLIS_PART_FILE, "application/octet-stream", FILE_BYTES, sizeof FILE_BYTES},
    };
    portcullis_answer answer = portcullis_parts(PARTS, PORTCULLIS_COUNT(PARTS));
    answer.title = "Picture";
    return answer;
}

portcullis_answer write_out(yyjson_val *arguments) {
    int64_t pieces = number_of(arguments, "pieces");
    for (int64_t i = 1; i <= pieces; i++) {
        char *piece = portcullis_format("piece %lld\n", (long long)i);
        portcullis_failure failure;
        if (!portcullis_write(piece, strlen(piece), &failure)) return portcullis_fail_with(failure);
        free(piece);
    }
    return portcullis_text("end");
}

portcullis_answer keep_text(yyjson_val *arguments) {
    const char *name = portcullis_string(yyjson_obj_get(arguments, "name"));
    if (!name) return portcullis_fail(PORTCULLIS_INVALID_ARGUMENTS, "a name has no NUL in it");
    portcullis_view text = text_of(arguments, "text");
    portcullis_failure failure;
    if (!portcullis_keep_file(name, "text/plain", text.data, text.length, &failure)) return portcullis_fail_with(failure);
    return portcullis_text("kept");
}
