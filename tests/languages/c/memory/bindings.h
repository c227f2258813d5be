// What the bindings answer next.
#ifndef BINDINGS_H
#define BINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct script {
    bool is_refused;  // the next function of the host fails
    uint8_t why;      // why there is no handle
    size_t count;     // the length of lists
    uint8_t output, failure, exit;  // the case of each variant
    size_t chunks;           // how often the streams of a program can be read
    size_t waits;            // how often the program has not ended yet
    size_t input_max;        // how many bytes the program reads
    bool is_stdin_closed;    // the program does not read at all
    bool breaks;             // a stream breaks instead of ending
    bool is_cancelled;       // the caller has cancelled the call
    bool is_full, is_killed;
    size_t written;
} script;

extern script next;

// How many handles are open.
int handles_left(void);

#endif
