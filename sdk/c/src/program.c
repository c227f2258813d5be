// Programs of the system, which the policy binds.
#include <stdlib.h>
#include <string.h>

#include "allocation.h"
#include "portcullis/program.h"
#include "text.h"
#include "utf8.h"

bool portcullis_open_program(const char *key, portcullis_program *program, portcullis_failure *failure) {
    portcullis_view name = portcullis_view_of(key);
    plugin_string_t said = portcullis_say(name);
    portcullis_tool_programs_own_program_t handle;
    portcullis_tool_programs_unavailable_t why;
    bool opened = portcullis_tool_programs_open_program(&said, &handle, &why);
    portcullis_unsay(said, name);
    if (!opened) return portcullis_no_handle(failure, "program", key, why);
    *program = (portcullis_program){handle.__handle};
    return true;
}

void portcullis_close_program(portcullis_program program) {
    portcullis_tool_programs_program_drop_own((portcullis_tool_programs_own_program_t){program.handle});
}

// ---- Starting ----

// Lends the texts of a launch to the host. The lists are allocated in any case, for the caller to free.
static bool mean_launch(const portcullis_launch *launch, portcullis_tool_programs_launch_t *meant,
                        portcullis_failure *failure) {
    size_t arguments = launch->argument_count, variables = launch->variable_count;
    *meant = (portcullis_tool_programs_launch_t){
        .arguments = {portcullis_allocate_list(arguments, sizeof *meant->arguments.ptr), arguments},
        .environment = {portcullis_allocate_list(variables, sizeof *meant->environment.ptr), variables},
        .directory.is_some = launch->directory.data != NULL,
        .merge = launch->merge,
    };
    bool is_meant = true;
    for (size_t i = 0; is_meant && i < arguments; i++) {
        plugin_string_t *argument = &meant->arguments.ptr[i];
        is_meant = portcullis_mean(launch->arguments[i], "an argument of the program", argument, failure);
    }
    for (size_t i = 0; is_meant && i < variables; i++) {
        portcullis_variable variable = launch->environment[i];
        is_meant = portcullis_mean(variable.name, "the name of a variable", &meant->environment.ptr[i].f0, failure) &&
                   portcullis_mean(variable.value, "a variable", &meant->environment.ptr[i].f1, failure);
    }
    return is_meant && portcullis_mean(launch->directory, "the directory", &meant->directory.val, failure);
}

// Lends what the program lacks to the host.
static bool mean_need(portcullis_need need, portcullis_tool_programs_missing_t *missing, portcullis_failure *failure) {
    // The contract has no case for a program that lacks nothing.
    missing->tag = (uint8_t)(need.kind - PORTCULLIS_NEEDS_DESTINATION);
    // All cases have the same layout.
    return portcullis_mean(need.what, "what the program needs", &missing->val.destination, failure);
}

static bool start(portcullis_program program, const portcullis_launch *launch,
                  portcullis_tool_programs_own_running_t *running, portcullis_failure *failure) {
    portcullis_tool_programs_borrow_program_t self =
        portcullis_tool_programs_borrow_program((portcullis_tool_programs_own_program_t){program.handle});
    bool needs = launch->needs.kind != PORTCULLIS_NEEDS_NOTHING;
    portcullis_tool_programs_launch_t meant;
    portcullis_tool_programs_missing_t missing;
    bool started = mean_launch(launch, &meant, failure) && (!needs || mean_need(launch->needs, &missing, failure));
    if (started) {
        plugin_string_t words;
        started = needs ? portcullis_tool_programs_method_program_start_with(self, &meant, &missing, running, &words)
                        : portcullis_tool_programs_method_program_start(self, &meant, running, &words);
        if (!started) *failure = portcullis_words(PORTCULLIS_FAILED, words);
    }
    free(meant.arguments.ptr);
    free(meant.environment.ptr);
    return started;
}

// ---- Running ----

// Number of bytes of the output to read at once.
enum { READ_BYTES = 64 * 1024 };
// The interval at which a function that waits checks whether the caller has cancelled the call: 200 ms. The host stops
// a cancelled call later than that.
static const uint64_t CANCELLATION_NS = 200 * UINT64_C(1000000);
enum { STREAMS = 2 };

// Stdin, and what is still to be written to it.
typedef struct input {
    bool is_open;
    bool ends;          // stdin ends after the bytes
    bool is_unflushed;  // the host has accepted bytes, and may not have passed them on
    wasi_io_streams_own_output_stream_t stream;
    portcullis_bytes bytes;
    size_t written;
} input;

typedef struct output {
    bool is_open;
    wasi_io_streams_own_input_stream_t stream;
} output;

struct portcullis_running {
    portcullis_tool_programs_own_running_t handle;
    input input;
    output outputs[STREAMS];
};

static portcullis_tool_programs_borrow_running_t borrow(const portcullis_running *running) {
    return portcullis_tool_programs_borrow_running(running->handle);
}

// Ends stdin, and frees what was not written.
static void close_input(input *input) {
    if (input->is_open) wasi_io_streams_output_stream_drop_own(input->stream);
    input->is_open = false;
    free(input->bytes.data);
    input->bytes = (portcullis_bytes){0};
    input->written = 0;
}

static void close_output(output *output) {
    if (output->is_open) wasi_io_streams_input_stream_drop_own(output->stream);
    output->is_open = false;
}

// Frees the error of a stream. Returns whether the stream has only ended.
static bool is_end(wasi_io_streams_stream_error_t error) {
    if (error.tag == WASI_IO_STREAMS_STREAM_ERROR_CLOSED) return true;
    wasi_io_error_error_drop_own(error.val.last_operation_failed);
    return false;
}

bool portcullis_start_program(portcullis_program program, const portcullis_launch *launch, portcullis_running **running,
                              portcullis_failure *failure) {
    portcullis_tool_programs_own_running_t handle;
    if (!start(program, launch, &handle, failure)) return false;
    portcullis_running *started = portcullis_allocate(sizeof *started);
    *started = (portcullis_running){.handle = handle, .input.ends = !launch->interactive};
    started->input.is_open = portcullis_tool_programs_method_running_stdin(borrow(started), &started->input.stream);
    portcullis_append(&started->input.bytes, launch->input);
    output *outputs = started->outputs;
    outputs[PORTCULLIS_STDOUT].is_open =
        portcullis_tool_programs_method_running_stdout(borrow(started), &outputs[PORTCULLIS_STDOUT].stream);
    outputs[PORTCULLIS_STDERR].is_open =
        portcullis_tool_programs_method_running_stderr(borrow(started), &outputs[PORTCULLIS_STDERR].stream);
    *running = started;
    return true;
}

void portcullis_close_running(portcullis_running *running) {
    if (!running) return;
    // The host requires children to be dropped before their parents.
    close_input(&running->input);
    for (size_t i = 0; i < STREAMS; i++) close_output(&running->outputs[i]);
    portcullis_tool_programs_running_drop_own(running->handle);
    free(running);
}

void portcullis_kill_program(portcullis_running *running) {
    portcullis_tool_programs_method_running_kill(borrow(running));
}

// Returns whether there are bytes to write, or stdin is to be ended.
static bool is_due(const input *input) {
    return input->is_open && (input->written < input->bytes.length || input->ends);
}

// Takes one step with the input. Returns false if the program does not accept more now.
static bool step(input *input) {
    wasi_io_streams_borrow_output_stream_t stream = wasi_io_streams_borrow_output_stream(input->stream);
    wasi_io_streams_stream_error_t error;
    uint64_t room;
    bool is_open = wasi_io_streams_method_output_stream_check_write(stream, &room, &error);
    if (is_open && room == 0) return false;
    size_t rest = input->bytes.length - input->written;
    if (is_open && rest > 0) {
        size_t size = room < rest ? (size_t)room : rest;
        plugin_list_u8_t piece = portcullis_lend_bytes(input->bytes.data + input->written, size);
        is_open = wasi_io_streams_method_output_stream_write(stream, &piece, &error);
        input->written += size;
        input->is_unflushed = true;
    } else if (is_open && input->is_unflushed) {
        // Ending stdin could lose bytes that the host has accepted. While it flushes them, it accepts none.
        is_open = wasi_io_streams_method_output_stream_flush(stream, &error);
        input->is_unflushed = false;
    } else if (is_open) {
        close_input(input);
        return true;
    }
    if (!is_open) {
        // A program that closes its stdin does not want the rest.
        is_end(error);
        close_input(input);
    }
    return true;
}

// Writes as much of the input as the program accepts now.
static void feed(input *input) {
    while (is_due(input) && step(input)) continue;
}

// Waits until the program accepts input, or, if the tool reads, has written something or has ended. Waits no longer
// than the interval of the check for a cancellation.
static void wait_for(const portcullis_running *running, bool reads) {
    enum { POLLABLES_MAX = STREAMS + 3 };
    wasi_io_poll_own_pollable_t pollables[POLLABLES_MAX];
    size_t count = 0;
    pollables[count++] = wasi_clocks_monotonic_clock_subscribe_duration(CANCELLATION_NS);
    if (is_due(&running->input)) {
        wasi_io_streams_borrow_output_stream_t stream = wasi_io_streams_borrow_output_stream(running->input.stream);
        pollables[count++] = wasi_io_streams_method_output_stream_subscribe(stream);
    }
    bool has_output = false;
    for (size_t i = 0; reads && i < STREAMS; i++) {
        const output *output = &running->outputs[i];
        if (!output->is_open) continue;
        has_output = true;
        wasi_io_streams_borrow_input_stream_t stream = wasi_io_streams_borrow_input_stream(output->stream);
        pollables[count++] = wasi_io_streams_method_input_stream_subscribe(stream);
    }
    // The end of the program stays ready, so it counts only if there is nothing left to read.
    if (reads && !has_output) pollables[count++] = portcullis_tool_programs_method_running_subscribe(borrow(running));
    wasi_io_poll_borrow_pollable_t borrowed[POLLABLES_MAX];
    for (size_t i = 0; i < count; i++) borrowed[i] = wasi_io_poll_borrow_pollable(pollables[i]);
    wasi_io_poll_list_borrow_pollable_t list = {borrowed, count};
    plugin_list_u32_t ready;
    wasi_io_poll_poll(&list, &ready);
    plugin_list_u32_free(&ready);
    for (size_t i = 0; i < count; i++) wasi_io_poll_pollable_drop_own(pollables[i]);
}

// Ends the program if the caller has cancelled the call.
static bool goes_on(portcullis_running *running, portcullis_failure *failure) {
    if (!portcullis_is_cancelled()) return true;
    portcullis_kill_program(running);
    return portcullis_refuse(failure, PORTCULLIS_CANCELLED, "the call was cancelled");
}

// Reads what has arrived. There are no data if nothing has, or at the end.
static bool read_output(output *output, portcullis_bytes *bytes, portcullis_failure *failure) {
    *bytes = (portcullis_bytes){0};
    if (!output->is_open) return true;
    plugin_list_u8_t list;
    wasi_io_streams_stream_error_t error;
    if (wasi_io_streams_method_input_stream_read(wasi_io_streams_borrow_input_stream(output->stream), READ_BYTES, &list,
                                                 &error)) {
        if (list.len > 0) *bytes = portcullis_take(list.ptr, list.len);
        return true;
    }
    close_output(output);
    return is_end(error) || portcullis_refuse(failure, PORTCULLIS_FAILED, "the output of the program broke off");
}

// Returns whether everything is read and the program has ended.
static bool is_over(portcullis_running *running) {
    if (running->outputs[PORTCULLIS_STDOUT].is_open || running->outputs[PORTCULLIS_STDERR].is_open) return false;
    portcullis_exit_report report;
    bool ended = portcullis_has_ended(running, &report);
    if (ended) portcullis_free_exit_report(&report);
    return ended;
}

bool portcullis_next_chunk(portcullis_running *running, portcullis_chunk *chunk, portcullis_failure *failure) {
    for (;;) {
        if (!goes_on(running, failure)) return false;
        feed(&running->input);
        for (size_t i = 0; i < STREAMS; i++) {
            chunk->stream = (portcullis_stream)i;
            if (!read_output(&running->outputs[i], &chunk->bytes, failure)) return false;
            if (chunk->bytes.data) return true;
        }
        if (is_over(running)) return true;
        wait_for(running, true);
    }
}

// Writes until the input is no longer due.
static bool drain(portcullis_running *running, portcullis_failure *failure) {
    for (;;) {
        if (!goes_on(running, failure)) return false;
        feed(&running->input);
        if (!is_due(&running->input)) return true;
        wait_for(running, false);
    }
}

bool portcullis_write_input(portcullis_running *running, const void *data, size_t length, portcullis_failure *failure) {
    static const char CLOSED[] = "the program has closed its stdin";
    input *input = &running->input;
    if (input->ends) {
        return portcullis_refuse(failure, PORTCULLIS_FAILED,
                                 "stdin ends with the input of a launch that is not interactive");
    }
    if (!input->is_open) return portcullis_refuse(failure, PORTCULLIS_FAILED, CLOSED);
    if (input->written == input->bytes.length) input->bytes.length = input->written = 0;
    portcullis_append(&input->bytes, (portcullis_view){data, length});
    if (!drain(running, failure)) return false;
    return input->is_open || portcullis_refuse(failure, PORTCULLIS_FAILED, CLOSED);
}

bool portcullis_end_input(portcullis_running *running, portcullis_failure *failure) {
    running->input.ends = true;
    return drain(running, failure);
}

bool portcullis_wait_program(portcullis_running *running, portcullis_exit_report *report, portcullis_failure *failure) {
    running->input.ends = true;
    for (;;) {
        portcullis_chunk chunk;
        if (!portcullis_next_chunk(running, &chunk, failure)) return false;
        if (!chunk.bytes.data) break;
        free(chunk.bytes.data);
    }
    return portcullis_has_ended(running, report) ||
           portcullis_refuse(failure, PORTCULLIS_FAILED, "the program runs on");
}

// ---- The end ----

bool portcullis_has_ended(portcullis_running *running, portcullis_exit_report *report) {
    portcullis_tool_programs_exit_report_t from;
    if (!portcullis_tool_programs_method_running_exit(borrow(running), &from)) return false;
    *report = (portcullis_exit_report){
        .kind = (portcullis_exit_kind)from.exit.tag,
        .milliseconds = from.milliseconds,
        .left_processes = from.left_processes,
        .refused = portcullis_allocate_list(from.refused.len, sizeof *report->refused),
        .refused_count = from.refused.len,
    };
    if (report->kind == PORTCULLIS_STOPPED) {
        report->text = portcullis_take(from.exit.val.stopped.ptr, from.exit.val.stopped.len);
    } else {
        // Codes and signals have the same layout.
        report->number = from.exit.val.code;
    }
    for (size_t i = 0; i < from.refused.len; i++) {
        report->refused[i] = portcullis_take(from.refused.ptr[i].ptr, from.refused.ptr[i].len);
    }
    if (from.refused.len > 0) free(from.refused.ptr);
    return true;
}

bool portcullis_is_success(const portcullis_exit_report *report) {
    return report->kind == PORTCULLIS_EXITED && report->number == 0;
}

char *portcullis_exit_text(const portcullis_exit_report *report) {
    switch (report->kind) {
        case PORTCULLIS_EXITED:
            return portcullis_format("exit code %d", report->number);
        case PORTCULLIS_SIGNALED:
            return portcullis_format("signal %d", report->number);
        default:
            return portcullis_format("%s", report->text.data);
    }
}

void portcullis_free_exit_report(portcullis_exit_report *report) {
    free(report->text.data);
    for (size_t i = 0; i < report->refused_count; i++) free(report->refused[i].data);
    free(report->refused);
    *report = (portcullis_exit_report){0};
}

// Adds a chunk to what is kept of its stream. Returns whether all of it was kept.
static bool keep(portcullis_bytes *kept, portcullis_bytes chunk, size_t bytes_max) {
    size_t room = bytes_max - kept->length;
    size_t size = chunk.length < room ? chunk.length : room;
    portcullis_append(kept, (portcullis_view){chunk.data, size});
    return size == chunk.length;
}

static bool read_to_the_end(portcullis_running *running, size_t bytes_max, portcullis_program_output *output,
                            portcullis_failure *failure) {
    for (;;) {
        portcullis_chunk chunk;
        if (!portcullis_next_chunk(running, &chunk, failure)) return false;
        if (!chunk.bytes.data) break;
        portcullis_bytes *kept = chunk.stream == PORTCULLIS_STDERR ? &output->errors : &output->out;
        output->is_cut = !keep(kept, chunk.bytes, bytes_max) || output->is_cut;
        free(chunk.bytes.data);
    }
    return portcullis_wait_program(running, &output->report, failure);
}

bool portcullis_run_program(portcullis_program program, const portcullis_launch *launch, size_t bytes_max,
                            portcullis_program_output *output, portcullis_failure *failure) {
    // Nothing writes to an interactive program here, so it could wait without end.
    portcullis_launch whole = *launch;
    whole.interactive = false;
    portcullis_running *running;
    if (!portcullis_start_program(program, &whole, &running, failure)) return false;
    *output = (portcullis_program_output){.out = portcullis_take(NULL, 0), .errors = portcullis_take(NULL, 0)};
    bool ended = read_to_the_end(running, bytes_max, output, failure);
    portcullis_close_running(running);
    if (!ended) portcullis_free_program_output(output);
    return ended;
}

void portcullis_free_program_output(portcullis_program_output *output) {
    free(output->out.data);
    free(output->errors.data);
    portcullis_free_exit_report(&output->report);
    *output = (portcullis_program_output){0};
}
