// Programs of the system, which the policy binds.
#include <utility>

#include "tools.hpp"

using portcullis::Expected;
using portcullis::Launch;
using portcullis::Need;
using portcullis::Program;
using portcullis::Running;

// How much is kept of each stream.
static constexpr std::size_t KEPT_BYTES = 100'000;
// How much of what was written before is searched too.
static constexpr std::size_t TAIL_BYTES = 100;

static Need need_of(Value arguments) {
    if (Value host = arguments["needs_host"]) return Need::destination(host.string());
    if (Value path = arguments["needs_read"]) return Need::readable_directory(path.string());
    if (Value path = arguments["needs_write"]) return Need::writable_directory(path.string());
    return {};
}

Result run_program(Value arguments) {
    const auto program = Program::open(arguments["key"].string());
    if (!program) return program.error();
    const Launch launch = {
        .arguments = texts_of(arguments, "arguments"),
        .environment = {{"CALLER", "conformance"}},
        .directory = arguments["directory"].string(),
        .input = arguments["input"].string(),
        .merge = arguments["merge"].boolean(),
        .needs = need_of(arguments),
    };
    const auto output = program->run(launch, KEPT_BYTES);
    if (!output) return output.error();
    return Json::object({
        {"exit", output->report.text},
        {"stdout", portcullis::to_utf8(output->out)},
        {"stderr", portcullis::to_utf8(output->errors)},
        {"cut", output->is_cut},
    });
}

static Expected<Running> start(Value arguments, Launch launch) {
    const auto program = Program::open(arguments["key"].string());
    if (!program) return std::unexpected(program.error());
    launch.arguments = texts_of(arguments, "arguments");
    return program->start(launch);
}

Result stream(Value arguments) {
    auto running = start(arguments, {.input = arguments["input"].string(), .merge = true});
    if (!running) return running.error();
    const std::string_view until = arguments["until"].text();
    std::string tail;
    for (;;) {
        const auto chunk = running->next();
        if (!chunk) return chunk.error();
        if (!*chunk) break;
        const std::string &bytes = (*chunk)->bytes;
        if (auto written = portcullis::write(bytes); !written) return written.error();
        if (tail.size() > TAIL_BYTES) tail.erase(0, tail.size() - TAIL_BYTES);
        tail += bytes;
        if (!until.empty() && tail.contains(until)) running->kill();
    }
    const auto report = running->wait();
    if (!report) return report.error();
    return "[" + report->text + "]";
}

// Reads up to the end of a line, or of everything. What follows stays in `unread`.
static Expected<std::string> read_line(Running &running, std::string &unread) {
    while (!unread.contains('\n')) {
        auto chunk = running.next();
        if (!chunk) return std::unexpected(chunk.error());
        if (!*chunk) return std::exchange(unread, {});
        unread += (*chunk)->bytes;
    }
    const std::size_t end = unread.find('\n') + 1;
    std::string line = unread.substr(0, end);
    unread.erase(0, end);
    return line;
}

Result converse(Value arguments) {
    auto running = start(arguments, {.interactive = true, .merge = true});
    if (!running) return running.error();
    std::string unread, rest;
    Json replies = Json::array();
    for (const std::string &line : texts_of(arguments, "lines")) {
        if (auto written = running->write(line + "\n"); !written) return written.error();
        const auto reply = read_line(*running, unread);
        if (!reply) return reply.error();
        replies.push(*reply);
    }
    if (auto ended = running->end_input(); !ended) return ended.error();
    for (;;) {
        const auto line = read_line(*running, unread);
        if (!line) return line.error();
        if (line->empty()) break;
        rest += *line;
    }
    const auto report = running->wait();
    if (!report) return report.error();
    return Json::object({{"replies", replies}, {"rest", rest}, {"exit", report->text}});
}
