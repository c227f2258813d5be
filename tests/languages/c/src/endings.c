#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools.h"

// How often the tool `wait` checks whether its call is cancelled: every 10 ms.
static const struct timespec LOOK = {.tv_nsec = 10 * 1000 * 1000};
// How long it waits without a cancellation: longer than any test, shorter than a person's patience.
enum { PATIENCE_SECONDS = 20 };
// How much the tool `hog` takes at once.
enum { GULP_BYTES = 1024 * 1024 };

portcullis_answer fail(yyjson_val *arguments) {
    static const char *const KINDS[] = {
        [PORTCULLIS_INVALID_ARGUMENTS] = "invalid-arguments",
        [PORTCULLIS_DENIED] = "denied",
        [PORTCULLIS_UNAVAILABLE] = "unavailable",
        [PORTCULLIS_CANCELLED] = "cancelled",
        [PORTCULLIS_FAILED] = "failed",
    };
    const char *name = portcullis_string(yyjson_obj_get(arguments, "kind"));
    portcullis_failure_kind kind = PORTCULLIS_INVALID_ARGUMENTS;
    while (kind < PORTCULLIS_FAILED && strcmp(KINDS[kind], name) != 0) kind++;
    return portcullis_fail_of(kind, text_of(arguments, "message"));
}

portcullis_answer trap(yyjson_val *) {
    abort();
}

portcullis_answer wait(yyjson_val *) {
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        if (portcullis_is_cancelled()) {
            portcullis_log(PORTCULLIS_INFO, "the call is cancelled");
            return portcullis_fail(PORTCULLIS_CANCELLED, "the call is cancelled");
        }
        nanosleep(&LOOK, NULL);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - start.tv_sec < PATIENCE_SECONDS);
    return portcullis_text("not cancelled");
}

portcullis_answer spin(yyjson_val *) {
    for (volatile unsigned turns = 0;; turns++) continue;
}

portcullis_answer hog(yyjson_val *) {
    for (;;) {
        char *taken = malloc(GULP_BYTES);
        if (!taken) abort();
        // A pointer that the compiler may not reason about keeps the memory in use.
        char *volatile touched = taken;
        memset(touched, 1, GULP_BYTES);
    }
}

// What is added after the call keeps the compiler from making a loop of it.
static int deeper(volatile int depth) {
    return deeper(depth + 1) + depth;
}

portcullis_answer recurse(yyjson_val *) {
    return portcullis_textf("%d", deeper(0));
}
