//! The call that is running, as its tool sees it.

const std = @import("std");
const host = @import("host.zig");
const http = @import("http.zig");
const json_text = @import("json.zig");
const View = host.View;
const Store = @import("store.zig").Store;

/// The errors that are more than `failed`. Any other error is one of that kind, with its name as the message.
pub const Error = error{ InvalidArguments, Denied, Unavailable, Cancelled, Failed };

/// Why a tool could not answer.
pub const FailureKind = enum(c_int) {
    /// The arguments match the schema and are wrong all the same.
    invalid_arguments,
    /// A right was missing.
    denied,
    /// Something outside did not work; trying again later may help.
    unavailable,
    /// The call was cancelled. This one has no message.
    cancelled,
    failed,

    /// What an error means.
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

/// Who asked for the call.
pub const Call = struct {
    id: []const u8,
    session: []const u8,
    /// The message of the conversation, where the caller named it.
    message: ?[]const u8,
    /// The agent, where the caller named it.
    agent: ?[]const u8,
};

/// How far a call has come. What is absent stays as it was.
pub const Progress = struct {
    title: ?[]const u8 = null,
    /// From 0 to 1.
    fraction: ?f32 = null,
    /// One JSON object for programs.
    metadata: ?[]const u8 = null,
};

/// How much a line of the log matters.
pub const Level = enum(c_int) { trace, debug, info, warn, err, critical };

pub const Context = struct {
    /// Memory that lives as long as the call: there is no need to free it.
    arena: std.mem.Allocator,
    /// What the last failure said.
    failure: ?struct { kind: FailureKind, message: []const u8 } = null,

    /// What the standard library wants for files, clocks, sleep and randomness. A tool that does not ask for it keeps
    /// all of that out of the component.
    pub fn io(context: *const Context) std.Io {
        _ = context;
        return std.Io.Threaded.global_single_threaded.io();
    }

    /// Says why the tool cannot answer: `return context.fail(.unavailable, "{s} is away", .{name});`
    pub fn fail(context: *Context, kind: FailureKind, comptime format: []const u8, arguments: anytype) Error {
        const message = std.fmt.allocPrint(context.arena, format, arguments) catch @errorName(error.OutOfMemory);
        context.failure = .{ .kind = kind, .message = message };
        return kind.toError();
    }

    /// What to tell of an error: the words of the failure that it came from, or its name.
    pub fn messageOf(context: *const Context, failure: anyerror) []const u8 {
        if (context.failure) |last| {
            if (last.kind == FailureKind.of(failure) and failure == last.kind.toError()) return last.message;
        }
        return @errorName(failure);
    }

    /// Hands on a failure of the host.
    pub fn refused(context: *Context, failure: host.Failure) Error {
        return context.fail(@fromBackingInt(@intCast(failure.kind)), "{s}", .{failure.text()});
    }

    /// Text that ends with NUL, as some of the host's functions want it. A NUL in the text would cut it: it is refused.
    pub fn terminated(context: *Context, text: []const u8) ![:0]const u8 {
        if (std.mem.findScalar(u8, text, 0) != null) {
            return context.fail(.invalid_arguments, "`{s}` has a NUL in it", .{text});
        }
        return context.arena.dupeSentinel(u8, text, 0);
    }

    /// Anything that std.json can write, as text. An error where it holds text that is not UTF-8, NaN or infinity.
    pub fn json(context: *Context, value: anytype) ![]const u8 {
        return json_text.write(context, value, .{});
    }

    /// Who asked.
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

    /// Says how far the call has come.
    pub fn report(context: *const Context, progress: Progress) void {
        _ = context;
        const unknown = -1;
        host.portcullis_progress_of(
            View.optional(progress.title),
            progress.fraction orelse unknown,
            View.optional(progress.metadata),
        );
    }

    /// Whether nobody wants the answer any more. The call is stopped a short while after this turns true.
    pub fn isCancelled(context: *const Context) bool {
        _ = context;
        return host.portcullis_is_cancelled();
    }

    /// Ends the tool where nobody wants the answer any more: `try context.checkCancelled();`
    pub fn checkCancelled(context: *const Context) error{Cancelled}!void {
        if (context.isCancelled()) return error.Cancelled;
    }

    /// Asks the policy or a person whether something may be done. `permission` is one of the tool's own.
    pub fn ask(context: *Context, permission: []const u8, resource: []const u8, reason: []const u8) !void {
        var failure: host.Failure = undefined;
        if (!host.portcullis_ask_of(View.of(permission), View.of(resource), View.of(reason), &failure)) {
            return context.refused(failure);
        }
    }

    /// Writes a line into the record of the call.
    pub fn log(context: *const Context, level: Level, comptime format: []const u8, arguments: anytype) void {
        const text = std.fmt.allocPrint(context.arena, format, arguments) catch @errorName(error.OutOfMemory);
        host.portcullis_log_of(@backingInt(level), View.of(text));
    }

    /// What the policy sets under `config`.
    pub fn setting(context: *const Context, key: []const u8) ?[]const u8 {
        _ = context;
        return host.portcullis_setting_of(View.of(key)).optional();
    }

    /// Writes the next piece of the text answer while the tool is at work. It then returns the text that follows.
    pub fn write(context: *Context, text: []const u8) !void {
        var failure: host.Failure = undefined;
        if (!host.portcullis_write(text.ptr, text.len, &failure)) return context.refused(failure);
    }

    /// Opens the directory of a key, for everything that the standard library does with one.
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

    /// Sends a request through the HTTP client of a key. Every answer of a server is a response, whatever its status;
    /// so is a redirect. `error.Denied`: the policy does not cover the request, and nothing was sent.
    pub fn fetch(context: *Context, key: []const u8, request: http.Request) !http.Response {
        return http.fetch(context, key, request);
    }

    /// Whether the host adds a secret to the requests of a key.
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
