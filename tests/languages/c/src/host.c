#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wasi/api.h>

#include "tools.h"

extern char **environ;

// A sleep that every clock notices: 5 ms.
static const struct timespec NAP = {.tv_nsec = 5 * 1000 * 1000};
enum { RANDOM_BYTES = 16 };

portcullis_answer progress(yyjson_val *arguments) {
    int64_t steps = number_of(arguments, "steps");
    for (int64_t i = 1; i <= steps; i++) {
        char *title = portcullis_format("step %lld", (long long)i);
        char *metadata = portcullis_format("{\"step\":%lld}", (long long)i);
        portcullis_progress(title, (float)i / (float)steps, metadata);
    }
    return portcullis_text("done");
}

// Sets a member to a text, or to null where there is none.
static void add_text(yyjson_mut_doc *document, const char *name, portcullis_bytes text) {
    yyjson_mut_val *value = text.data ? yyjson_mut_strn(document, text.data, text.length) : yyjson_mut_null(document);
    yyjson_mut_obj_add_val(document, yyjson_mut_doc_get_root(document), name, value);
}

portcullis_answer context(yyjson_val *) {
    portcullis_call call = portcullis_current_call();
    yyjson_mut_doc *answer = portcullis_new_object();
    add_text(answer, "id", call.id);
    add_text(answer, "session", call.session);
    add_text(answer, "message", call.message);
    add_text(answer, "agent", call.agent);
    return portcullis_json(answer);
}

portcullis_answer ask(yyjson_val *arguments) {
    portcullis_failure failure;
    if (!portcullis_ask_of(text_of(arguments, "permission"), text_of(arguments, "resource"),
                           text_of(arguments, "reason"), &failure)) {
        return portcullis_fail_with(failure);
    }
    return portcullis_text("yes");
}

portcullis_answer fetch(yyjson_val *arguments) {
    const portcullis_header headers[] = {{"x-test", "conformance"}};
    yyjson_val *method = yyjson_obj_get(arguments, "method");
    portcullis_view body = text_of(arguments, "body");
    const portcullis_request request = {
        .method = method ? portcullis_string(method) : "GET",
        .url = portcullis_string(yyjson_obj_get(arguments, "url")),
        .headers = headers,
        .header_count = PORTCULLIS_COUNT(headers),
        .body = body.data,
        .body_length = body.length,
    };
    if (!request.method || !request.url) {
        return portcullis_fail(PORTCULLIS_UNAVAILABLE, "cannot fetch what has a NUL in its URL or its method");
    }
    portcullis_response response;
    portcullis_failure failure;
    if (!portcullis_fetch("web", &request, &response, &failure)) {
        return portcullis_fail(PORTCULLIS_UNAVAILABLE, "cannot fetch %s: %s", request.url, failure.message);
    }
    const char *type = portcullis_header_of(&response, "content-type");
    yyjson_mut_doc *answer = portcullis_new_object();
    yyjson_mut_val *root = yyjson_mut_doc_get_root(answer);
    yyjson_mut_obj_add_uint(answer, root, "status", response.status);
    yyjson_mut_obj_add_val(answer, root, "type", type ? yyjson_mut_str(answer, type) : yyjson_mut_null(answer));
    yyjson_mut_obj_add_strn(answer, root, "body", response.body.data, response.body.length);
    return portcullis_json(answer);
}

portcullis_answer remember(yyjson_val *arguments) {
    portcullis_store notes;
    portcullis_failure failure;
    size_t length;
    char *value = yyjson_val_write(yyjson_obj_get(arguments, "value"), YYJSON_WRITE_NOFLAG, &length);
    if (!portcullis_open_store("notes", &notes, &failure) ||
        !portcullis_store_set_of(notes, text_of(arguments, "key"), value, length, &failure)) {
        return portcullis_fail_with(failure);
    }
    return portcullis_text("remembered");
}

portcullis_answer recall(yyjson_val *arguments) {
    portcullis_store notes;
    portcullis_failure failure;
    portcullis_bytes value;
    if (!portcullis_open_store("notes", &notes, &failure) ||
        !portcullis_store_get_of(notes, text_of(arguments, "key"), &value, &failure)) {
        return portcullis_fail_with(failure);
    }
    yyjson_doc *kept = yyjson_read(value.data, value.length, YYJSON_READ_NOFLAG);
    yyjson_mut_doc *answer = portcullis_new_object();
    yyjson_mut_val *copy = kept ? yyjson_val_mut_copy(answer, yyjson_doc_get_root(kept)) : yyjson_mut_null(answer);
    yyjson_mut_obj_add_val(answer, yyjson_mut_doc_get_root(answer), "value", copy);
    return portcullis_json(answer);
}

portcullis_answer setting(yyjson_val *arguments) {
    yyjson_mut_doc *answer = portcullis_new_object();
    add_text(answer, "value", portcullis_setting_of(text_of(arguments, "key")));
    return portcullis_json(answer);
}

portcullis_answer print(yyjson_val *arguments) {
    portcullis_view text = text_of(arguments, "text");
    fwrite(text.data, 1, text.length, stdout);
    fputs(" on stdout\n", stdout);
    fwrite(text.data, 1, text.length, stderr);
    fputs(" on stderr\n", stderr);
    portcullis_log_of(PORTCULLIS_WARN, text);
    return portcullis_text("printed");
}

static int64_t nanoseconds(struct timespec time) {
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static char *random_digits(void) {
    unsigned char bytes[RANDOM_BYTES];
    if (getentropy(bytes, sizeof bytes) != 0) return "";
    char *digits = malloc(2 * sizeof bytes + 1);
    for (size_t i = 0; i < sizeof bytes; i++) snprintf(digits + 2 * i, 3, "%02x", bytes[i]);
    return digits;
}

// How many there are after the name. A plugin has no main() that would be told.
static size_t argument_count(void) {
    __wasi_size_t count, bytes;
    return __wasi_args_sizes_get(&count, &bytes) == 0 && count > 0 ? count - 1 : 0;
}

portcullis_answer surroundings(yyjson_val *) {
    struct timespec now, before, after;
    clock_gettime(CLOCK_REALTIME, &now);
    clock_gettime(CLOCK_MONOTONIC, &before);
    nanosleep(&NAP, NULL);
    clock_gettime(CLOCK_MONOTONIC, &after);
    srand((unsigned)now.tv_nsec);
    yyjson_mut_doc *answer = portcullis_new_object();
    yyjson_mut_val *root = yyjson_mut_doc_get_root(answer);
    yyjson_mut_obj_add_sint(answer, root, "now", now.tv_sec * 1000 + now.tv_nsec / 1000000);
    yyjson_mut_obj_add_bool(answer, root, "monotonic", nanoseconds(after) - nanoseconds(before) >= nanoseconds(NAP));
    yyjson_mut_obj_add_str(answer, root, "random", random_digits());
    yyjson_mut_obj_add_real(answer, root, "insecure", rand() / ((double)RAND_MAX + 1));
    yyjson_mut_val *environment = yyjson_mut_obj_add_arr(answer, root, "environment");
    for (char **variable = environ; *variable; variable++) {
        yyjson_mut_arr_add_strn(answer, environment, *variable, strcspn(*variable, "="));
    }
    yyjson_mut_obj_add_uint(answer, root, "arguments", argument_count());
    return portcullis_json(answer);
}
