// Programs of the system that a policy lets this plugin run. The operating system confines them.
#ifndef PORTCULLIS_PROGRAM_HPP
#define PORTCULLIS_PROGRAM_HPP

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "failure.hpp"
#include "program.h"

namespace portcullis {

// What a program lacks for one run. The start asks an approver for it. Only a person can allow it.
struct Need {
    portcullis_need_kind kind = PORTCULLIS_NEEDS_NOTHING;
    std::string what = {};

    // A host and a port, such as "files.example.org:443".
    static Need destination(std::string what) { return {PORTCULLIS_NEEDS_DESTINATION, std::move(what)}; }
    // A directory to read, by its absolute path on the machine.
    static Need readable_directory(std::string path) { return {PORTCULLIS_NEEDS_READABLE_DIRECTORY, std::move(path)}; }
    // A directory to read and write, by its absolute path on the machine.
    static Need writable_directory(std::string path) { return {PORTCULLIS_NEEDS_WRITABLE_DIRECTORY, std::move(path)}; }
};

// What to start a program with.
struct Launch {
    std::vector<std::string> arguments = {};  // those after the program's own name; no shell reads them
    // A variable of the policy wins over one of the same name.
    std::vector<std::pair<std::string, std::string>> environment = {};
    // The directory to start in, such as "/workspace/src": the key of a directory of the program's binding, and a path
    // below it. Empty: the first directory of the binding.
    std::string directory = {};
    std::string input = {};    // written to stdin while the output is read, and then stdin ends
    bool interactive = false;  // stdin does not end after the input, because Running::write follows
    bool merge = false;        // stderr goes to the stream of stdout, in the order of the writes
    Need needs = {};
};

// How a program ended.
struct ExitReport {
    portcullis_exit_kind kind;
    std::uint8_t number;           // the code or the signal
    std::string text;              // how it ended, such as "exit code 1", or which limit it reached
    std::uint64_t milliseconds;    // from start to end
    std::uint32_t left_processes;  // background processes that the host ended with the program
    // What the confinement refused and the host knows of, such as "GET http://a.example/": for the model.
    std::vector<std::string> refused;

    // Returns whether the program ended by itself with the code 0.
    bool is_success() const { return kind == PORTCULLIS_EXITED && number == 0; }

    // Takes ownership of the report.
    static ExitReport of(portcullis_exit_report raw) {
        char *text = portcullis_exit_text(&raw);
        ExitReport report = {raw.kind, raw.number, text, raw.milliseconds, raw.left_processes, {}};
        std::free(text);
        for (const portcullis_bytes &one : std::span(raw.refused, raw.refused_count)) {
            report.refused.emplace_back(one.data, one.length);
        }
        portcullis_free_exit_report(&raw);
        return report;
    }
};

// What a program wrote, and how it ended.
struct ProgramOutput {
    std::string out;     // stdout
    std::string errors;  // stderr; empty if it went to the stream of stdout
    bool is_cut;         // it wrote more than was kept
    ExitReport report;
};

// What a program wrote at a time.
struct Chunk {
    portcullis_stream stream;
    std::string bytes;
};

// A program that runs. The end of its life ends the program.
class Running {
  public:
    // Takes ownership.
    explicit Running(portcullis_running *running) : running_(running) {}

    // Waits for the next piece of either stream, and writes the input in the meantime. Nothing: the program has ended,
    // and everything is read. If the caller cancels the call, the program is ended, and the failure is `cancelled`.
    Expected<std::optional<Chunk>> next() {
        portcullis_failure failure;
        portcullis_chunk chunk;
        if (!portcullis_next_chunk(running_.get(), &chunk, &failure)) return refused(failure);
        auto bytes = taken(chunk.bytes);
        if (!bytes) return std::nullopt;
        return Chunk{chunk.stream, *std::move(bytes)};
    }

    // Writes to stdin, of an interactive launch only, and waits until the host has all bytes. Nothing reads the output
    // meanwhile.
    Expected<void> write(std::string_view bytes) {
        portcullis_failure failure;
        if (!portcullis_write_input(running_.get(), bytes.data(), bytes.size(), &failure)) return refused(failure);
        return {};
    }
    // Waits until the program has all bytes, or does not want them, and then ends stdin.
    Expected<void> end_input() {
        portcullis_failure failure;
        if (!portcullis_end_input(running_.get(), &failure)) return refused(failure);
        return {};
    }

    // Ends the input, waits until the program has ended, and drops what it still writes.
    Expected<ExitReport> wait() {
        portcullis_failure failure;
        portcullis_exit_report report;
        if (!portcullis_wait_program(running_.get(), &report, &failure)) return refused(failure);
        return ExitReport::of(report);
    }
    // Returns nothing while the program runs.
    std::optional<ExitReport> report() {
        portcullis_exit_report report;
        if (!portcullis_has_ended(running_.get(), &report)) return std::nullopt;
        return ExitReport::of(report);
    }
    // Ends the program and everything that it started. What it wrote before can still be read.
    void kill() { portcullis_kill_program(running_.get()); }

  private:
    struct Close {
        void operator()(portcullis_running *running) const { portcullis_close_running(running); }
    };

    std::unique_ptr<portcullis_running, Close> running_;
};

// A program that the policy binds to a key.
class Program {
  public:
    // Opens the program of a key. Nothing runs yet.
    static Expected<Program> open(const std::string &key) {
        if (auto plain = whole("the key of a program", key); !plain) return std::unexpected(plain.error());
        portcullis_failure failure;
        portcullis_program handle;
        if (!portcullis_open_program(key.c_str(), &handle, &failure)) return refused(failure);
        return Program(handle);
    }
    Program(Program &&other) noexcept
        : handle_(other.handle_), is_open_(std::exchange(other.is_open_, false)) {}
    Program &operator=(Program &&other) noexcept {
        std::swap(handle_, other.handle_);
        std::swap(is_open_, other.is_open_);
        return *this;
    }
    // What was started runs on.
    ~Program() {
        if (is_open_) portcullis_close_program(handle_);
    }

    // Runs the program to its end. Keeps `bytes_max` bytes of each stream at most, and drops the rest. An exit code
    // other than 0 is no failure.
    Expected<ProgramOutput> run(const Launch &launch, std::size_t bytes_max) const {
        const Lowered lowered(launch);
        portcullis_failure failure;
        portcullis_program_output output;
        if (!portcullis_run_program(handle_, &lowered.raw, bytes_max, &output, &failure)) return refused(failure);
        return ProgramOutput{
            .out = taken(output.out).value_or(""),
            .errors = taken(output.errors).value_or(""),
            .is_cut = output.is_cut,
            .report = ExitReport::of(output.report),
        };
    }

    // Starts the program.
    Expected<Running> start(const Launch &launch) const {
        const Lowered lowered(launch);
        portcullis_failure failure;
        portcullis_running *running = nullptr;
        if (!portcullis_start_program(handle_, &lowered.raw, &running, &failure)) return refused(failure);
        return Running(running);
    }

  private:
    explicit Program(portcullis_program handle) : handle_(handle) {}

    // A launch for the functions in C, which copy it.
    struct Lowered {
        std::vector<portcullis_view> arguments;
        std::vector<portcullis_variable> environment;
        portcullis_launch raw = {};

        explicit Lowered(const Launch &launch) {
            for (const std::string &argument : launch.arguments) arguments.push_back(view(argument));
            for (const auto &[name, value] : launch.environment) environment.push_back({view(name), view(value)});
            raw.arguments = arguments.data();
            raw.argument_count = arguments.size();
            raw.environment = environment.data();
            raw.variable_count = environment.size();
            if (!launch.directory.empty()) raw.directory = view(launch.directory);
            raw.input = view(launch.input);
            raw.interactive = launch.interactive;
            raw.merge = launch.merge;
            raw.needs = {launch.needs.kind, view(launch.needs.what)};
        }
        Lowered(const Lowered &) = delete;
        Lowered &operator=(const Lowered &) = delete;
    };

    portcullis_program handle_;
    bool is_open_ = true;
};

}  // namespace portcullis

#endif
