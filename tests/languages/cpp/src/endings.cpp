#include <chrono>
#include <cstdlib>

#include <time.h>

#include "tools.hpp"

using namespace std::chrono_literals;
using portcullis::Failure;

// How often the tool `wait` checks whether its call is cancelled: every 10 ms.
static constexpr timespec LOOK = {.tv_sec = 0, .tv_nsec = 10 * 1000 * 1000};
// How long it waits without a cancellation: longer than any test, shorter than a person's patience.
static constexpr auto PATIENCE = 20s;
// How much the tool `hog` takes at once.
static constexpr std::size_t GULP_BYTES = 1024 * 1024;

Result fail(Value arguments) {
    const std::string_view kind = arguments["kind"].text();
    const std::string message = arguments["message"].string();
    if (kind == "invalid-arguments") return Failure::invalid_arguments(message);
    if (kind == "denied") return Failure::denied(message);
    if (kind == "unavailable") return Failure::unavailable(message);
    if (kind == "cancelled") return Failure::cancelled();
    return Failure::failed(message);
}

Result trap() {
    std::abort();
}

Result wait() {
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - start < PATIENCE) {
        if (portcullis::is_cancelled()) {
            portcullis::log(PORTCULLIS_INFO, "the call is cancelled");
            return Failure::cancelled();
        }
        nanosleep(&LOOK, nullptr);
    }
    return "not cancelled";
}

Result spin() {
    for (volatile unsigned turns = 0;; turns = turns + 1) continue;
}

Result hog() {
    for (;;) {
        // A pointer that the compiler may not reason about keeps the memory in use.
        char *volatile taken = new char[GULP_BYTES];
        std::memset(taken, 1, GULP_BYTES);
    }
}

// What is added after the call keeps the compiler from making a loop of it.
static int deeper(int depth) {
    volatile int kept = depth;
    return deeper(depth + 1) + kept;
}

Result recurse() {
    return std::to_string(deeper(0));
}
