// Programs of the system, which the policy binds.
#include <stdlib.h>
#include <string.h>

#include "tools.h"

// How much is kept of each stream.
enum { KEPT_BYTES = 100000 };
// How much of what was written before is searched too.
enum { TAIL_BYTES = 100 };

static portcullis_need need_of(yyjson_val *arguments) {
    static const struct { const char *name; portcullis_need_kind kind; } NEEDS[] = {
        {"needs_host", PORTCULLIS_NEEDS_DESTINATION},
        {"needs_read", PORTCULLIS_NEEDS_READABLE_DIRECTORY},
        {"needs_write", PORTCULLIS_NEEDS_WRITABLE_DIRECTORY},
    };
    for (size_t i = 0; i < PORTCULLIS_COUNT(NEEDS); i++) {
        portcullis_view what = text_of(arguments, NEEDS[i].name);
        if (what.data) return (portcullis_need){NEEDS[i].kind, what};
    }
    return (portcullis_need){PORTCULLIS_NEEDS_NOTHING};
}

// Adds bytes of a program as text.
static void add_bytes(yyjson_mut_doc *answer, const char *name, portcullis_bytes bytes) {
    portcullis_bytes text = portcullis_to_utf8((portcullis_view){bytes.data, bytes.length});
    yyjson_mut_obj_add_strncpy(answer, yyjson_mut_doc_get_root(answer), name, text.data, text.length);
    free(text.data);
}

static void add_exit(yyjson_mut_doc *answer, portcullis_exit_report *report) {
    char *text = portcullis_exit_text(report);
    yyjson_mut_obj_add_strcpy(answer, yyjson_mut_doc_get_root(answer), "exit", text);
    free(text);
    portcullis_free_exit_report(report);
}

portcullis_answer run_program(yyjson_val *arguments) {
    static const portcullis_variable CALLER = {PORTCULLIS_VIEW("CALLER"), PORTCULLIS_VIEW("conformance")};
    portcullis_launch launch = {
        .environment = &CALLER,
        .variable_count = 1,
        .directory = text_of(arguments, "directory"),
        .input = text_of(arguments, "input"),
        .merge = yyjson_get_bool(yyjson_obj_get(arguments, "merge")),
        .needs = need_of(arguments),
    };
    launch.arguments = texts_of(arguments, "arguments", &launch.argument_count);
    portcullis_program program;
    portcullis_failure failure;
    portcullis_program_output output;
    if (!portcullis_open_program(key_of(arguments), &program, &failure)) return portcullis_fail_with(failure);
    bool ran = portcullis_run_program(program, &launch, KEPT_BYTES, &output, &failure);
    portcullis_close_program(program);
    if (!ran) return portcullis_fail_with(failure);
    yyjson_mut_doc *answer = portcullis_new_object();
    add_exit(answer, &output.report);
    add_bytes(answer, "stdout", output.out);
    add_bytes(answer, "stderr", output.errors);
    yyjson_mut_obj_add_bool(answer, yyjson_mut_doc_get_root(answer), "cut", output.is_cut);
    portcullis_free_program_output(&output);
    return portcullis_json(answer);
}

static bool start(yyjson_val *arguments, portcullis_launch launch, portcullis_running **running,
                  portcullis_failure *failure) {
    launch.arguments = texts_of(arguments, "arguments", &launch.argument_count);
    portcullis_program program;
    if (!portcullis_open_program(key_of(arguments), &program, failure)) return false;
    bool started = portcullis_start_program(program, &launch, running, failure);
    portcullis_close_program(program);
    return started;
}

// The end of what a program wrote.
typedef struct tail {
    char *data;
    size_t length;
} tail;

// Adds bytes. Returns whether a text is in the last of them.
static bool is_written(tail *tail, portcullis_bytes bytes, portcullis_view text) {
    size_t kept = tail->length < TAIL_BYTES ? tail->length : TAIL_BYTES;
    char *data = malloc(kept + bytes.length + 1);
    if (kept > 0) memcpy(data, tail->data + tail->length - kept, kept);
    memcpy(data + kept, bytes.data, bytes.length);
    free(tail->data);
    tail->data = data;
    tail->length = kept + bytes.length;
    for (size_t at = 0; text.length > 0 && at + text.length <= tail->length; at++) {
        if (memcmp(tail->data + at, text.data, text.length) == 0) return true;
    }
    return false;
}

static bool pass_on(portcullis_running *running, portcullis_view until, portcullis_failure *failure) {
    tail tail = {0};
    for (;;) {
        portcullis_chunk chunk;
        bool goes_on = portcullis_next_chunk(running, &chunk, failure);
        if (!goes_on || !chunk.bytes.data) {
            free(tail.data);
            return goes_on;
        }
        if (is_written(&tail, chunk.bytes, until)) portcullis_kill_program(running);
        bool written = portcullis_write(chunk.bytes.data, chunk.bytes.length, failure);
        free(chunk.bytes.data);
        if (!written) return false;
    }
}

portcullis_answer stream(yyjson_val *arguments) {
    const portcullis_launch launch = {.input = text_of(arguments, "input"), .merge = true};
    portcullis_running *running;
    portcullis_failure failure;
    portcullis_exit_report report;
    if (!start(arguments, launch, &running, &failure)) return portcullis_fail_with(failure);
    bool ended = pass_on(running, text_of(arguments, "until"), &failure) &&
                 portcullis_wait_program(running, &report, &failure);
    portcullis_close_running(running);
    if (!ended) return portcullis_fail_with(failure);
    return portcullis_textf("[%s]", portcullis_exit_text(&report));
}

// What a program wrote, and the tool has not read.
typedef struct reader {
    portcullis_running *running;
    char *data;
    size_t length;
    bool is_ended;
} reader;

// Reads more, and notes the end.
static bool read_more(reader *reader, portcullis_failure *failure) {
    portcullis_chunk chunk;
    if (!portcullis_next_chunk(reader->running, &chunk, failure)) return false;
    reader->is_ended = !chunk.bytes.data;
    if (reader->is_ended) return true;
    reader->data = realloc(reader->data, reader->length + chunk.bytes.length);
    memcpy(reader->data + reader->length, chunk.bytes.data, chunk.bytes.length);
    reader->length += chunk.bytes.length;
    free(chunk.bytes.data);
    return true;
}

// Moves bytes from the reader to a text.
static yyjson_mut_val *take(yyjson_mut_doc *answer, reader *reader, size_t length) {
    yyjson_mut_val *text = yyjson_mut_strncpy(answer, reader->data ? reader->data : "", length);
    reader->length -= length;
    if (reader->length > 0) memmove(reader->data, reader->data + length, reader->length);
    return text;
}

static bool read_line(yyjson_mut_doc *answer, reader *reader, yyjson_mut_val **line, portcullis_failure *failure) {
    for (;;) {
        const char *end = reader->length > 0 ? memchr(reader->data, '\n', reader->length) : NULL;
        if (end || reader->is_ended) {
            *line = take(answer, reader, end ? (size_t)(end - reader->data) + 1 : reader->length);
            return true;
        }
        if (!read_more(reader, failure)) return false;
    }
}

static bool exchange(yyjson_val *arguments, yyjson_mut_doc *answer, reader *reader, portcullis_failure *failure) {
    yyjson_mut_val *root = yyjson_mut_doc_get_root(answer), *replies = yyjson_mut_obj_add_arr(answer, root, "replies");
    size_t count;
    portcullis_view *lines = texts_of(arguments, "lines", &count);
    for (size_t i = 0; i < count; i++) {
        yyjson_mut_val *reply;
        if (!portcullis_write_input(reader->running, lines[i].data, lines[i].length, failure) ||
            !portcullis_write_input(reader->running, "\n", 1, failure) ||
            !read_line(answer, reader, &reply, failure)) {
            return false;
        }
        yyjson_mut_arr_append(replies, reply);
    }
    if (!portcullis_end_input(reader->running, failure)) return false;
    while (!reader->is_ended) {
        if (!read_more(reader, failure)) return false;
    }
    yyjson_mut_obj_add_val(answer, root, "rest", take(answer, reader, reader->length));
    portcullis_exit_report report;
    if (!portcullis_wait_program(reader->running, &report, failure)) return false;
    add_exit(answer, &report);
    return true;
}

portcullis_answer converse(yyjson_val *arguments) {
    const portcullis_launch launch = {.interactive = true, .merge = true};
    reader reader = {0};
    portcullis_failure failure;
    if (!start(arguments, launch, &reader.running, &failure)) return portcullis_fail_with(failure);
    yyjson_mut_doc *answer = portcullis_new_object();
    bool done = exchange(arguments, answer, &reader, &failure);
    portcullis_close_running(reader.running);
    return done ? portcullis_json(answer) : portcullis_fail_with(failure);
}
