// The bindings as a host would answer them, for a native build of the SDK. Everything that they return is allocated, as
// the bindings allocate it, so that a sanitizer finds what the SDK does not free and what it frees twice.
#include "bindings.h"

#include <stdlib.h>
#include <string.h>

#include "plugin.h"
#include "portcullis/host.h"

script next;
// Handles that are open.
static int open_handles;

int handles_left(void) {
    return open_handles;
}

static int32_t opened(void) {
    return ++open_handles;
}

static plugin_string_t given(const char *text) {
    size_t length = strlen(text);
    // The bindings allocate nothing for an empty text.
    if (length == 0) return (plugin_string_t){NULL, 0};
    return (plugin_string_t){memcpy(malloc(length), text, length), length};
}

static plugin_option_string_t optional(const char *text) {
    return text ? (plugin_option_string_t){true, given(text)} : (plugin_option_string_t){false};
}

// Reads lent text, so that a sanitizer sees text that is not there.
static void read_lent(plugin_string_t text) {
    volatile unsigned sum = 0;
    for (size_t i = 0; i < text.len; i++) sum += text.ptr[i];
}

// ---- Tools ----

bool portcullis_tool_tools_open_tools(plugin_string_t *key, portcullis_tool_tools_own_toolset_t *toolset,
                                      portcullis_tool_tools_unavailable_t *why) {
    read_lent(*key);
    *why = next.why;
    if (next.is_refused) return false;
    toolset->__handle = opened();
    return true;
}

portcullis_tool_tools_borrow_toolset_t portcullis_tool_tools_borrow_toolset(portcullis_tool_tools_own_toolset_t toolset) {
    return (portcullis_tool_tools_borrow_toolset_t){toolset.__handle};
}

void portcullis_tool_tools_toolset_drop_own(portcullis_tool_tools_own_toolset_t) {
    open_handles--;
}

static portcullis_tool_tools_list_summary_t summaries(void) {
    portcullis_tool_tools_list_summary_t list = {NULL, next.count};
    if (next.count > 0) list.ptr = malloc(next.count * sizeof *list.ptr);
    for (size_t i = 0; i < next.count; i++) {
        list.ptr[i].name = given("files.read");
        list.ptr[i].title = optional(i % 2 ? "Read" : NULL);
        list.ptr[i].description = given(i % 2 ? "Reads a file." : "");
    }
    return list;
}

void portcullis_tool_tools_method_toolset_list(portcullis_tool_tools_borrow_toolset_t,
                                               portcullis_tool_tools_list_summary_t *list) {
    *list = summaries();
}

void portcullis_tool_tools_method_toolset_search(portcullis_tool_tools_borrow_toolset_t, plugin_string_t *query, uint32_t,
                                                 portcullis_tool_tools_list_summary_t *list) {
    read_lent(*query);
    *list = summaries();
}

bool portcullis_tool_tools_method_toolset_definition(portcullis_tool_tools_borrow_toolset_t, plugin_string_t *tool,
                                                     portcullis_tool_tools_callable_t *found) {
    read_lent(*tool);
    if (next.is_refused) return false;
    *found = (portcullis_tool_tools_callable_t){
        .name = given("files.read"),
        .title = optional(NULL),
        .description = given("Reads a file."),
        .schema = given("{}"),
        .output_schema = optional(next.count > 0 ? "{}" : NULL),
        .permissions = 3,
        .hints = 5,
    };
    return true;
}

static portcullis_tool_types_blob_t blob(const char *name) {
    plugin_string_t data = given("a,b");
    return (portcullis_tool_types_blob_t){optional(name), given("text/csv"), {data.ptr, data.len}};
}

static portcullis_tool_tools_success_t success(void) {
    portcullis_tool_tools_success_t success = {optional("Read"), {.tag = next.output}, optional(NULL)};
    if (next.output != PORTCULLIS_TOOL_TYPES_OUTPUT_PARTS) {
        success.output.val.text = given(next.count > 0 ? "{\"text\":1}" : "");
        return success;
    }
    portcullis_tool_types_list_part_t list = {NULL, next.count};
    if (next.count > 0) list.ptr = malloc(next.count * sizeof *list.ptr);
    for (size_t i = 0; i < next.count; i++) {
        list.ptr[i].tag = i % 3;
        if (i % 3 == 0) list.ptr[i].val.text = given(i ? "more" : "");
        else list.ptr[i].val.file = blob(i % 2 ? "a.csv" : NULL);
    }
    success.output.val.parts = list;
    return success;
}

static portcullis_tool_tools_failure_t failure(void) {
    portcullis_tool_tools_failure_t failure = {.tag = next.failure};
    if (next.failure == PORTCULLIS_TOOL_TYPES_FAILURE_UNAVAILABLE) {
        failure.val.unavailable.message = given("later");
        failure.val.unavailable.retry_after_seconds = (plugin_option_u32_t){true, 90};
    } else if (next.failure != PORTCULLIS_TOOL_TYPES_FAILURE_CANCELLED) {
        failure.val.failed = given("no");
    }
    return failure;
}

bool portcullis_tool_tools_method_toolset_call(portcullis_tool_tools_borrow_toolset_t,
                                               portcullis_tool_tools_tool_call_t *call,
                                               portcullis_tool_tools_success_t *ok, portcullis_tool_tools_failure_t *err) {
    read_lent(call->tool);
    read_lent(call->arguments);
    if (next.is_refused) *err = failure();
    else *ok = success();
    return !next.is_refused;
}

void portcullis_tool_tools_method_toolset_call_all(portcullis_tool_tools_borrow_toolset_t,
                                                   portcullis_tool_tools_list_tool_call_t *calls,
                                                   portcullis_tool_tools_list_result_success_failure_t *results) {
    *results = (portcullis_tool_tools_list_result_success_failure_t){NULL, calls->len};
    if (calls->len > 0) results->ptr = malloc(calls->len * sizeof *results->ptr);
    for (size_t i = 0; i < calls->len; i++) {
        read_lent(calls->ptr[i].tool);
        read_lent(calls->ptr[i].arguments);
        results->ptr[i].is_err = i % 2;
        if (i % 2) results->ptr[i].val.err = failure();
        else results->ptr[i].val.ok = success();
    }
}

void portcullis_tool_tools_method_toolset_foresee(portcullis_tool_tools_borrow_toolset_t,
                                                  portcullis_tool_tools_list_tool_call_t *calls,
                                                  portcullis_tool_tools_list_outlook_t *outlooks) {
    *outlooks = (portcullis_tool_tools_list_outlook_t){NULL, calls->len};
    if (calls->len > 0) outlooks->ptr = malloc(calls->len * sizeof *outlooks->ptr);
    for (size_t i = 0; i < calls->len; i++) {
        outlooks->ptr[i].tag = (uint8_t)i;
        if (i == PORTCULLIS_TOOL_TOOLS_OUTLOOK_FAILS) outlooks->ptr[i].val.fails = failure();
    }
}

void portcullis_tool_tools_method_toolset_approve(portcullis_tool_tools_borrow_toolset_t,
                                                  portcullis_tool_tools_list_tool_call_t *calls, plugin_list_bool_t *said) {
    *said = (plugin_list_bool_t){NULL, calls->len};
    if (calls->len > 0) said->ptr = malloc(calls->len * sizeof *said->ptr);
    for (size_t i = 0; i < calls->len; i++) said->ptr[i] = i % 2;
}

// ---- Programs ----

bool portcullis_tool_programs_open_program(plugin_string_t *key, portcullis_tool_programs_own_program_t *program,
                                           portcullis_tool_programs_unavailable_t *why) {
    read_lent(*key);
    *why = next.why;
    if (next.is_refused) return false;
    program->__handle = opened();
    return true;
}

portcullis_tool_programs_borrow_program_t portcullis_tool_programs_borrow_program(
    portcullis_tool_programs_own_program_t program) {
    return (portcullis_tool_programs_borrow_program_t){program.__handle};
}

void portcullis_tool_programs_program_drop_own(portcullis_tool_programs_own_program_t) {
    open_handles--;
}

bool portcullis_tool_programs_method_program_start(portcullis_tool_programs_borrow_program_t,
                                                   portcullis_tool_programs_launch_t *launch,
                                                   portcullis_tool_programs_own_running_t *running, plugin_string_t *err) {
    for (size_t i = 0; i < launch->arguments.len; i++) read_lent(launch->arguments.ptr[i]);
    for (size_t i = 0; i < launch->environment.len; i++) {
        read_lent(launch->environment.ptr[i].f0);
        read_lent(launch->environment.ptr[i].f1);
    }
    if (launch->directory.is_some) read_lent(launch->directory.val);
    if (next.is_refused) *err = given("it cannot start");
    else running->__handle = opened();
    return !next.is_refused;
}

bool portcullis_tool_programs_method_program_start_with(portcullis_tool_programs_borrow_program_t program,
                                                        portcullis_tool_programs_launch_t *launch,
                                                        portcullis_tool_programs_missing_t *missing,
                                                        portcullis_tool_programs_own_running_t *running,
                                                        plugin_string_t *err) {
    read_lent(missing->val.destination);
    return portcullis_tool_programs_method_program_start(program, launch, running, err);
}

portcullis_tool_programs_borrow_running_t portcullis_tool_programs_borrow_running(
    portcullis_tool_programs_own_running_t running) {
    return (portcullis_tool_programs_borrow_running_t){running.__handle};
}

void portcullis_tool_programs_running_drop_own(portcullis_tool_programs_own_running_t) {
    open_handles--;
}

bool portcullis_tool_programs_method_running_stdin(portcullis_tool_programs_borrow_running_t,
                                                   portcullis_tool_programs_own_output_stream_t *stream) {
    stream->__handle = opened();
    return true;
}

bool portcullis_tool_programs_method_running_stdout(portcullis_tool_programs_borrow_running_t,
                                                    portcullis_tool_programs_own_input_stream_t *stream) {
    stream->__handle = opened();
    return true;
}

bool portcullis_tool_programs_method_running_stderr(portcullis_tool_programs_borrow_running_t,
                                                    portcullis_tool_programs_own_input_stream_t *stream) {
    // There is none if it goes to the stream of stdout.
    if (next.count % 2) return false;
    stream->__handle = opened();
    return true;
}

portcullis_tool_programs_own_pollable_t portcullis_tool_programs_method_running_subscribe(
    portcullis_tool_programs_borrow_running_t) {
    return (portcullis_tool_programs_own_pollable_t){opened()};
}

bool portcullis_tool_programs_method_running_exit(portcullis_tool_programs_borrow_running_t,
                                                  portcullis_tool_programs_exit_report_t *report) {
    if (next.waits > 0) {
        next.waits--;
        return false;
    }
    *report = (portcullis_tool_programs_exit_report_t){.exit.tag = next.exit, .milliseconds = 5};
    if (next.exit == PORTCULLIS_TOOL_PROGRAMS_EXIT_STOPPED) report->exit.val.stopped = given("the limit of time");
    else report->exit.val.code = 0;
    report->refused.len = next.count;
    if (next.count > 0) report->refused.ptr = malloc(next.count * sizeof *report->refused.ptr);
    for (size_t i = 0; i < next.count; i++) report->refused.ptr[i] = given("GET http://a.example/");
    return true;
}

void portcullis_tool_programs_method_running_kill(portcullis_tool_programs_borrow_running_t) {
    next.is_killed = true;
}

// ---- Streams ----

static bool broken(wasi_io_streams_stream_error_t *error) {
    error->tag = next.breaks ? WASI_IO_STREAMS_STREAM_ERROR_LAST_OPERATION_FAILED : WASI_IO_STREAMS_STREAM_ERROR_CLOSED;
    if (next.breaks) error->val.last_operation_failed.__handle = opened();
    return false;
}

bool wasi_io_streams_method_output_stream_check_write(wasi_io_streams_borrow_output_stream_t, uint64_t *room,
                                                      wasi_io_streams_stream_error_t *error) {
    if (next.is_stdin_closed) return broken(error);
    // Every other time there is no room.
    next.is_full = !next.is_full;
    *room = next.is_full ? 0 : 3;
    return true;
}

bool wasi_io_streams_method_output_stream_write(wasi_io_streams_borrow_output_stream_t, plugin_list_u8_t *bytes,
                                                wasi_io_streams_stream_error_t *error) {
    read_lent((plugin_string_t){bytes->ptr, bytes->len});
    next.is_full = false;
    next.written += bytes->len;
    return next.written <= next.input_max || broken(error);
}

bool wasi_io_streams_method_output_stream_flush(wasi_io_streams_borrow_output_stream_t,
                                                wasi_io_streams_stream_error_t *) {
    return true;
}

bool wasi_io_streams_method_input_stream_read(wasi_io_streams_borrow_input_stream_t, uint64_t, plugin_list_u8_t *bytes,
                                              wasi_io_streams_stream_error_t *error) {
    if (next.chunks == 0) return broken(error);
    next.chunks--;
    // Every other time nothing has arrived.
    plugin_string_t text = given(next.chunks % 2 ? "some output" : "");
    *bytes = (plugin_list_u8_t){text.ptr, text.len};
    return true;
}

wasi_io_streams_own_pollable_t wasi_io_streams_method_output_stream_subscribe(wasi_io_streams_borrow_output_stream_t) {
    return (wasi_io_streams_own_pollable_t){opened()};
}

wasi_io_streams_own_pollable_t wasi_io_streams_method_input_stream_subscribe(wasi_io_streams_borrow_input_stream_t) {
    return (wasi_io_streams_own_pollable_t){opened()};
}

wasi_clocks_monotonic_clock_own_pollable_t wasi_clocks_monotonic_clock_subscribe_duration(
    wasi_clocks_monotonic_clock_duration_t) {
    return (wasi_clocks_monotonic_clock_own_pollable_t){opened()};
}

wasi_io_streams_borrow_output_stream_t wasi_io_streams_borrow_output_stream(wasi_io_streams_own_output_stream_t stream) {
    return (wasi_io_streams_borrow_output_stream_t){stream.__handle};
}

wasi_io_streams_borrow_input_stream_t wasi_io_streams_borrow_input_stream(wasi_io_streams_own_input_stream_t stream) {
    return (wasi_io_streams_borrow_input_stream_t){stream.__handle};
}

wasi_io_poll_borrow_pollable_t wasi_io_poll_borrow_pollable(wasi_io_poll_own_pollable_t pollable) {
    return (wasi_io_poll_borrow_pollable_t){pollable.__handle};
}

void wasi_io_poll_poll(wasi_io_poll_list_borrow_pollable_t *list, plugin_list_u32_t *ready) {
    *ready = (plugin_list_u32_t){malloc(sizeof *ready->ptr), 1};
    ready->ptr[0] = (uint32_t)list->len - 1;
}

void plugin_list_u32_free(plugin_list_u32_t *list) {
    if (list->len > 0) free(list->ptr);
}

void wasi_io_streams_output_stream_drop_own(wasi_io_streams_own_output_stream_t) {
    open_handles--;
}

void wasi_io_streams_input_stream_drop_own(wasi_io_streams_own_input_stream_t) {
    open_handles--;
}

void wasi_io_poll_pollable_drop_own(wasi_io_poll_own_pollable_t) {
    open_handles--;
}

void wasi_io_error_error_drop_own(wasi_io_error_own_error_t) {
    open_handles--;
}

// ---- The call ----

bool portcullis_is_cancelled(void) {
    return next.is_cancelled;
}

void wasi_logging_logging_log(wasi_logging_logging_level_t, plugin_string_t *context, plugin_string_t *message) {
    read_lent(*context);
    read_lent(*message);
}
