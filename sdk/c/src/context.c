// The running call: its caller, progress, questions, log and answer.
#include "run.h"
#include "text.h"
#include "utf8.h"

portcullis_call portcullis_current_call(void) {
    portcullis_tool_context_call_t call;
    portcullis_tool_context_current(&call);
    return (portcullis_call){
        .id = portcullis_take(call.id.ptr, call.id.len),
        .session = portcullis_take(call.session.ptr, call.session.len),
        .message = portcullis_take_optional(call.message),
        .agent = portcullis_take_optional(call.agent),
    };
}

void portcullis_progress(const char *title, float fraction, const char *metadata) {
    portcullis_progress_of(portcullis_view_of(title), fraction, portcullis_view_of(metadata));
}

void portcullis_progress_of(portcullis_view title, float fraction, portcullis_view metadata) {
    portcullis_tool_context_progress_t update = {
        .title = portcullis_say_optional(title),
        .fraction = {fraction >= 0, fraction},
        .metadata = portcullis_say_optional(metadata),
    };
    portcullis_tool_context_report(&update);
}

bool portcullis_is_cancelled(void) {
    return portcullis_tool_context_is_cancelled();
}

bool portcullis_ask(const char *permission, const char *resource, const char *reason, portcullis_failure *failure) {
    return portcullis_ask_of(portcullis_view_of(permission), portcullis_view_of(resource), portcullis_view_of(reason),
                             failure);
}

bool portcullis_ask_of(portcullis_view permission, portcullis_view resource, portcullis_view reason,
                       portcullis_failure *failure) {
    plugin_string_t right = portcullis_say(permission), at, why = portcullis_say(reason), no;
    if (!portcullis_mean(resource, "the resource", &at, failure)) return false;
    if (portcullis_tool_context_ask(&right, &at, &why, &no)) return true;
    *failure = portcullis_words(PORTCULLIS_DENIED, no);
    return false;
}

bool portcullis_keep_file(const char *name, const char *media_type, const void *data, size_t length,
                          portcullis_failure *failure) {
    portcullis_tool_context_blob_t file = {.name.is_some = name != NULL, .data = portcullis_lend_bytes(data, length)};
    if (!portcullis_mean(portcullis_view_of(name), "the name of the file", &file.name.val, failure) ||
        !portcullis_mean(portcullis_view_of(media_type), "the media type", &file.media_type, failure)) {
        return false;
    }
    plugin_string_t no;
    if (portcullis_tool_context_keep(&file, &no)) return true;
    *failure = portcullis_words(PORTCULLIS_FAILED, no);
    return false;
}

portcullis_bytes portcullis_setting(const char *key) {
    return portcullis_setting_of(portcullis_view_of(key));
}

portcullis_bytes portcullis_setting_of(portcullis_view key) {
    // A key with replaced bytes matches no key of a policy.
    plugin_string_t name = portcullis_say(key);
    plugin_option_string_t value;
    wasi_config_store_error_t error;
    if (!wasi_config_store_get(&name, &value, &error)) return (portcullis_bytes){0};
    return portcullis_take_optional(value);
}

// The stream of the call's answer, once it has been opened.
static struct {
    bool is_open;
    wasi_io_streams_own_output_stream_t stream;
} answer;

// Waits until the stream accepts bytes. Returns false if it is closed.
static bool wait_for_room(wasi_io_streams_borrow_output_stream_t stream, uint64_t *room) {
    wasi_io_streams_stream_error_t error;
    while (wasi_io_streams_method_output_stream_check_write(stream, room, &error)) {
        if (*room > 0) return true;
        wasi_io_poll_own_pollable_t ready = wasi_io_streams_method_output_stream_subscribe(stream);
        wasi_io_poll_method_pollable_block(wasi_io_poll_borrow_pollable(ready));
        wasi_io_poll_pollable_drop_own(ready);
    }
    return false;
}

void portcullis_end_answer(void) {
    if (answer.is_open) wasi_io_streams_output_stream_drop_own(answer.stream);
    answer.is_open = false;
}

bool portcullis_write(const void *data, size_t length, portcullis_failure *failure) {
    if (!answer.is_open) {
        answer.is_open = portcullis_tool_output_open_text(&answer.stream);
        if (!answer.is_open) return portcullis_refuse(failure, PORTCULLIS_FAILED, "there is no answer to write");
    }
    wasi_io_streams_borrow_output_stream_t stream = wasi_io_streams_borrow_output_stream(answer.stream);
    const uint8_t *rest = data;
    while (length > 0) {
        uint64_t room;
        wasi_io_streams_stream_error_t error;
        bool written = wait_for_room(stream, &room);
        size_t size = written && room < length ? (size_t)room : length;
        plugin_list_u8_t piece = portcullis_lend_bytes(rest, size);
        if (!written || !wasi_io_streams_method_output_stream_write(stream, &piece, &error)) {
            return portcullis_refuse(failure, PORTCULLIS_FAILED, "the host accepts no more of the answer");
        }
        rest += size;
        length -= size;
    }
    return true;
}
