#include <chrono>
#include <iostream>
#include <random>

#include <time.h>
#include <unistd.h>
#include <wasi/api.h>

#include "tools.hpp"

using portcullis::Failure;

// A sleep that every clock notices: 5 ms.
static constexpr timespec NAP = {.tv_sec = 0, .tv_nsec = 5 * 1000 * 1000};
static constexpr int RANDOM_DIGITS = 32;

Result progress(Value arguments) {
    const std::int64_t steps = number_of(arguments, "steps");
    for (std::int64_t i = 1; i <= steps; i++) {
        auto said = portcullis::report({
            .title = "step " + std::to_string(i),
            .fraction = static_cast<float>(i) / static_cast<float>(steps),
            .metadata = Json::object({{"step", i}}),
        });
        if (!said) return said.error();
    }
    return "done";
}

Result context() {
    const portcullis::Call call = portcullis::current_call();
    return Json::object(
        {{"id", call.id}, {"session", call.session}, {"message", call.message}, {"agent", call.agent}});
}

Result ask(Value arguments) {
    const auto answer = portcullis::ask(arguments["permission"].text(), arguments["resource"].text(),
                                        arguments["reason"].text());
    if (!answer) return answer.error();
    return "yes";
}

Result fetch(Value arguments) {
    portcullis::Request request = {.url = arguments["url"].string(), .headers = {{"x-test", "conformance"}}};
    if (arguments["method"]) request.method = arguments["method"].string();
    request.body = arguments["body"].string();
    const auto response = portcullis::fetch("web", request);
    if (!response) return Failure::unavailable("cannot fetch " + request.url + ": " + response.error().message);
    return Json::object(
        {{"status", response->status}, {"type", response->header("content-type")}, {"body", response->body}});
}

Result remember(Value arguments) {
    const auto notes = portcullis::Store::open("notes");
    if (!notes) return notes.error();
    const auto value = Json(arguments["value"]).text();
    if (!value) return value.error();
    const auto kept = notes->set(arguments["key"].text(), *value);
    if (!kept) return kept.error();
    return "remembered";
}

Result recall(Value arguments) {
    const auto notes = portcullis::Store::open("notes");
    if (!notes) return notes.error();
    const auto value = notes->get(arguments["key"].text());
    if (!value) return value.error();
    return Json::object({{"value", *value ? Json::parse(**value) : Json()}});
}

Result setting(Value arguments) {
    return Json::object({{"value", portcullis::setting(arguments["key"].text())}});
}

Result print(Value arguments) {
    const std::string_view text = arguments["text"].text();
    std::cout << text << " on stdout" << std::endl;
    std::cerr << text << " on stderr" << std::endl;
    portcullis::log(PORTCULLIS_WARN, text);
    return "printed";
}

// How many there are after the name. A plugin has no main() that would be told.
static std::size_t argument_count() {
    __wasi_size_t count = 0, bytes = 0;
    return __wasi_args_sizes_get(&count, &bytes) == 0 && count > 0 ? count - 1 : 0;
}

Result surroundings() {
    using std::chrono::steady_clock, std::chrono::system_clock;
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(system_clock::now().time_since_epoch());
    const auto before = steady_clock::now();
    nanosleep(&NAP, nullptr);
    std::random_device device;
    std::string random;
    while (random.size() < RANDOM_DIGITS) random += "0123456789abcdef"[device() % 16];
    std::minstd_rand insecure(device());
    Json environment = Json::array();
    for (char **variable = environ; *variable; variable++) {
        environment.push(std::string_view(*variable, std::strcspn(*variable, "=")));
    }
    return Json::object({
        {"now", now.count()},
        {"monotonic", steady_clock::now() - before >= std::chrono::nanoseconds(NAP.tv_nsec)},
        {"random", random},
        {"insecure", std::uniform_real_distribution<>()(insecure)},
        {"environment", environment},
        {"arguments", argument_count()},
    });
}
