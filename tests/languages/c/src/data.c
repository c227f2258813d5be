#include <stdckdint.h>
#include <stdlib.h>
#include <string.h>

#include "tools.h"

// What the tool `picture` shows.
static const unsigned char PIXEL[] = {
#embed "pixel.png"
};

const char *text_of(yyjson_val *arguments, const char *name) {
    return yyjson_get_str(yyjson_obj_get(arguments, name));
}

int64_t number_of(yyjson_val *arguments, const char *name) {
    return yyjson_get_sint(yyjson_obj_get(arguments, name));
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

static size_t characters(const char *text, size_t length) {
    size_t count = 0;
    for (size_t i = 0; i < length; i++) count += begins(text[i]);
    return count;
}

portcullis_answer reverse(yyjson_val *arguments) {
    yyjson_val *text = yyjson_obj_get(arguments, "text");
    const char *from = yyjson_get_str(text);
    size_t length = yyjson_get_len(text), end = length;
    char *reversed = malloc(length + 1), *to = reversed;
    while (end > 0) {
        size_t start = end - 1;
        while (start > 0 && !begins(from[start])) start--;
        memcpy(to, from + start, end - start);
        to += end - start;
        end = start;
    }
    portcullis_answer answer = portcullis_text_of(reversed, length);
    answer.title = "Reversed";
    answer.metadata = portcullis_format("{\"characters\":%zu}", characters(from, length));
    return answer;
}

portcullis_answer repeat(yyjson_val *arguments) {
    yyjson_val *text = yyjson_obj_get(arguments, "text");
    size_t length = yyjson_get_len(text), times = (size_t)number_of(arguments, "times"), total;
    char *repeated = ckd_mul(&total, length, times) ? NULL : malloc(total + 1);
    if (!repeated) return portcullis_fail(PORTCULLIS_FAILED, "there is no memory for %zu times %zu bytes", times, length);
    for (size_t i = 0; i < times; i++) memcpy(repeated + i * length, yyjson_get_str(text), length);
    return portcullis_text_of(repeated, total);
}

portcullis_answer measure(yyjson_val *arguments) {
    yyjson_val *text = yyjson_obj_get(arguments, "text");
    size_t length = yyjson_get_len(text);
    yyjson_mut_doc *answer = portcullis_new_object();
    yyjson_mut_val *root = yyjson_mut_doc_get_root(answer);
    yyjson_mut_obj_add_uint(answer, root, "bytes", length);
    yyjson_mut_obj_add_uint(answer, root, "characters", characters(yyjson_get_str(text), length));
    return portcullis_json(answer);
}

portcullis_answer add(yyjson_val *arguments) {
    int64_t sum;
    if (ckd_add(&sum, number_of(arguments, "a"), number_of(arguments, "b"))) {
        return portcullis_fail(PORTCULLIS_INVALID_ARGUMENTS, "the sum is beyond 64 bits: take smaller numbers");
    }
    const char *kind = text_of(arguments, "kind");
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
