//! The running call, as its tool sees it.

const std = @import("std");
const host = @import("host.zig");
const http = @import("http.zig");
const json_text = @import("json.zig");
const View = host.View;
const Blob = @import("answer.zig").Part.Blob;
const Program = @import("program.zig").Program;
const Store = @import("store.zig").Store;
const Toolset = @import("toolset.zig").Toolset;

/// The errors that have their own kind of failure. Any other error is a `failed` one, with its name as the message.
pub const Error = error{ InvalidArguments, Denied, Unavailable, Cancelled, Failed };

/// The kind of a failed call.
pub const FailureKind = enum(c_int) {
    /// The arguments match the schema but are invalid.
    invalid_arguments,
    /// A permission is missing.
    denied,
    /// Something outside the tool failed. A later retry may succeed.
    unavailable,
    /// The call was cancelled. This kind has no message.
    cancelled,
    failed,

    /// Returns the kind of an error.
    pub fn of(failure: anyerror) FailureKind {
        return switch (failure) {
            error.InvalidArguments => .invalid_arguments,
            error.Denied => .denied,
            error.Unavailable => .unavailable,
            error.Cancelled, error.Canceled => .cancelled,
            else => .failed,
        };
    }

    fn toError(kind: FailureKind) Error {
        return switch (kind) {
            .invalid_arguments => error.InvalidArguments,
            .denied => error.Denied,
            .unavailable => error.Unavailable,
            .cancelled => error.Cancelled,
            .failed => error.Failed,
        };
    }
};

/// The caller and the identifiers of a call.
pub const Call = struct {
    id: []const u8,
    session: []const u8,
    /// The conversation message that requested the call, if the caller named one.
    message: ?[]const u8,
    /// The agent that requested the call, if the caller named one.
    agent: ?[]const u8,
};

/// The progress of a call. An absent field keeps its last value.
pub const Progress = struct {
    title: ?[]const u8 = null,
    /// From 0 to 1.
    fraction: ?f32 = null,
    /// One JSON object for programs.
    metadata: ?[]const u8 = null,
};

/// The level of a log line.
pub const Level = enum(c_int) { trace, debug, info, warn, err, critical };

pub const Context = struct {
    /// An allocator for memory that lives as long as the call. There is no need to free it.
    arena: std.mem.Allocator,
    /// The message of the last failure.
    failure: ?struct { kind: FailureKind, message: []const u8, retry_after_seconds: u32 = 0 } = null,

    /// Returns the `std.Io` that the standard library needs for files, clocks, sleep and random numbers. If no tool
    /// calls this function, the component imports none of them.
    pub fn io(context: *const Context) std.Io {
        _ = context;
        return std.Io.Threaded.global_single_threaded.io();
    }

    /// Creates a failure with a message: `return context.fail(.unavailable, "{s} is away", .{name});`
    pub fn fail(context: *Context, kind: FailureKind, comptime format: []const u8, arguments: anytype) Error {
        const message = std.fmt.allocPrint(context.arena, format, arguments) catch @errorName(error.OutOfMemory);
        context.failure = .{ .kind = kind, .message = message };
        return kind.toError();
    }

    /// Creates an `unavailable` failure that says after how many seconds another try may help.
    pub fn failUntil(
        context: *Context,
        retry_after_seconds: u32,
        comptime format: []const u8,
        arguments: anytype,
    ) Error {
        const raised = context.fail(.unavailable, format, arguments);
        if (context.failure) |*last| last.retry_after_seconds = retry_after_seconds;
        return raised;
    }

    /// Returns after how many seconds another try may help, for the error of the last failure. 0 means unknown.
    pub fn retryAfterSecondsOf(context: *const Context, failure: anyerror) u32 {
        const last = context.failure orelse return 0;
        return if (failure == last.kind.toError()) last.retry_after_seconds else 0;
    }

    /// Returns the message for an error: that of its failure, or the error's name.
    pub fn messageOf(context: *const Context, failure: anyerror) []const u8 {
        if (context.failure) |last| {
            if (last.kind == FailureKind.of(failure) and failure == last.kind.toError()) return last.message;
        }
        return @errorName(failure);
    }

    /// Converts a failure of the host to an error.
    pub fn refused(context: *Context, failure: host.Failure) Error {
        const raised = context.fail(@fromBackingInt(@intCast(failure.kind)), "{s}", .{failure.text()});
        if (context.failure) |*last| last.retry_after_seconds = failure.retry_after_seconds;
        return raised;
    }

    /// Copies a text with a final NUL, which some host functions need. Refuses a NUL in the text, which would cut it.
    pub fn terminated(context: *Context, text: []const u8) ![:0]const u8 {
        if (std.mem.findScalar(u8, text, 0) != null) {
            return context.fail(.invalid_arguments, "`{s}` has a NUL in it", .{text});
        }
        return context.arena.dupeSentinel(u8, text, 0);
    }

    /// Writes a value as JSON with `std.json`. Fails if it contains text that is not UTF-8, NaN or infinity.
    pub fn json(context: *Context, value: anytype) ![]const u8 {
        return json_text.write(context, value, .{});
    }

    /// Returns the caller and the identifiers of the call.
    pub fn call(context: *const Context) Call {
        _ = context;
        const current = host.portcullis_current_call();
        return .{
            .id = current.id.slice(),
            .session = current.session.slice(),
            .message = current.message.optional(),
            .agent = current.agent.optional(),
        };
    }

    /// Reports the progress of the call.
    pub fn report(context: *const Context, progress: Progress) void {
        _ = context;
        const unknown = -1;
        host.portcullis_progress_of(
            View.optional(progress.title),
            progress.fraction orelse unknown,
            View.optional(progress.metadata),
        );
    }

    /// Returns whether the call is cancelled. The host stops a cancelled call shortly after.
    pub fn isCancelled(context: *const Context) bool {
        _ = context;
        return host.portcullis_is_cancelled();
    }

    /// Ends the tool if the call is cancelled: `try context.checkCancelled();`
    pub fn checkCancelled(context: *const Context) error{Cancelled}!void {
        if (context.isCancelled()) return error.Cancelled;
    }

    /// Asks the policy or an approver to permit an action. `permission` must be one that the tool declares.
    pub fn ask(context: *Context, permission: []const u8, resource: []const u8, reason: []const u8) !void {
        var failure: host.Failure = undefined;
        if (!host.portcullis_ask_of(View.of(permission), View.of(resource), View.of(reason), &failure)) {
            return context.refused(failure);
        }
    }

    /// Keeps a file for people beside the answer, such as a transcript. Only a call that succeeds keeps its files. A
    /// tool cannot keep files beside a text that it writes with `write`, or beside a struct.
    pub fn keep(context: *Context, file: Blob) !void {
        var failure: host.Failure = undefined;
        const name = if (file.name) |text| text.ptr else null;
        if (!host.portcullis_keep_file(name, file.media_type, file.data.ptr, file.data.len, &failure)) {
            return context.refused(failure);
        }
    }

    /// Writes a line to the log of the call.
    pub fn log(context: *const Context, level: Level, comptime format: []const u8, arguments: anytype) void {
        const text = std.fmt.allocPrint(context.arena, format, arguments) catch @errorName(error.OutOfMemory);
        host.portcullis_log_of(@backingInt(level), View.of(text));
    }

    /// Returns a setting from the policy's `config`.
    pub fn setting(context: *const Context, key: []const u8) ?[]const u8 {
        _ = context;
        return host.portcullis_setting_of(View.of(key)).optional();
    }

    /// Writes the next part of the text answer while the tool runs. The text that the tool returns is appended.
    pub fn write(context: *Context, text: []const u8) !void {
        var failure: host.Failure = undefined;
        if (!host.portcullis_write(text.ptr, text.len, &failure)) return context.refused(failure);
    }

    /// Opens the directory of a key, for use with the standard library.
    pub fn directory(context: *Context, key: []const u8) !std.Io.Dir {
        const path = try std.mem.concat(context.arena, u8, &.{ "/", try context.terminated(key) });
        return std.Io.Dir.openDirAbsolute(context.io(), path, .{ .iterate = true }) catch {
            return context.fail(.denied, "the policy grants no directory `{s}` to this tool", .{key});
        };
    }

    /// Opens the store of a key.
    pub fn store(context: *Context, key: []const u8) !Store {
        return Store.open(context, key);
    }

    /// Opens the program of a key. Nothing runs yet.
    pub fn program(context: *Context, key: []const u8) !Program {
        return Program.open(context, key);
    }

    /// Opens the tools of other plugins that the policy binds to a key. Nothing is called yet.
    pub fn tools(context: *Context, key: []const u8) !Toolset {
        return Toolset.open(context, key);
    }

    /// Sends a request through the HTTP client of a key. Every answer of a server is a response, whatever its status.
    /// Redirects are not followed. `error.Denied` means that the policy does not cover the request; nothing was sent.
    pub fn fetch(context: *Context, key: []const u8, request: http.Request) !http.Response {
        return http.fetch(context, key, request);
    }

    /// Returns whether the host adds a secret to the requests of a key.
    pub fn hasSecret(context: *Context, key: []const u8) !bool {
        return host.portcullis_has_secret(try context.terminated(key));
    }

    /// Calls a method of the application that embeds the host: one JSON document in, one out.
    pub fn service(context: *Context, key: []const u8, method: []const u8, input: []const u8) ![]const u8 {
        var output: host.Bytes = undefined;
        var failure: host.Failure = undefined;
        const name = try context.terminated(key);
        if (!host.portcullis_call_service_of(name, View.of(method), View.of(input), &output, &failure)) {
            return context.refused(failure);
        }
        return output.slice();
    }
};
