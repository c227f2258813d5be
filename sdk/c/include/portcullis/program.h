// Programs of the system that a policy lets this plugin run. The operating system confines them.
//
// The policy binds a program, its directories and its network to a key of the kind PORTCULLIS_PROCESS. The tool needs
// the permission PORTCULLIS_EXECUTE.
#ifndef PORTCULLIS_PROGRAM_H
#define PORTCULLIS_PROGRAM_H

#include "host.h"

#ifdef __cplusplus
extern "C" {
#endif

// A program that the policy binds to a key.
typedef struct portcullis_program {
    int32_t handle;
} portcullis_program;

// Opens the program of a key. Nothing runs yet.
bool portcullis_open_program(const char *key, portcullis_program *program, portcullis_failure *failure);
// Closes the handle. What was started runs on. The end of the call closes it too.
void portcullis_close_program(portcullis_program program);

// An environment variable.
typedef struct portcullis_variable {
    portcullis_view name, value;
} portcullis_variable;

// What a program lacks for one run.
typedef enum portcullis_need_kind {
    PORTCULLIS_NEEDS_NOTHING,
    PORTCULLIS_NEEDS_DESTINATION,         // a host and a port, such as "files.example.org:443"
    PORTCULLIS_NEEDS_READABLE_DIRECTORY,  // by its absolute path on the machine
    PORTCULLIS_NEEDS_WRITABLE_DIRECTORY,  // to read and write, by its absolute path on the machine
} portcullis_need_kind;

typedef struct portcullis_need {
    portcullis_need_kind kind;
    portcullis_view what;
} portcullis_need;

// What to start a program with. Members that are not set are absent. All of it is copied.
typedef struct portcullis_launch {
    const portcullis_view *arguments;  // those after the program's own name; no shell reads them
    size_t argument_count;
    const portcullis_variable *environment;  // a variable of the policy wins over one of the same name
    size_t variable_count;
    // The directory to start in, such as "/workspace/src": the key of a directory of the program's binding, and a path
    // below it. Without data: the first directory of the binding.
    portcullis_view directory;
    portcullis_view input;  // any bytes; written to stdin while the output is read, and then stdin ends
    bool interactive;       // stdin does not end after the input, because portcullis_write_input follows
    bool merge;             // stderr goes to the stream of stdout, in the order of the writes
    // The start asks an approver for this, who reads the program and its arguments, and waits for the answer. Only a
    // person can allow it. On false, the policy may not let the program ask, or the approver said no.
    portcullis_need needs;
} portcullis_launch;

// How a program ended.
typedef enum portcullis_exit_kind {
    PORTCULLIS_EXITED,    // by itself, with a code
    PORTCULLIS_SIGNALED,  // a signal ended it
    PORTCULLIS_STOPPED,   // the host ended it
} portcullis_exit_kind;

typedef struct portcullis_exit_report {
    portcullis_exit_kind kind;
    uint8_t number;         // the code or the signal
    portcullis_bytes text;  // of STOPPED: which limit the program reached, for the model
    uint64_t milliseconds;  // from start to end
    uint32_t left_processes;  // background processes that the host ended with the program
    // What the confinement refused and the host knows of, such as "GET http://a.example/": for the model.
    portcullis_bytes *refused;
    size_t refused_count;
} portcullis_exit_report;

// Returns whether the program ended by itself with the code 0.
bool portcullis_is_success(const portcullis_exit_report *report);
// Returns how the program ended, such as "exit code 1".
char *portcullis_exit_text(const portcullis_exit_report *report);
void portcullis_free_exit_report(portcullis_exit_report *report);

// What a program wrote, and how it ended.
typedef struct portcullis_program_output {
    portcullis_bytes out;     // stdout
    portcullis_bytes errors;  // stderr; empty if it went to the stream of stdout
    bool is_cut;              // it wrote more than was kept
    portcullis_exit_report report;
} portcullis_program_output;

// Runs the program to its end. Keeps `bytes_max` bytes of each stream at most, and drops the rest. An exit code other
// than 0 is no failure. If the caller cancels the call, the program is ended, and the failure is PORTCULLIS_CANCELLED.
bool portcullis_run_program(portcullis_program program, const portcullis_launch *launch, size_t bytes_max,
                            portcullis_program_output *output, portcullis_failure *failure);
void portcullis_free_program_output(portcullis_program_output *output);

// A program that runs.
typedef struct portcullis_running portcullis_running;

// Starts the program. Close what it returns, or the program runs until its end or the end of the call.
bool portcullis_start_program(portcullis_program program, const portcullis_launch *launch, portcullis_running **running,
                              portcullis_failure *failure);
// Ends the program if it still runs, and frees the memory. NULL does nothing.
void portcullis_close_running(portcullis_running *running);

typedef enum portcullis_stream { PORTCULLIS_STDOUT, PORTCULLIS_STDERR } portcullis_stream;

// What a program wrote at a time. Free `bytes.data` with free().
typedef struct portcullis_chunk {
    portcullis_stream stream;
    portcullis_bytes bytes;  // without data: the program has ended, and everything is read
} portcullis_chunk;

// Waits for the next piece of either stream, and writes the input in the meantime. So the program never waits for a
// stream that nothing reads. If the caller cancels the call, the program is ended, and the failure is CANCELLED.
bool portcullis_next_chunk(portcullis_running *running, portcullis_chunk *chunk, portcullis_failure *failure);

// Writes to stdin, of an interactive launch only, and waits until the host has all bytes. Nothing reads the output
// meanwhile, so a program that answers much while it reads gets its input in the launch, or in small pieces. FAILED:
// the program has closed its stdin.
bool portcullis_write_input(portcullis_running *running, const void *data, size_t length, portcullis_failure *failure);
// Waits until the program has all bytes, or does not want them, and then ends stdin.
bool portcullis_end_input(portcullis_running *running, portcullis_failure *failure);

// Ends the input, waits until the program has ended, and drops what it still writes.
bool portcullis_wait_program(portcullis_running *running, portcullis_exit_report *report, portcullis_failure *failure);
// Returns false while the program runs.
bool portcullis_has_ended(portcullis_running *running, portcullis_exit_report *report);
// Ends the program and everything that it started. What it wrote before can still be read.
void portcullis_kill_program(portcullis_running *running);

#ifdef __cplusplus
}
#endif

#endif
