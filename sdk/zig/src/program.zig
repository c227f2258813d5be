//! Programs of the system that a policy grants. The operating system confines them.

const std = @import("std");
const host = @import("host.zig");
const Context = @import("context.zig").Context;
const View = host.View;

/// What to start a program with. All of it is copied.
pub const Launch = struct {
    /// The arguments after the program's own name. No shell reads them.
    arguments: []const []const u8 = &.{},
    /// A variable of the policy wins over one of the same name.
    environment: []const Variable = &.{},
    /// The directory to start in, such as `/workspace/src`: the key of a directory of the program's binding, and a path
    /// below it. The default is the first directory of the binding.
    directory: ?[]const u8 = null,
    /// Bytes that are written to stdin while the output is read. Then stdin ends.
    input: []const u8 = "",
    /// Whether stdin stays open after the input, for `Running.write`.
    interactive: bool = false,
    /// Whether stderr goes to the stream of stdout, in the order of the writes.
    merge: bool = false,
    /// What the program lacks for this run. The start asks an approver, who reads the program and its arguments, and
    /// waits for the answer. Only a person can allow it. `error.Failed` also means that the policy does not let the
    /// program ask, or that the approver said no.
    needs: ?Need = null,

    pub const Variable = struct { name: []const u8, value: []const u8 };

    fn lower(launch: Launch, context: *Context) !host.Launch {
        const arguments = try context.arena.alloc(View, launch.arguments.len);
        for (arguments, launch.arguments) |*to, from| to.* = View.of(from);
        const environment = try context.arena.alloc(host.Variable, launch.environment.len);
        for (environment, launch.environment) |*to, from| {
            to.* = .{ .name = View.of(from.name), .value = View.of(from.value) };
        }
        return .{
            .arguments = arguments.ptr,
            .argument_count = arguments.len,
            .environment = environment.ptr,
            .variable_count = environment.len,
            .directory = View.optional(launch.directory),
            .input = View.of(launch.input),
            .interactive = launch.interactive,
            .merge = launch.merge,
            .needs = if (launch.needs) |needs| needs.lower() else .{ .kind = .nothing, .what = View.optional(null) },
        };
    }
};

/// What a program lacks for one run.
pub const Need = union(enum) {
    /// A host and a port, such as `files.example.org:443`.
    destination: []const u8,
    /// A directory to read, by its absolute path on the machine.
    readable_directory: []const u8,
    /// A directory to read and write, by its absolute path on the machine.
    writable_directory: []const u8,

    fn lower(need: Need) host.Need {
        return switch (need) {
            .destination => |text| .{ .kind = .destination, .what = View.of(text) },
            .readable_directory => |path| .{ .kind = .readable_directory, .what = View.of(path) },
            .writable_directory => |path| .{ .kind = .writable_directory, .what = View.of(path) },
        };
    }
};

/// How a program ended.
pub const Exit = union(enum) {
    /// It ended by itself, with this code.
    code: u8,
    /// This signal ended it.
    signal: u8,
    /// The host ended it. The text says which limit it reached, for the model.
    stopped: []const u8,

    /// Prints with `{f}` how the program ended, such as `exit code 1`.
    pub fn format(exit: Exit, writer: *std.Io.Writer) std.Io.Writer.Error!void {
        switch (exit) {
            .code => |code| try writer.print("exit code {d}", .{code}),
            .signal => |signal| try writer.print("signal {d}", .{signal}),
            .stopped => |text| try writer.writeAll(text),
        }
    }
};

/// The report of a program that has ended.
pub const ExitReport = struct {
    exit: Exit,
    /// The time from start to end.
    milliseconds: u64,
    /// The number of background processes that the host ended with the program.
    left_processes: u32,
    /// What the confinement refused and the host knows of, such as `GET http://a.example/`: for the model.
    refused: []const []const u8,

    /// Returns whether the program ended by itself with the code 0.
    pub fn isSuccess(report: ExitReport) bool {
        return switch (report.exit) {
            .code => |code| code == 0,
            .signal, .stopped => false,
        };
    }

    fn of(context: *Context, raw: host.ExitReport) !ExitReport {
        const refused = try context.arena.alloc([]const u8, raw.refused_count);
        for (refused, 0..) |*text, index| text.* = raw.refused.?[index].slice();
        return .{
            .exit = switch (raw.kind) {
                .exited => .{ .code = raw.number },
                .signaled => .{ .signal = raw.number },
                .stopped => .{ .stopped = raw.text.slice() },
            },
            .milliseconds = raw.milliseconds,
            .left_processes = raw.left_processes,
            .refused = refused,
        };
    }
};

/// What a program wrote, and how it ended.
pub const ProgramOutput = struct {
    stdout: []const u8,
    /// Empty if stderr went to the stream of stdout.
    stderr: []const u8,
    /// Whether the program wrote more than was kept.
    is_cut: bool,
    report: ExitReport,
};

/// A program that the policy binds to a key.
pub const Program = struct {
    context: *Context,
    handle: host.Program,

    /// Use `Context.program` to open a program.
    pub fn open(context: *Context, key: []const u8) !Program {
        var failure: host.Failure = undefined;
        var handle: host.Program = undefined;
        if (!host.portcullis_open_program(try context.terminated(key), &handle, &failure)) {
            return context.refused(failure);
        }
        return .{ .context = context, .handle = handle };
    }

    /// Closes the program. What was started runs on. The end of the call closes it too.
    pub fn close(program: Program) void {
        host.portcullis_close_program(program.handle);
    }

    /// Runs the program to its end. Keeps `bytes_max` bytes of each stream at most, and drops the rest. An exit code
    /// other than 0 is no error. If the caller cancels the call, the program is ended, and the error is
    /// `error.Cancelled`.
    pub fn run(program: Program, launch: Launch, bytes_max: usize) !ProgramOutput {
        const context = program.context;
        const lowered = try launch.lower(context);
        var failure: host.Failure = undefined;
        var output: host.ProgramOutput = undefined;
        if (!host.portcullis_run_program(program.handle, &lowered, bytes_max, &output, &failure)) {
            return context.refused(failure);
        }
        return .{
            .stdout = output.out.slice(),
            .stderr = output.errors.slice(),
            .is_cut = output.is_cut,
            .report = try .of(context, output.report),
        };
    }

    /// Starts the program. Close what it returns, or the program runs until its end or the end of the call.
    pub fn start(program: Program, launch: Launch) !Running {
        const lowered = try launch.lower(program.context);
        var failure: host.Failure = undefined;
        var handle: *host.Running = undefined;
        if (!host.portcullis_start_program(program.handle, &lowered, &handle, &failure)) {
            return program.context.refused(failure);
        }
        return .{ .context = program.context, .handle = handle };
    }
};

/// What a program wrote at a time.
pub const Chunk = struct {
    stream: host.Stream,
    bytes: []u8,

    /// Frees the bytes. The end of the call frees them too, so only a tool that reads much needs this.
    pub fn deinit(chunk: Chunk) void {
        std.c.free(chunk.bytes.ptr);
    }
};

/// A program that runs.
pub const Running = struct {
    context: *Context,
    handle: *host.Running,

    /// Ends the program if it still runs.
    pub fn close(running: Running) void {
        host.portcullis_close_running(running.handle);
    }

    /// Waits for the next piece of either stream, and writes the input in the meantime. So the program never waits for
    /// a stream that nothing reads. Null means that the program has ended, and everything is read. If the caller
    /// cancels the call, the program is ended, and the error is `error.Cancelled`.
    pub fn next(running: Running) !?Chunk {
        var failure: host.Failure = undefined;
        var chunk: host.Chunk = undefined;
        if (!host.portcullis_next_chunk(running.handle, &chunk, &failure)) return running.context.refused(failure);
        return .{ .stream = chunk.stream, .bytes = chunk.bytes.optional() orelse return null };
    }

    /// Writes to stdin, of an interactive launch only, and waits until the host has all bytes. Nothing reads the output
    /// meanwhile, so a program that answers much while it reads gets its input in the launch, or in small pieces.
    pub fn write(running: Running, bytes: []const u8) !void {
        var failure: host.Failure = undefined;
        if (!host.portcullis_write_input(running.handle, bytes.ptr, bytes.len, &failure)) {
            return running.context.refused(failure);
        }
    }

    /// Waits until the program has all bytes, or does not want them, and then ends stdin.
    pub fn endInput(running: Running) !void {
        var failure: host.Failure = undefined;
        if (!host.portcullis_end_input(running.handle, &failure)) return running.context.refused(failure);
    }

    /// Ends the input, waits until the program has ended, and drops what it still writes.
    pub fn wait(running: Running) !ExitReport {
        var failure: host.Failure = undefined;
        var report: host.ExitReport = undefined;
        if (!host.portcullis_wait_program(running.handle, &report, &failure)) return running.context.refused(failure);
        return .of(running.context, report);
    }

    /// Returns how the program ended, or null while it runs.
    pub fn exitReport(running: Running) !?ExitReport {
        var report: host.ExitReport = undefined;
        if (!host.portcullis_has_ended(running.handle, &report)) return null;
        return try .of(running.context, report);
    }

    /// Ends the program and everything that it started. What it wrote before can still be read.
    pub fn kill(running: Running) void {
        host.portcullis_kill_program(running.handle);
    }
};
