// Walks the paths of the SDK that return memory and handles of the host, and frees what the headers say. A sanitizer
// ends it with an error for what is left, used after it is freed, or freed twice.
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bindings.h"
#include "portcullis/program.h"
#include "portcullis/toolset.h"

// A text with a byte that is no UTF-8.
#define LATIN "caf\xE9"

static void forget(portcullis_failure *failure) {
    assert(failure->message);
    free((char *)failure->message);
    *failure = (portcullis_failure){0};
}

// ---- Tools ----

static void refuses_a_toolset(void) {
    static const portcullis_failure_kind KINDS[] = {PORTCULLIS_FAILED, PORTCULLIS_DENIED, PORTCULLIS_FAILED,
                                                    PORTCULLIS_UNAVAILABLE};
    for (uint8_t why = 0; why < PORTCULLIS_COUNT(KINDS); why++) {
        next = (script){.is_refused = true, .why = why};
        portcullis_toolset toolset;
        portcullis_program program;
        portcullis_failure failure;
        assert(!portcullis_open_tools(why % 2 ? LATIN : "others", &toolset, &failure) && failure.kind == KINDS[why]);
        forget(&failure);
        assert(!portcullis_open_program(why % 2 ? LATIN : "sh", &program, &failure) && failure.kind == KINDS[why]);
        forget(&failure);
    }
}

static void lists_tools(portcullis_toolset toolset) {
    for (size_t count = 0; count < 3; count++) {
        next = (script){.count = count, .is_refused = count == 2};
        size_t found;
        portcullis_tool_summary *tools = portcullis_list_tools(toolset, &found);
        assert(found == count);
        portcullis_free_summaries(tools, found);
        portcullis_free_summaries(portcullis_search_tools(toolset, LATIN, 5, &found), found);
        portcullis_free_summaries(portcullis_search_tools(toolset, "", 5, &found), found);
        portcullis_callable definition;
        bool is_found = portcullis_define_tool(toolset, count ? "files.read" : LATIN, &definition);
        assert(is_found == (count < 2));
        if (is_found) {
            assert(definition.permissions == 3 && (definition.output_schema.data != NULL) == (count > 0));
            portcullis_free_callable(&definition);
            portcullis_free_callable(&definition);
        }
    }
}

static void calls_a_tool(portcullis_toolset toolset) {
    portcullis_answer answer;
    portcullis_failure failure;
    for (uint8_t output = 0; output < 3; output++) {
        for (size_t count = 0; count < 8; count++) {
            next = (script){.output = output, .count = count};
            assert(portcullis_call_tool(toolset, "files.read", NULL, &answer, &failure));
            portcullis_bytes text = portcullis_answer_text(&answer);
            assert(output < 2 || count < 4 || strcmp(text.data, count < 7 ? "\nmore" : "\nmore\nmore") == 0);
            free(text.data);
            portcullis_free_answer(&answer);
            portcullis_free_answer(&answer);
        }
    }
    for (uint8_t kind = 0; kind < 5; kind++) {
        next = (script){.is_refused = true, .failure = kind};
        assert(!portcullis_call_tool(toolset, "files.read", "{}", &answer, &failure));
        assert(failure.kind == (portcullis_failure_kind)kind);
        assert(failure.retry_after_seconds == (kind == PORTCULLIS_UNAVAILABLE ? 90 : 0));
        forget(&failure);
    }
    next = (script){0};
    assert(!portcullis_call_tool(toolset, LATIN, "{}", &answer, &failure));
    forget(&failure);
    assert(!portcullis_call_tool(toolset, "files.read", LATIN, &answer, &failure));
    forget(&failure);
}

// The last of them has arguments that are no UTF-8.
static const portcullis_tool_call CALLS[] = {
    {PORTCULLIS_VIEW("files.read"), {NULL, 0}},
    {PORTCULLIS_VIEW("files.read"), PORTCULLIS_VIEW("{}")},
    {PORTCULLIS_VIEW("files.read"), PORTCULLIS_VIEW("{}")},
    {PORTCULLIS_VIEW("files.read"), PORTCULLIS_VIEW(LATIN)},
};

static void calls_several_tools(portcullis_toolset toolset) {
    portcullis_answer *answers;
    portcullis_failure failure;
    for (size_t count = 0; count < 4; count++) {
        for (uint8_t kind = 0; kind < 5; kind++) {
            next = (script){.output = kind % 3, .failure = kind, .count = kind};
            assert(portcullis_call_tools(toolset, CALLS, count, &answers, &failure));
            for (size_t i = 0; i < count; i++) {
                assert((answers[i].kind == PORTCULLIS_ANSWER_FAILURE) == (i % 2));
                free(portcullis_answer_text(&answers[i]).data);
            }
            portcullis_free_answers(answers, count);
        }
    }
    assert(!portcullis_call_tools(toolset, CALLS, 4, &answers, &failure));
    forget(&failure);
}

static void plans_calls(portcullis_toolset toolset) {
    portcullis_outlook *outlooks;
    bool *approved;
    portcullis_failure failure;
    for (size_t count = 0; count < 4; count++) {
        next = (script){.failure = PORTCULLIS_UNAVAILABLE};
        assert(portcullis_foresee_calls(toolset, CALLS, count, &outlooks, &failure));
        for (size_t i = 0; i < count; i++) assert(outlooks[i].kind == (portcullis_outlook_kind)i);
        assert(count < 3 || outlooks[PORTCULLIS_FAILS].failure.retry_after_seconds == 90);
        portcullis_free_outlooks(outlooks, count);
        assert(portcullis_approve_calls(toolset, CALLS, count, &approved, &failure));
        for (size_t i = 0; i < count; i++) assert(approved[i] == i % 2);
        free(approved);
    }
    assert(!portcullis_foresee_calls(toolset, CALLS, 4, &outlooks, &failure));
    forget(&failure);
    assert(!portcullis_approve_calls(toolset, CALLS, 4, &approved, &failure));
    forget(&failure);
}

// ---- Programs ----

static void refuses_to_start(portcullis_program program) {
    static const portcullis_view WRONG = PORTCULLIS_VIEW(LATIN);
    static const portcullis_variable NAME = {PORTCULLIS_VIEW(LATIN), PORTCULLIS_VIEW("a")};
    static const portcullis_variable VALUE = {PORTCULLIS_VIEW("A"), PORTCULLIS_VIEW(LATIN)};
    const portcullis_launch launches[] = {
        {.arguments = &WRONG, .argument_count = 1},
        {.environment = &NAME, .variable_count = 1},
        {.environment = &VALUE, .variable_count = 1},
        {.directory = WRONG},
        {.needs = {PORTCULLIS_NEEDS_DESTINATION, WRONG}},
        {.needs = {PORTCULLIS_NEEDS_WRITABLE_DIRECTORY, PORTCULLIS_VIEW("/srv")}},
        {.input = PORTCULLIS_VIEW("some input")},
    };
    for (size_t i = 0; i < PORTCULLIS_COUNT(launches); i++) {
        next = (script){.is_refused = true};
        portcullis_running *running;
        portcullis_failure failure;
        assert(!portcullis_start_program(program, &launches[i], &running, &failure));
        assert(failure.kind == (i < 5 ? PORTCULLIS_INVALID_ARGUMENTS : PORTCULLIS_FAILED));
        forget(&failure);
    }
}

static const portcullis_launch LAUNCH = {.input = PORTCULLIS_VIEW("the input\xFF"), .directory = PORTCULLIS_VIEW("/work")};

// Sets what happens, from the bits of a number.
static void play(unsigned bits) {
    next = (script){
        .chunks = bits & 1 ? 9 : 0,
        .input_max = bits & 2 ? SIZE_MAX : 4,
        .breaks = bits & 4,
        .is_stdin_closed = bits & 8,
        .count = bits & 16 ? 3 : 0,
        .waits = bits & 32 ? 2 : 0,
        .exit = (bits >> 6) % 3,
    };
}
enum { PLAYS = 3 << 6 };

static void runs_to_the_end(portcullis_program program) {
    for (unsigned bits = 0; bits < PLAYS; bits++) {
        play(bits);
        portcullis_program_output output;
        portcullis_failure failure;
        bool ended = portcullis_run_program(program, &LAUNCH, bits % 5 * 5, &output, &failure);
        assert(ended != next.breaks);
        if (!ended) {
            forget(&failure);
            continue;
        }
        assert(output.out.data && output.errors.data && output.out.length <= bits % 5 * 5);
        free(portcullis_exit_text(&output.report));
        portcullis_free_program_output(&output);
        portcullis_free_program_output(&output);
    }
}

static void talks_to_a_program(portcullis_program program) {
    portcullis_launch launch = LAUNCH;
    launch.interactive = true;
    for (unsigned bits = 0; bits < PLAYS; bits++) {
        play(bits);
        portcullis_running *running;
        portcullis_failure failure;
        portcullis_chunk chunk;
        portcullis_exit_report report;
        assert(portcullis_start_program(program, &launch, &running, &failure));
        if (!portcullis_write_input(running, "more", 4, &failure)) forget(&failure);
        if (!portcullis_next_chunk(running, &chunk, &failure)) forget(&failure);
        else free(chunk.bytes.data);
        if (!portcullis_write_input(running, NULL, 0, &failure)) forget(&failure);
        if (bits % 3 && !portcullis_end_input(running, &failure)) forget(&failure);
        if (portcullis_has_ended(running, &report)) portcullis_free_exit_report(&report);
        // A tool may also leave in the middle.
        if (bits % 2 && portcullis_wait_program(running, &report, &failure)) portcullis_free_exit_report(&report);
        else if (bits % 2) forget(&failure);
        portcullis_close_running(running);
    }
    portcullis_close_running(NULL);
}

static void notices_a_cancellation(portcullis_program program) {
    next = (script){.chunks = 4};
    portcullis_running *running;
    portcullis_failure failure;
    portcullis_chunk chunk;
    assert(portcullis_start_program(program, &LAUNCH, &running, &failure));
    assert(!portcullis_write_input(running, "a", 1, &failure) && failure.kind == PORTCULLIS_FAILED);
    forget(&failure);
    next.is_cancelled = true;
    assert(!portcullis_next_chunk(running, &chunk, &failure) && failure.kind == PORTCULLIS_CANCELLED && next.is_killed);
    forget(&failure);
    portcullis_close_running(running);
    portcullis_program_output output;
    next = (script){.is_cancelled = true};
    assert(!portcullis_run_program(program, &LAUNCH, 9, &output, &failure) && failure.kind == PORTCULLIS_CANCELLED);
    forget(&failure);
}

int main(void) {
    portcullis_failure failure;
    portcullis_toolset toolset;
    portcullis_program program;
    next = (script){0};
    assert(portcullis_open_tools("others", &toolset, &failure) && portcullis_open_program("sh", &program, &failure));
    refuses_a_toolset();
    lists_tools(toolset);
    calls_a_tool(toolset);
    calls_several_tools(toolset);
    plans_calls(toolset);
    refuses_to_start(program);
    runs_to_the_end(program);
    talks_to_a_program(program);
    notices_a_cancellation(program);
    portcullis_close_tools(toolset);
    portcullis_close_program(program);
    printf("%d handles are left\n", handles_left());
    return handles_left() != 0;
}
